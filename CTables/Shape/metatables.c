#include "shape.h"
#include "../Lazy/lazy.h"
#include "../Lists/lists.h"

#include <string.h>

/* ---- Functions called by the forwarding closures --------------------------------------------- */

/* Pushes the metamethod that a plain table would have. [-0, +1, -] */
static int push_metamethod(lua_State *L, int index, const char *name) {
  if (!clua_getmetatable(L, index)) lua_pushnil(L);
  return clua_takefield(L, name);
}

enum { CHAIN_LENGTH = 2000 };  // the same as in Lua

/* Raises an error like the VM, at the place of the code that called this function's caller. */
static int raise_outside(lua_State *L, const char *message) {
  luaL_where(L, 2);
  lua_pushstring(L, message);
  lua_concat(L, 2);
  return lua_error(L);
}

/* Raises "attempt to call a … value", with the name used in the calling code. */
static int raise_uncallable(lua_State *L, const char *type) {
  // After a tail call its caller is not on the stack.
  lua_Debug caller;
  if (!lua_getstack(L, 1, &caller) || !lua_getinfo(L, "n", &caller) || !caller.name) {
    return raise_outside(L, lua_pushfstring(L, "attempt to call a %s value", type));
  }
  return raise_outside(L, lua_pushfstring(L, "attempt to call a %s value (%s '%s')", type,
                                          caller.namewhat, caller.name));
}

/* Returns the result of `tostring` for a table without `__tostring`, with the current name in its
   metatable. */
static int describe(lua_State *L) {
  const char *type = luaL_typename(L, 1);
  bool named = push_metamethod(L, 1, "__name") == LUA_TSTRING;
  lua_pushfstring(L, "%s: %p", named ? lua_tostring(L, -1) : type, lua_topointer(L, 1));
  return 1;
}

/* Replaces a metamethod that was removed; its caller, one level up, is a forwarder. Upvalue: the
   event. */
static int missing(lua_State *L) {
  int event = (int)lua_tointeger(L, lua_upvalueindex(1));
  switch (event) {
  case CLUA_EVENT_LEN:
    lua_pushinteger(L, (lua_Integer)clua_rawlen(L, 1));
    return 1;
  case CLUA_EVENT_EQ:
    lua_pushboolean(L, lua_rawequal(L, 1, 2));
    return 1;
  case CLUA_EVENT_TOSTRING:
    return describe(L);
  case CLUA_EVENT_GC: case CLUA_EVENT_CLOSE:
    return 0;
  case CLUA_EVENT_CALL:
    return raise_uncallable(L, luaL_typename(L, 1));
  case CLUA_EVENT_LT: case CLUA_EVENT_LE: {
    const char *a = luaL_typename(L, 1), *b = luaL_typename(L, 2);
    if (lua_type(L, 1) == lua_type(L, 2)) {
      return raise_outside(L, lua_pushfstring(L, "attempt to compare two %s values", a));
    }
    return raise_outside(L, lua_pushfstring(L, "attempt to compare %s with %s", a, b));
  }
  case CLUA_EVENT_CONCAT:
    return raise_outside(L, "attempt to concatenate a table value");
  case CLUA_EVENT_BNOT: case CLUA_EVENT_BAND: case CLUA_EVENT_BOR: case CLUA_EVENT_BXOR:
  case CLUA_EVENT_SHL: case CLUA_EVENT_SHR:
    return raise_outside(L, "attempt to perform bitwise operation on a table value");
  default:
    return raise_outside(L, "attempt to perform arithmetic on a table value");
  }
}

/* Pushes the metamethod of the value at `index` for the running function's event, if it has one;
   with `observed`, only that of an observed table. [-0, +any, -] */
static int push_event(lua_State *L, int index, bool observed) {
  if (clua_pushnodeat(L, index)) lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  else if (observed || !lua_getmetatable(L, index)) return LUA_TNIL;
  if (lua_type(L, -1) != LUA_TTABLE) return LUA_TNIL;
  lua_pushvalue(L, lua_upvalueindex(2));
  return lua_rawget(L, -2);
}

/* Returns the metamethod that Lua would choose for these arguments. Upvalues: the event, its
   name. */
static int find(lua_State *L) {
  int event = (int)lua_tointeger(L, lua_upvalueindex(1)), type = LUA_TNIL;
  if (event == CLUA_EVENT_GC) {
    // The table may live on; the reference from its node was cleared before finalizers run.
    clua_node *node = lua_type(L, 1) == LUA_TTABLE ? clua_pushnodeat(L, 1) : NULL;
    if (node && !node->ended && !clua_node_isthere(L, node)) {
      const clua_observation *observation = &node->shared->observation;
      clua_remembertable(L, node, 1);
      clua_listcells(L, node, lua_gettop(L));
      if (node->owner && observation->revived) observation->revived(observation->context, L, node);
    }
    type = push_event(L, 1, false);
  } else {
    // For an operand that is not observed, Lua would have called the metamethod without a
    // forwarder. Strings pass arithmetic to the other operand, and must not get it again.
    type = push_event(L, 1, true);
    if (type == LUA_TNIL && event >= CLUA_EVENT_EQ) type = push_event(L, 2, false);
  }
  if (type == LUA_TFUNCTION) {
    // Lua names a `__call` after the caller's variable, which the tail call has lost.
    if (event != CLUA_EVENT_CALL) clua_noteforwarded(L);
    return 1;
  }
  if (type != LUA_TNIL) {
    if (luaL_getmetafield(L, -1, "__call") != LUA_TNIL) {
      if (event != CLUA_EVENT_CALL) clua_noteforwarded(L);
      lua_pop(L, 1);
      return 1;
    }
    return raise_uncallable(L, luaL_typename(L, -1));
  }
  lua_pushinteger(L, event);
  lua_pushcclosure(L, missing, 1);
  return 1;
}

/* (t, k) -> nil, value | function, table to call it with */
static int find_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  for (int step = 0; step < CHAIN_LENGTH; step++) {
    if (lua_type(L, 3) == LUA_TTABLE) {
      lua_pushvalue(L, 2);
      if (clua_rawget(L, 3) != LUA_TNIL) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
      }
      lua_settop(L, 3);
      if (clua_pushlazy(L, 3, 2)) return 2;
    }
    int type = push_metamethod(L, 3, "__index");
    if (type == LUA_TNIL) {
      if (lua_type(L, 3) == LUA_TTABLE) {
        lua_pushnil(L);
        return 2;
      }
      lua_pushfstring(L, "attempt to index a %s value", luaL_typename(L, 3));
      return raise_outside(L, lua_tostring(L, -1));
    }
    if (type == LUA_TFUNCTION) {
      clua_noteforwarded(L);
      lua_pushvalue(L, 3);
      return 2;
    }
    lua_replace(L, 3);
    lua_settop(L, 3);
  }
  return raise_outside(L, "'__index' chain too long; possible loop");
}

/* (t, k, v): reports that the user's `__newindex` was called for an observed key; the values before
   and after are unknown. */
static int report_handled(lua_State *L) {
  lua_settop(L, 3);
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node || !node->owner) return 0;
  clua_record *record = clua_record_of(L, node, 5, 2);
  clua_observation *observation = &node->shared->observation;
  lua_pushnil(L);
  clua_write write = {
    .node = node, .slot = record ? record->slot : NULL, .every = node->every, .key = 2,
    .old = 6, .new_ = 3, .uncompared = true, .length = node->size,
  };
  if (observation->written) observation->written(observation->context, L, &write);
  return 0;
}

/* Whether a slot has to be notified of a write of the key at 2 of the table at 1. [-0, +0, -] */
static bool is_heard(lua_State *L) {
  int top = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, 1);
  bool heard = false;
  if (node && node->owner) {
    clua_record *record = clua_record_of(L, node, top + 2, 2);
    heard = (record && !record->lazy && record->slot && record->slot->wants) ||
            (node->every && node->every->wants);
  }
  lua_settop(L, top);
  return heard;
}

/* Raises the message on top; a position in the calling closure becomes the assignment's
   position. */
static int raise_handled(lua_State *L) {
  static const char own[] = "(observed):";
  size_t length = 0;
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
  if (text && length > sizeof own && memcmp(text, own, sizeof own - 1) == 0) {
    const char *message = strstr(text + sizeof own - 1, ": ");
    if (message) {
      luaL_where(L, 2);
      lua_pushlstring(L, message + 2, length - (size_t)(message + 2 - text));
      lua_concat(L, 2);
    }
  }
  return lua_error(L);
}

static int handled(lua_State *L, int status, lua_KContext context) {
  (void)context;
  return status == LUA_OK || status == LUA_YIELD ? report_handled(L) : raise_handled(L);
}

/* (t, k, v, call, f, h): an assignment to an observed key handled by the user's `__newindex`, which
   `call` calls. */
static int handle(lua_State *L) {
  lua_settop(L, 6);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  return handled(L, lua_pcallk(L, 4, 0, 0, 0, handled), 0);
}

/* (t, k, v) -> nothing if the value was stored | function, table to call it with, whether a slot
   has to be notified */
static int find_newindex(lua_State *L) {
  lua_settop(L, 3);
  lua_pushvalue(L, 1);
  for (int step = 0; step < CHAIN_LENGTH; step++) {
    bool table = lua_type(L, 4) == LUA_TTABLE;
    int type = LUA_TNIL;
    bool present = false;
    if (table) {
      lua_pushvalue(L, 2);
      present = clua_rawget(L, 4) != LUA_TNIL;
    }
    if (!present) type = push_metamethod(L, 4, "__newindex");
    if (type == LUA_TNIL) {
      if (!table) {
        lua_pushfstring(L, "attempt to index a %s value", luaL_typename(L, 4));
        return raise_outside(L, lua_tostring(L, -1));
      }
      if (lua_type(L, 2) == LUA_TNIL) return raise_outside(L, "table index is nil");
      if (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)) {
        return raise_outside(L, "table index is NaN");
      }
      clua_scriptrawset(L, 4, 2, 3, true);
      if (step > 0 && is_heard(L)) report_handled(L);
      return 0;
    }
    if (type == LUA_TFUNCTION) {
      clua_noteforwarded(L);
      lua_pushvalue(L, 4);
      lua_pushboolean(L, is_heard(L));
      return 3;
    }
    lua_replace(L, 4);
    lua_settop(L, 4);
  }
  return raise_outside(L, "'__newindex' chain too long; possible loop");
}

/* ---- The closures, once per state ----------------------------------------------------------- */

/* The closures are Lua functions that end in a tail call: through C, `error(message, 2)` would lose
   its position, and metamethods could not yield. */
static const char one[] = "local find = ... return function(a) return find(a)(a) end";
static const char two[] = "local find = ... return function(a, b) return find(a, b)(a, b) end";
static const char any[] = "local find = ... return function(...) return find(...)(...) end";
static const char index_source[] =
    "local find = ... return function(t, k)\n"
    "  local f, v = find(t, k)\n"
    "  if f then return f(v, k) end\n"
    "  return v\n"
    "end";
static const char newindex_source[] =
    "local find, handle = ...\n"
    "local function call(f, h, k, v) f(h, k, v) end\n"
    "return function(t, k, v)\n"
    "  local f, h, heard = find(t, k, v)\n"
    "  if heard then return handle(t, k, v, call, f, h) end\n"
    "  if f then return f(h, k, v) end\n"
    "end";

static void compile(lua_State *L, const char *source) {
  if (luaL_loadbufferx(L, source, strlen(source), "=(observed)", "t") != LUA_OK) lua_error(L);
}

void clua_install_metatables(lua_State *L, int shared) {
  int top = lua_gettop(L);
  lua_createtable(L, 4, 0);
  static const char *const names[] = {"__index", "__newindex", "__metatable", "__pairs"};
  for (int i = 0; i < 4; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setiuservalue(L, shared, CLUA_SHARED_NAMES);
  compile(L, index_source);
  lua_pushcfunction(L, find_index);
  lua_call(L, 1, 1);
  lua_setiuservalue(L, shared, CLUA_SHARED_INDEX);
  compile(L, newindex_source);
  lua_pushcfunction(L, find_newindex);
  lua_pushcfunction(L, handle);
  lua_call(L, 2, 1);
  lua_setiuservalue(L, shared, CLUA_SHARED_NEWINDEX);
  compile(L, one);
  compile(L, two);
  compile(L, any);
  for (int event = 0; event < CLUA_EVENT_COUNT; event++) {
    lua_pushstring(L, clua_events[event]);
    lua_setiuservalue(L, shared, CLUA_SHARED_EVENTS + event);
    if (event == CLUA_EVENT_NAME || event == CLUA_EVENT_MODE) continue;
    bool single = event == CLUA_EVENT_TOSTRING || event == CLUA_EVENT_GC;
    lua_pushvalue(L, event == CLUA_EVENT_CALL ? top + 3 : single ? top + 1 : top + 2);
    lua_pushinteger(L, event);
    lua_pushstring(L, clua_events[event]);
    lua_pushcclosure(L, find, 2);
    lua_call(L, 1, 1);
    lua_setiuservalue(L, shared, CLUA_SHARED_FORWARDERS + event);
  }
  lua_settop(L, top);
}

/* ---- Filling a private metatable ------------------------------------------------------------ */

static inline bool has_event(uint32_t events, int event) { return events >> event & 1; }

/* Sets metatable[event] for a user's metatable with these events. `user` is that metatable,
   `shared` the state's userdata. [-0, +0, m] */
static void fill_event(lua_State *L, int metatable, int user, int shared, int event,
                       uint32_t events) {
  bool present = has_event(events, event);
  lua_getiuservalue(L, shared, CLUA_SHARED_EVENTS + event);
  // Only `tostring` notices if a name is later removed from the metatable.
  bool named = event == CLUA_EVENT_TOSTRING && has_event(events, CLUA_EVENT_NAME);
  if (!present && !named) {
    lua_pushnil(L);
  } else if (event == CLUA_EVENT_GC || !present) {
    lua_getiuservalue(L, shared, CLUA_SHARED_FORWARDERS + event);
  } else {
    // C functions look for their caller one level up, where a forwarder would be.
    bool data = event == CLUA_EVENT_NAME || event == CLUA_EVENT_MODE;
    lua_pushvalue(L, -1);
    lua_rawget(L, user);
    if (!data && !lua_iscfunction(L, -1)) {
      lua_pop(L, 1);
      lua_getiuservalue(L, shared, CLUA_SHARED_FORWARDERS + event);
    }
  }
  lua_rawset(L, metatable);
  if (event == CLUA_EVENT_NAME && !has_event(events, CLUA_EVENT_TOSTRING)) {
    fill_event(L, metatable, user, shared, CLUA_EVENT_TOSTRING, events);
  }
}

/* Sets `__index`, and learns how instances of models and user functions are read. [-0, +0, m] */
static void fill_reading(lua_State *L, clua_node *node, int metatable, int userdata, int user) {
  if (clua_isstorefixed(node)) {
    // Elements of an array are visible as fields, members of a set never.
    lua_pushliteral(L, "__index");
    if (node->kind == CLUA_KIND_ARRAY) lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
    else clua_pushfield(L, userdata, "__index");
    lua_rawset(L, metatable);
    if (node->index == CLUA_INDEX_CLOSURE) node->index = CLUA_INDEX_STORE;
    return;
  }
  lua_pushvalue(L, user);
  bool function = clua_takefield(L, "__index") == LUA_TFUNCTION;
  // A C function is called through the store: its errors name no place, and it does not yield.
  node->index = !function                ? CLUA_INDEX_STORE
                : lua_iscfunction(L, -1) ? CLUA_INDEX_NATIVE
                                         : CLUA_INDEX_CLOSURE;
  lua_pop(L, 1);
  if (node->index == CLUA_INDEX_NATIVE) clua_makestoremetatable(L, userdata);
  // If a script later replaces a table in `__index` by a function with a plain assignment, this
  // cannot be noticed: until this metatable is filled again for another reason, the function is
  // called with the store.
  if (!clua_isopened(node)) clua_fillindex(L, node, metatable, userdata);
}

/* Pushes the `__newindex` function for a table of this kind. [-0, +1, m] */
static void push_newindex(lua_State *L, clua_node *node, int userdata, int user, int shared) {
  if (!clua_isstorefixed(node) && node->access == CLUA_ACCESS_OPEN) {
    lua_pushvalue(L, user);
    bool present = clua_takefield(L, "__newindex") != LUA_TNIL;
    node->modelled = clua_ismodelnewindex(L, -1);
    lua_pop(L, 1);
    if (present && !node->modelled) {
      lua_getiuservalue(L, shared, CLUA_SHARED_NEWINDEX);
      return;
    }
  }
  lua_CFunction function = clua_storenewindex;
  if (clua_isfrozen(node)) function = clua_refusenewindex;
  else if (node->kind == CLUA_KIND_ARRAY) function = clua_arraynewindex;
  else if (node->kind == CLUA_KIND_SET) function = clua_setnewindex;
  lua_pushvalue(L, userdata);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushcclosure(L, function, 2);
}

/* [-0, +0, m] */
static void fill_access(lua_State *L, clua_node *node, int metatable, int userdata, int user,
                        int shared) {
  fill_reading(L, node, metatable, userdata, user);
  lua_pushliteral(L, "__newindex");
  push_newindex(L, node, userdata, user, shared);
  lua_rawset(L, metatable);
}

void clua_fill(lua_State *L, clua_node *node, int table, int metatable, int userdata, bool mark) {
  int top = lua_gettop(L), user = top + 1, shared = top + 2, store = top + 3;
  lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  clua_pushstate(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  clua_learnkind(L, node, user, shared);
  uint32_t events = 0, old = 0;
  node->inherits = lua_type(L, user) == LUA_TTABLE;
  if (node->inherits) {
    clua_node *known = clua_node_at(L, user);
    if (known && known->asmetatable.known && known->asmetatable.dependents)
      events = known->asmetatable.events;
    else events = clua_eventsof(L, user, shared);
  }
  bool first = !lua_getmetatable(L, table) || !lua_rawequal(L, -1, metatable);
  if (!first) old = clua_eventsof(L, metatable, shared);
  node->weak = has_event(events, CLUA_EVENT_MODE);
  fill_access(L, node, metatable, userdata, user, shared);
  for (int event = 0; event < CLUA_EVENT_COUNT; event++) {
    if (event == CLUA_EVENT_GC) continue;
    if (has_event(events | old, event)) fill_event(L, metatable, user, shared, event, events);
  }
  if (node->all && !has_event(events, CLUA_EVENT_LEN)) {
    lua_getiuservalue(L, shared, CLUA_SHARED_EVENTS + CLUA_EVENT_LEN);
    lua_pushvalue(L, store);
    lua_pushvalue(L, userdata);
    lua_pushcclosure(L, clua_storelength, 2);
    lua_rawset(L, metatable);
  }
  // The store inherits like the table; a weak table has a weak store.
  clua_setstoremetatable(L, node, userdata, store);
  bool finalized = has_event(events, CLUA_EVENT_GC);
  if (mark || has_event(old, CLUA_EVENT_GC)) {
    fill_event(L, metatable, user, shared, CLUA_EVENT_GC, events);
    if (finalized) node->rearmed = false;
  }
  if (mark || first) {
    lua_pushvalue(L, metatable);
    lua_setmetatable(L, table);
  }
  if (!mark && finalized) fill_event(L, metatable, user, shared, CLUA_EVENT_GC, events);
  lua_settop(L, top);
}

/* ---- Metatables that change ----------------------------------------------------------------- */

void clua_metamethodset(lua_State *L, clua_node *node, int key) {
  int top = lua_gettop(L), shared = top + 1;
  const char *name = lua_tostring(L, key);
  bool access = strcmp(name, "__index") == 0 || strcmp(name, "__newindex") == 0;
  int event = CLUA_EVENT_COUNT;
  if (!access) {
    for (event = 0; event < CLUA_EVENT_COUNT && strcmp(name, clua_events[event]) != 0;) event++;
    if (event == CLUA_EVENT_COUNT) return;
  }
  clua_pushstate(L);
  uint32_t *events = &node->asmetatable.events;
  for (clua_node *each = node->asmetatable.dependents; each; each = each->usermetatable.next) {
    lua_settop(L, shared);
    if (!clua_pushnode(L, each)) continue;
    int metatable = top + 3, userdata = top + 4, user = top + 5;
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
    if (access) {
      fill_access(L, each, metatable, userdata, user, shared);
      lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
      clua_setstoremetatable(L, each, userdata, lua_gettop(L));
      continue;
    }
    lua_pushvalue(L, key);
    bool present = lua_rawget(L, user) != LUA_TNIL;
    if (present) *events |= (uint32_t)1 << event;
    else *events &= ~((uint32_t)1 << event);
    // These two depend on each other, and a name may have been removed unnoticed.
    if (event == CLUA_EVENT_NAME || event == CLUA_EVENT_TOSTRING) {
      *events = clua_eventsof(L, user, shared);
    }
    if (event == CLUA_EVENT_MODE) each->weak = present;
    fill_event(L, metatable, user, shared, event, *events);
    if (event == CLUA_EVENT_LEN && !present && each->all) {
      lua_pushvalue(L, key);
      lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
      lua_pushvalue(L, userdata);
      lua_pushcclosure(L, clua_storelength, 2);
      lua_rawset(L, metatable);
    }
  }
  lua_settop(L, top);
}
