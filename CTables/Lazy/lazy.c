#include "lazy.h"
#include "cells.h"
#include "clua_modules.h"

/* ---- Reading --------------------------------------------------------------------------------- */

/* The table and the key are at 1 and 2. Pushes the value, and opens it while reads are tracked.
   [-0, +1, e] */
static int hand_out(lua_State *L, int value) {
  lua_settop(L, value);
  if (clua_istracking(L)) clua_track(L, value);
  return 1;
}

static int resumed(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  // On top are whether the call succeeded, and the value or the error.
  if (!lua_toboolean(L, -2)) return lua_error(L);
  return hand_out(L, lua_gettop(L));
}

static int called(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return hand_out(L, lua_gettop(L));
}

/* Pushes the cell of a lazy key. [-0, +1, -] */
static void push_cell_of(lua_State *L, const clua_node *node, int userdata, int key) {
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  if (node->onecell) return;
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  lua_replace(L, -2);
}

/* Lists the cell on top again, if the collector has cleared its place. [-0, +0, m] */
static void list_again(lua_State *L) {
  int cell = lua_gettop(L);
  lua_rawgeti(L, cell, NUMBER);
  clua_listcell(L, cell, lua_tointeger(L, -1));
  lua_pop(L, 1);
}

/* Makes sure that the cell of a key is in the list: the collector removes cells of a garbage table,
   which another object's finalizer may still use. [-0, +0, m] */
static void find_cell(lua_State *L, clua_node *node, int userdata, int key) {
  push_cell_of(L, node, userdata, key);
  list_again(L);
  lua_pop(L, 1);
}

void clua_listcells(lua_State *L, clua_node *node, int userdata) {
  if (node->lazies == 0) return;
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  int cells = lua_gettop(L);
  if (node->onecell) {
    list_again(L);
  } else {
    lua_pushnil(L);
    while (lua_next(L, cells)) {
      list_again(L);
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

static bool slot_is_of(lua_State *L, clua_node *node, int userdata, int key, clua_slot *slot) {
  clua_record *record = clua_record_of(L, node, userdata, key);
  return record && record->lazy && record->slot == slot;
}

/* Called when the getter of the cell at 1, which keeps no value, has returned or raised an
   error. */
static int leave_getter(lua_State *L) {
  lua_pushboolean(L, false);
  lua_rawseti(L, 1, RUNNING);
  return 0;
}

/* Returns the result of the getter of a key that keeps no value. The getter may wait in a coroutine
   while other code reads the key; a read in the same coroutine comes from the getter itself.
   [-0, +any, e] */
static int call_getter(lua_State *L, const clua_node *node, int table, int userdata, int key) {
  push_cell_of(L, node, userdata, key);
  int cell = lua_gettop(L);
  lua_rawgeti(L, cell, RUNNING);
  if (lua_tothread(L, -1) == L) {
    const char *name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : "?";
    return luaL_error(L, "a cycle of computed properties: %s → … → %s", name, name);
  }
  lua_pushthread(L);
  lua_rawseti(L, cell, RUNNING);
  lua_toclose(L, cell);
  lua_rawgeti(L, cell, GETTER);
  lua_pushvalue(L, table);
  lua_pushvalue(L, key);
  lua_callk(L, 2, 1, 0, called);
  return called(L, LUA_OK, 0);
}

int clua_readlazy(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                  int key) {
  clua_checkstack(L, 16, NULL);
  clua_slot *slot = record->slot;
  if (record->flags & CLUA_LAZY_UNCACHED) {
    return call_getter(L, node, table, userdata, key);
  }
  clua_shared *shared = node->shared;
  if (shared->closed) return luaL_error(L, "the Lua state is closed");
  if (!slot || !shared->observation.compute) return 0;
  int top = lua_gettop(L), cell = top + 1;
  if (!slot->valid && clua_isunheard()) {
    clua_hear(L);
    record = clua_record_of(L, node, userdata, key);
    // A callback may have removed the declaration, or assigned to the key.
    if (!record || !record->lazy || record->slot != slot) return 0;
  }
  if (!slot->valid && shared->getter == L && lua_isyieldable(L)) {
    // The getter of another key is running: the engine brings this key up to date, and then resumes
    // that getter.
    shared->waits = slot;
    return lua_yieldk(L, 0, 0, resumed);
  }
  if (!slot->valid) {
    find_cell(L, node, userdata, key);
    if (!shared->observation.compute(shared->observation.context, L, slot)) return lua_error(L);
    lua_settop(L, top);
    // The getter may have removed the declaration.
    if (!slot_is_of(L, node, userdata, key, slot)) {
      lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
      lua_pushvalue(L, key);
      lua_rawget(L, cell);
      return hand_out(L, cell + 1);
    }
  }
  push_cell_of(L, node, userdata, key);
  clua_pushkept(L, cell, false);
  clua_setstored(L, cell, cell + 1);
  lua_replace(L, cell);
  return hand_out(L, cell);
}

int clua_lazycompute(lua_State *L) {
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  clua_record *record = node ? clua_record_of(L, node, 4, 2) : NULL;
  if (!record || !record->lazy) return 0;
  return clua_readlazy(L, node, record, 1, 4, 2);
}

/* `__index` of a store with lazy keys, or with a C function of a host as `__index`. Upvalue: the
   node's userdata. */
static int store_index(lua_State *L) {
  lua_settop(L, 2);
  int userdata = lua_upvalueindex(1);
  clua_node *node = (clua_node *)lua_touserdata(L, userdata);
  if (node->lazies) {
    clua_record *record = clua_record_of(L, node, userdata, 2);
    if (record && record->lazy) {
      clua_node_pushtable(L, node);
      lua_replace(L, 1);
      if (lua_isnil(L, 1)) return 0;
      return clua_readlazy(L, node, record, 1, userdata, 2);
    }
  }
  return clua_indexbehind(L, node, userdata);
}

/* Continues if neither the table nor its store has the key: (anything, key). [-0, +any, e] */
int clua_indexbehind(lua_State *L, clua_node *node, int userdata) {
  switch (clua_pushfield(L, userdata, "__index")) {
  case LUA_TNIL:
    return 1;
  case LUA_TFUNCTION:
    if (clua_pushmethod(L)) {
      if (lua_type(L, -1) != LUA_TTABLE) return 1;
      break;
    }
    clua_node_pushtable(L, node);
    lua_pushvalue(L, 2);
    lua_callk(L, 2, 1, 0, called);
    break;
  default:
    lua_pushvalue(L, 2);
    lua_gettable(L, -2);
  }
  return called(L, LUA_OK, 0);
}

bool clua_pushlazy(lua_State *L, int table, int key) {
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return false;
  clua_record *record = node->lazies ? clua_record_of(L, node, lua_gettop(L), key) : NULL;
  lua_pop(L, 2);
  if (!record || !record->lazy) return false;
  lua_pushcfunction(L, clua_lazycompute);
  lua_pushvalue(L, table);
  return true;
}

int clua_lazykeys(lua_State *L) {
  lua_settop(L, 1);
  clua_node *node = lua_type(L, 1) == LUA_TTABLE ? clua_pushnodeat(L, 1) : NULL;
  if (!node || node->lazies == 0) return 0;
  lua_createtable(L, 0, node->lazies);
  for (int i = 0; i < node->count; i++) {
    if (!node->records[i].lazy) continue;
    clua_pushrecordkey(L, node, 3, i + 1);
    lua_pushboolean(L, true);
    lua_rawset(L, 4);
  }
  lua_settop(L, 4);
  return 1;
}

int clua_lazyinherited(lua_State *L) {
  lua_settop(L, 2);
  if (!clua_getmetatable(L, 1)) return 0;
  lua_pushliteral(L, "__index");
  switch (lua_rawget(L, 3)) {
  case LUA_TNIL:
    return 0;
  case LUA_TFUNCTION:
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
  default:
    lua_pushvalue(L, 2);
    lua_gettable(L, -2);
    return 1;
  }
}

/* ---- Assigning ------------------------------------------------------------------------------- */

/* [-0, +0, e] */
static void write_through(lua_State *L, const clua_node *node, int userdata, int key, int value) {
  int top = lua_gettop(L), cell = top + 1;
  clua_checkstack(L, 12, NULL);
  push_cell_of(L, node, userdata, key);
  lua_rawgeti(L, cell, DECLARATION);
  lua_getfield(L, -1, "write");
  lua_rawgeti(L, cell, TABLE);
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_call(L, 3, 0);
  lua_settop(L, top);
}

/* Stores the value at `value`, or nil for index 0. [-0, +0, m] */
static void set_in_store(lua_State *L, int userdata, int key, int value) {
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushvalue(L, key);
  if (value) lua_pushvalue(L, value);
  else lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

void clua_assignlazy(lua_State *L, clua_node *node, clua_record *record, int userdata, int key,
                     int value) {
  if (clua_endifdead(L, node, userdata)) {
    set_in_store(L, userdata, key, value);
    return;
  }
  if (record->flags & CLUA_LAZY_WRITTEN) {
    write_through(L, node, userdata, key, value);
    return;
  }
  if (record->flags & (CLUA_LAZY_READONLY | CLUA_LAZY_UNCACHED) && !record->loading) {
    const char *why = record->flags & CLUA_LAZY_READONLY ? "is read-only"
                                                         : "keeps no value (cached = false)";
    lua_pushvalue(L, key);
    if (lua_type(L, -1) == LUA_TSTRING) luaL_error(L, "'%s' %s", lua_tostring(L, -1), why);
    luaL_error(L, "the key %s", why);
  }
  clua_shared *shared = node->shared;
  if (record->loading || !record->slot || !shared->observation.assign) {
    set_in_store(L, userdata, key, value);
    return;
  }
  bool armed = (record->flags & CLUA_LAZY_ARMED) && lua_isnil(L, value);
  clua_slot *slot = record->slot;
  if (!armed && !slot->valid) {
    shared->observation.prepare(shared->observation.context, L, slot);
    record = clua_record_of(L, node, userdata, key);
    // A getter may have removed the declaration, or closed the host.
    if (shared->closed || !record || !record->lazy || record->slot != slot) {
      set_in_store(L, userdata, key, value);
      return;
    }
  }
  // The next read replaces a value that is already in the store.
  set_in_store(L, userdata, key, 0);
  lua_pushvalue(L, value);
  shared->observation.assign(shared->observation.context, L, slot, armed);
}

/* ---- Declaring ------------------------------------------------------------------------------- */

void clua_makestoremetatable(lua_State *L, int userdata) {
  if (lua_getiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE) == LUA_TTABLE) {
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  // With room for `__mode`.
  lua_createtable(L, 0, 2);
  lua_pushliteral(L, "__index");
  lua_pushvalue(L, userdata);
  lua_pushcclosure(L, store_index, 1);
  lua_rawset(L, -3);
  lua_setiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
}

void clua_storereplaced(lua_State *L, const clua_node *node, int userdata, int store) {
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  int cells = lua_gettop(L);
  if (node->onecell) {
    lua_pushvalue(L, store);
    lua_rawseti(L, cells, STORE);
    lua_settop(L, cells - 1);
    return;
  }
  lua_pushnil(L);
  while (lua_next(L, cells)) {
    lua_pushvalue(L, store);
    lua_rawseti(L, -2, STORE);
    lua_pop(L, 1);
  }
  lua_settop(L, cells - 1);
}

void clua_node_lazy(lua_State *L, clua_node *node, int key, int getter, int declaration, int flags,
                    lua_Integer number) {
  key = lua_absindex(L, key);
  getter = lua_absindex(L, getter);
  declaration = lua_absindex(L, declaration);
  int top = lua_gettop(L), table = top + 1, userdata = top + 3;
  clua_checkstack(L, 24, NULL);
  if (clua_isstorefixed(node)) luaL_error(L, "arrays and sets have no lazy fields");
  if (!clua_pushnode(L, node)) return;
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (!record) luaL_error(L, "the key has no slot");
  // All allocations come first: if memory runs out, nothing is declared.
  clua_makestoremetatable(L, userdata);
  int cells = top + 4, cell = top + 5, store = top + 6;
  bool first = lua_getiuservalue(L, userdata, CLUA_NODE_LAZY) == LUA_TNIL;
  bool replaces = node->onecell && record->lazy;
  if (node->onecell && !replaces) {
    // Two or more cells are in a table by key.
    lua_createtable(L, 0, 2);
    lua_rawgeti(L, cells, KEY);
    lua_pushvalue(L, cells);
    lua_rawset(L, -3);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
    lua_replace(L, cells);
    node->onecell = false;
  }
  lua_createtable(L, NUMBER, 0);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  const int fields[] = {GETTER, STORE, KEY, TABLE, DECLARATION};
  const int values[] = {getter, store, key, table, declaration};
  for (int i = 0; i < 5; i++) {
    lua_pushvalue(L, values[i]);
    lua_rawseti(L, cell, fields[i]);
  }
  lua_pushinteger(L, flags);
  lua_rawseti(L, cell, FLAGS);
  lua_pushinteger(L, number);
  lua_rawseti(L, cell, NUMBER);
  if (flags & CLUA_LAZY_UNCACHED) {
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, leave_getter);
    lua_setfield(L, -2, "__close");
    lua_setmetatable(L, cell);
  }
  if (record->lazy) {
    // The key is declared again: this is the value of the former declaration.
    push_cell_of(L, node, userdata, key);
    clua_pushkept(L, store + 1, false);
    lua_replace(L, store + 1);
  } else {
    lua_pushvalue(L, key);
    lua_rawget(L, store);
  }
  clua_listcell(L, cell, number);
  struct clua_lazyvalues *kept = node->shared->values + number;
  *kept = (struct clua_lazyvalues){.declaration = kept->declaration + 1};
  clua_keep(L, kept, cell);
  if (first || replaces) {
    lua_pushvalue(L, cell);
    lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
    node->onecell = true;
  } else {
    lua_pushvalue(L, key);
    lua_pushvalue(L, cell);
    lua_rawset(L, cells);
  }
  if (!record->lazy) {
    // A lazy key is not an element from now on.
    node->lazies++;
    node->counting = false;
  }
  record->lazy = true;
  record->flags = (uint8_t)flags;
  record->loading = false;
  clua_setstoremetatable(L, node, userdata, store);
  lua_pushvalue(L, key);
  lua_pushnil(L);
  lua_rawset(L, store);
  clua_setlength(L, node, store, node->size);
  lua_settop(L, top);
}

void clua_node_unlazy(lua_State *L, clua_node *node, int key) {
  key = lua_absindex(L, key);
  int top = lua_gettop(L), userdata = top + 3;
  if (!clua_pushnode(L, node)) return;
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (record && record->lazy) {
    record->lazy = false;
    node->lazies--;
    push_cell_of(L, node, userdata, key);
    clua_retirecell(L, lua_gettop(L));
    if (node->onecell) {
      lua_pushnil(L);
      lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
      node->onecell = false;
    } else {
      lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
      lua_pushvalue(L, key);
      lua_pushnil(L);
      lua_rawset(L, -3);
    }
    lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_pushnil(L);
    lua_rawset(L, -3);
    clua_setstoremetatable(L, node, userdata, lua_gettop(L));
  }
  lua_settop(L, top);
}

bool clua_node_islazy(lua_State *L, clua_node *node, int key) {
  if (node->lazies == 0) return false;
  key = lua_absindex(L, key);
  int top = lua_gettop(L);
  if (!clua_pushnode(L, node)) return false;
  clua_record *record = clua_record_of(L, node, top + 3, key);
  lua_settop(L, top);
  return record && record->lazy;
}
