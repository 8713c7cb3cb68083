#include <math.h>

#include "store.h"
#include "clua_modules.h"

/* ---- Permission to write -------------------------------------------------------------------- */

int clua_raiseaccess(lua_State *L, const clua_node *node) {
  if (node->access == CLUA_ACCESS_SORTING) return luaL_error(L, "the array is being sorted");
  if (node->access == CLUA_ACCESS_SHARED)
    return luaL_error(L, "scripts share this table, so it is read-only");
  return luaL_error(L, "a copy made by obs.copy_of is read-only; change the original");
}

int clua_refusenewindex(lua_State *L) {
  return clua_raiseaccess(L, (clua_node *)lua_touserdata(L, lua_upvalueindex(1)));
}

static int freeze(lua_State *L, clua_access access) {
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  clua_node *node = clua_node_make(L, 1);
  if (!clua_isstorefixed(node)) clua_moveall(L, node);
  node->access = access;
  if (clua_pushnodeat(L, 1)) node->shared->above->fill(L, node, 1, 2, 3, false);
  lua_settop(L, 1);
  return 1;
}

int clua_freeze(lua_State *L) { return freeze(L, CLUA_ACCESS_READONLY); }
int clua_freezeshared(lua_State *L) { return freeze(L, CLUA_ACCESS_SHARED); }

bool clua_isreadonly(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  const clua_node *node = clua_node_at(L, index);
  return node && clua_isfrozen(node);
}

bool clua_isshared(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  const clua_node *node = clua_node_at(L, index);
  return node && node->access == CLUA_ACCESS_SHARED;
}

/* ---- Writes --------------------------------------------------------------------------------- */

bool clua_same(lua_State *L, int a, int b) {
  if (lua_rawequal(L, a, b)) return true;
  if (lua_type(L, a) != LUA_TNUMBER || lua_type(L, b) != LUA_TNUMBER) return false;
  lua_Number x = lua_tonumber(L, a), y = lua_tonumber(L, b);
  return x != x && y != y;
}

int clua_aresame(lua_State *L) {
  lua_settop(L, 2);
  lua_pushboolean(L, clua_same(L, 1, 2));
  return 1;
}

bool clua_identical(lua_State *L, int a, int b) {
  if (!clua_same(L, a, b)) return false;
  if (lua_type(L, a) != LUA_TNUMBER) return true;
  if (lua_isinteger(L, a) || lua_isinteger(L, b)) return lua_isinteger(L, a) == lua_isinteger(L, b);
  // A zero may be negative.
  lua_Number x = lua_tonumber(L, a), y = lua_tonumber(L, b);
  return x != x || signbit(x) == signbit(y);
}

int clua_areidentical(lua_State *L) {
  lua_settop(L, 2);
  lua_pushboolean(L, clua_identical(L, 1, 2));
  return 1;
}

lua_Integer clua_listlimit(const clua_node *node) {
  lua_Integer limit = LUA_MAXINTEGER;
  if (node->lazies == 0) return limit;
  for (int i = 0; i < node->count; i++) {
    const clua_record *record = &node->records[i];
    if (record->lazy && record->positive && record->position <= limit) limit = record->position - 1;
  }
  return limit;
}

void clua_setlength(lua_State *L, clua_node *node, int store, lua_Integer length) {
  if (!node->journaling || node->kind > CLUA_KIND_ARRAY) return;
  bool present;
  lua_Integer limit = clua_listlimit(node);
  if (length > limit) length = limit;
  for (;; length--) {
    if (length == 0) break;
    present = lua_rawgeti(L, store, length) != LUA_TNIL;
    lua_pop(L, 1);
    if (present) break;
  }
  while (length < limit) {
    present = lua_rawgeti(L, store, length + 1) != LUA_TNIL;
    lua_pop(L, 1);
    if (!present) break;
    length++;
  }
  node->size = length;
}

void clua_keepsize(lua_State *L, clua_node *node, int store, int key, bool was, bool is) {
  if (was == is) return;
  if (node->kind == CLUA_KIND_DICTIONARY) {
    if (node->counting) node->size += is ? 1 : -1;
  } else if (clua_ispositive(L, key)) {
    lua_Integer position = lua_tointeger(L, key);
    if (position == node->size + 1 || position == node->size) {
      clua_setlength(L, node, store, node->size);
    }
  }
}

void clua_inheritvalue(lua_State *L, int userdata, int key) {
  if (clua_pushfield(L, userdata, "__index") == LUA_TTABLE) {
    lua_pushvalue(L, key);
    clua_inheritedget(L, -2);
    lua_replace(L, -3);
  }
  lua_pop(L, 1);
}

static inline bool is_object(lua_State *L, int index) {
  int type = lua_type(L, index);
  return type == LUA_TTABLE || type == LUA_TUSERDATA;
}

/* Does the work of clua_report; `same` is -1 if the values were not compared yet. [-0, +0, -] */
static void report(lua_State *L, clua_node *node, clua_slot *slot, int table, int key, int old,
                   int new_, bool was, bool is, int same) {
  int wants = 0;
  if (slot) wants = slot->wants;
  if (node->every) wants |= node->every->wants;
  if (node->sorts) node->disturbed = true;
  if ((!wants && !node->journaling) || !node->owner) return;
  bool objects = wants == CLUA_WANTS_OBJECTS && !node->journaling;
  if (objects && !is_object(L, old) && !is_object(L, new_)) return;
  clua_write write = {
    .node = node, .slot = slot, .every = node->every,
    .key = key, .old = old, .new_ = new_,
    .same = same >= 0 ? same : clua_same(L, old, new_), .unsettled = node->sorts > 0,
    .length = node->size, .was = was, .is = is,
  };
  if (!wants) write.slot = write.every = NULL;
  // Journals and transactions must know if an integer became a float, or if the old value was
  // inherited.
  bool kept = (node->journaling || (node->every && node->every->wants)) &&
              (was != is || !clua_identical(L, old, new_));
  if (write.same && !kept && !(wants & CLUA_WANTS_WRITES)) return;
  clua_shared *shared = node->shared;
  if (shared->observation.written) {
    shared->observation.written(shared->observation.context, L, &write);
  }
}

void clua_report(lua_State *L, clua_node *node, clua_slot *slot, int table, int key, int old,
                 int new_, bool was, bool is) {
  report(L, node, slot, table, key, old, new_, was, is, -1);
}

/* Stores the value of a key that is not lazy, and reports the write. [-0, +0, e] */
static void store_in(lua_State *L, int store, clua_node *node, clua_record *record, int table,
                     int userdata, int key, int value) {
  int old = lua_gettop(L) + 1, new_ = old + 1;
  if (!clua_iswanted(node, record)) {
    lua_pushvalue(L, key);
    lua_pushvalue(L, value);
    lua_rawset(L, store);
    return;
  }
  lua_pushvalue(L, key);
  bool was = lua_rawget(L, store) != LUA_TNIL;
  // An absent value is inherited, and compared later.
  int same = was && lua_type(L, value) != LUA_TNIL ? clua_same(L, old, value) : -1;
  // Only journals, transactions and some watchers are told of a value that stays the same.
  if (same > 0 && record && !(node->every && node->every->wants) && !node->journaling
      && !node->sorts && !(record->slot && record->slot->wants & CLUA_WANTS_WRITES)
      && clua_identical(L, old, value)) {
    lua_settop(L, old - 1);
    return;
  }
  if (!was) clua_inheritvalue(L, userdata, key);
  lua_pushvalue(L, value);
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_rawset(L, store);
  bool is = lua_type(L, value) != LUA_TNIL;
  if (node->journaling || node->counting) clua_keepsize(L, node, store, key, was, is);
  if (lua_type(L, new_) == LUA_TNIL) clua_inheritvalue(L, userdata, key);
  report(L, node, record ? record->slot : NULL, table, key, old, new_, was, is, same);
  lua_settop(L, old - 1);
}

void clua_store(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                int key, int value) {
  if (record && record->lazy) {
    node->shared->above->assign_lazy(L, node, record, userdata, key, value);
    return;
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  store_in(L, lua_gettop(L), node, record, table, userdata, key, value);
  lua_pop(L, 1);
}

/* Implements `__newindex` if the user has none. Upvalues: the node's userdata, its store. A
   separate closure per table saves three look-ups on every write. */
int clua_storenewindex(lua_State *L) {
  int userdata = lua_upvalueindex(1), store = lua_upvalueindex(2);
  clua_node *node = (clua_node *)lua_touserdata(L, userdata);
  if (clua_isunheard()) clua_hear(L);
  clua_record *record = clua_record_of(L, node, userdata, 2);
  if (record) {
    if (record->lazy) clua_store(L, node, record, 1, userdata, 2, 3);
    else if (clua_iswanted(node, record)) store_in(L, store, node, record, 1, userdata, 2, 3);
    else lua_rawset(L, store);
    return 0;
  }
  int type = lua_type(L, 2);
  if (type == LUA_TSTRING && clua_ismetakey(L, 2)) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, 1);
    if (node->asmetatable.dependents) node->shared->above->metamethod_set(L, node, 2);
    return 0;
  }
  if (type == LUA_TNIL) return luaL_error(L, "table index is nil");
  if (type == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)) {
    return luaL_error(L, "table index is NaN");
  }
  if (node->modelled) {
    clua_pushfield(L, userdata, "__newindex");
    int results = node->shared->above->assign_instance(L);
    if (results >= 0) return results;
    lua_settop(L, 3);
  }
  if (!node->all) lua_rawset(L, 1);
  else if (clua_iswanted(node, NULL)) store_in(L, store, node, NULL, 1, userdata, 2, 3);
  else lua_rawset(L, store);
  return 0;
}

/* ---- Raw writes by other code ---------------------------------------------------------------- */

/* Whether the table itself has a value under the key on top, whose home is the store; replaces the
   key by the key and the value. [-1, +(2|0), -] */
static bool push_shadow(lua_State *L, int table) {
  lua_pushvalue(L, -1);
  if (lua_rawget(L, table) != LUA_TNIL) return true;
  lua_pop(L, 2);
  return false;
}

/* Pushes a key whose home is the store but which the table has, and its value. [-0, +(2|0), -] */
static bool find_shadow(lua_State *L, clua_node *node, int table, int userdata) {
  if (node->all) {
    lua_pushnil(L);
    while (lua_next(L, table)) {
      if (!clua_ismetakey(L, lua_gettop(L) - 1)) return true;
      lua_pop(L, 1);
    }
    return false;
  }
  if (node->count == 0) return false;
  // If most keys are observed, it is faster to look for one that is not.
  int others = node->count / 4;
  if (others > 0) lua_pushnil(L);
  for (int i = 0; i < others; i++) {
    if (!lua_next(L, table)) return false;
    if (clua_isstored(L, node, userdata, lua_gettop(L) - 1)) return true;
    lua_pop(L, 1);
  }
  if (others > 0) lua_pop(L, 1);
  for (int i = 1; i <= node->count; i++) {
    clua_pushrecordkey(L, node, userdata, i);
    if (lua_isnil(L, -1)) lua_pop(L, 1);
    else if (push_shadow(L, table)) return true;
  }
  return false;
}

/* Whether a script could write the key at `key`. */
static bool is_writable(lua_State *L, clua_node *node, clua_record *record, int userdata, int key) {
  if (record && record->lazy) return !(record->flags & CLUA_LAZY_READONLY) && !record->loading;
  if (node->access != CLUA_ACCESS_OPEN || node->kind == CLUA_KIND_SET) return false;
  if (node->kind != CLUA_KIND_ARRAY) return true;
  if (!lua_isinteger(L, key)) return false;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_Integer length = clua_listlength(L, node, lua_gettop(L)), index = lua_tointeger(L, key);
  lua_pop(L, 1);
  return index >= 1 && index <= length + 1;
}

void clua_writeheard(lua_State *L, clua_node *node, int table, int userdata, int key, int value) {
  clua_record *record = clua_record_of(L, node, userdata, key);
  clua_store(L, node, record, table, userdata, key, value);
}

/* Moves the key and the value on top from the table into the store. [-2, +0, e] */
static void absorb_shadow(lua_State *L, clua_node *node, int table, int userdata,
                          clua_writer write) {
  int value = lua_gettop(L), key = value - 1;
  lua_pushvalue(L, key);
  lua_pushnil(L);
  lua_rawset(L, table);
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (is_writable(L, node, record, userdata, key)) {
    write(L, node, table, userdata, key, value);
  }
  lua_settop(L, key - 1);
}

void clua_absorb(lua_State *L, clua_node *node, int table, int userdata, clua_writer write) {
  clua_checkstack(L, 24, NULL);
  while (find_shadow(L, node, table, userdata)) absorb_shadow(L, node, table, userdata, write);
}

void clua_absorblist(lua_State *L, int table) {
  int top = lua_gettop(L);
  lua_pushnil(L);
  if (!lua_next(L, table)) return;
  lua_settop(L, top);
  clua_node *node = clua_pushnodeat(L, table);
  if (node && node->all) clua_absorb(L, node, table, top + 2, clua_writeheard);
  lua_settop(L, top);
}

int clua_absorbtable(lua_State *L) {
  lua_settop(L, 2);
  if (clua_isunheard()) clua_hear(L);
  clua_node *node = lua_type(L, 1) == LUA_TTABLE ? clua_pushnodeat(L, 1) : NULL;
  if (!node) return 0;
  if (lua_isnil(L, 2)) {
    clua_absorb(L, node, 1, 4, clua_writeheard);
  } else if (clua_isstored(L, node, 4, 2)) {
    clua_checkstack(L, 24, NULL);
    lua_pushvalue(L, 2);
    if (push_shadow(L, 1)) absorb_shadow(L, node, 1, 4, clua_writeheard);
  }
  return 0;
}

/* ---- Reading and raw access ----------------------------------------------------------------- */

/* `__len` of a table that moved as a whole. Upvalues: the store, the node's userdata. */
int clua_storelength(lua_State *L) {
  clua_node *node = (clua_node *)lua_touserdata(L, lua_upvalueindex(2));
  clua_noteread(L, node, CLUA_READ_COUNT);
  lua_pushinteger(L, clua_listlength(L, node, lua_upvalueindex(1)));
  return 1;
}

void clua_scriptrawset(lua_State *L, int table, int key, int value, bool report) {
  int top = lua_gettop(L);
  if (report && clua_isunheard()) clua_hear(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (node) {
    int userdata = top + 2;
    if (report && clua_isfrozen(node)) clua_raiseaccess(L, node);
    if (node->kind == CLUA_KIND_ARRAY) {
      node->shared->above->assign_array(L, node, table, userdata, key, value);
      lua_settop(L, top);
      return;
    }
    if (node->kind == CLUA_KIND_SET) luaL_error(L, "a set has no fields; use add and remove");
    clua_record *record = clua_record_of(L, node, userdata, key);
    if (record || (node->all && !clua_ismetakey(L, key))) {
      if (report) {
        lua_pushvalue(L, key);
        if (push_shadow(L, table)) clua_absorb(L, node, table, userdata, clua_writeheard);
        clua_store(L, node, record, table, userdata, key, value);
      } else {
        lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
        lua_pushvalue(L, key);
        lua_pushvalue(L, value);
        lua_rawset(L, -3);
        if (node->journaling) clua_setlength(L, node, lua_gettop(L), node->size);
        node->counting = false;
      }
      lua_settop(L, top);
      return;
    }
  }
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_rawset(L, table);
  if (node && node->asmetatable.dependents && clua_ismetakey(L, key)) {
    node->shared->above->metamethod_set(L, node, key);
  }
  lua_settop(L, top);
}

/* ---- Raw access on the table a script sees -------------------------------------------------- */

int clua_rawget(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return lua_rawget(L, table);
  // A key is in one place only, and absent keys are in neither; values that other code wrote raw
  // hide the store.
  lua_pushvalue(L, key);
  if (lua_rawget(L, table) == LUA_TNIL) {
    lua_getiuservalue(L, key + 2, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_rawget(L, -2);
  }
  lua_replace(L, key);
  lua_settop(L, key);
  return lua_type(L, key);
}

lua_Unsigned clua_rawlen(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_rawlen(L, index);
  int table = lua_absindex(L, index);
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return lua_rawlen(L, table);
  lua_Unsigned length;
  if (node->all) {
    lua_getiuservalue(L, -1, CLUA_NODE_STORE);
    length = (lua_Unsigned)clua_listlength(L, node, lua_gettop(L));
    lua_pop(L, 3);
  } else {
    length = lua_rawlen(L, table);
    lua_pop(L, 2);
  }
  return length;
}

int clua_next(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return lua_next(L, table);
  lua_pushvalue(L, key);
  int found = clua_nodenext(L, node, table, key + 2);
  if (!found) {
    lua_settop(L, key - 1);
    return 0;
  }
  lua_replace(L, key + 1);
  lua_replace(L, key);
  lua_settop(L, key + 1);
  return 1;
}

int clua_inheritedget(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  lua_pushvalue(L, table);
  // Lua suspects a loop after the same number of steps.
  for (int step = 0; step < 2000; step++) {
    lua_pushvalue(L, key);
    if (clua_rawget(L, key + 1) != LUA_TNIL) break;
    if (!clua_getmetatable(L, key + 1)) break;
    lua_pushstring(L, "__index");
    if (lua_rawget(L, -2) != LUA_TTABLE && !clua_shared_of(L)->above->push_methods(L)) {
      lua_settop(L, key + 1);
      lua_pushnil(L);
      break;
    }
    lua_replace(L, key + 1);
    lua_settop(L, key + 1);
  }
  if (lua_gettop(L) == key + 1) lua_pushnil(L);
  lua_replace(L, key);
  lua_settop(L, key);
  return lua_type(L, key);
}

bool clua_getmetatable(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_getmetatable(L, index);
  clua_node *node = clua_pushnodeat(L, index);
  if (!node) return lua_getmetatable(L, index);
  lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  lua_replace(L, -3);
  lua_pop(L, 1);
  if (lua_type(L, -1) == LUA_TTABLE) return true;
  lua_pop(L, 1);
  return false;
}
