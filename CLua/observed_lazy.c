#include "observed_internal.h"

/* A lazy key is one whose home is the store. While it is invalid it is nowhere, and a read comes to the
   metatable of the store, which has it computed. */

/* Pushes the getters of the node, or nil. [-0, +1, -] */
static int push_getters(lua_State *L, int userdata) {
  return lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
}

static int keep_result(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  // table, key, value
  clua_node *node = clua_pushnodeat(L, 1);
  if (node && !lua_isnil(L, 3)) {
    clua_record *record = clua_record_of(L, node, 5, 2);
    // Unless the declaration was taken back meanwhile.
    if (record && record->lazy) {
      lua_getiuservalue(L, 5, CLUA_NODE_STORE);
      lua_pushvalue(L, 2);
      lua_pushvalue(L, 3);
      lua_rawset(L, -3);
    }
  }
  lua_settop(L, 3);
  return 1;
}

int clua_lazycompute(lua_State *L) {
  lua_settop(L, 2);
  if (!clua_pushnodeat(L, 1) || push_getters(L, 4) != LUA_TTABLE) return 0;
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  lua_replace(L, 3);
  lua_settop(L, 3);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_callk(L, 2, 1, 0, keep_result);
  return keep_result(L, LUA_OK, 0);
}

static int pass_on(lua_State *L, int status, lua_KContext context) {
  (void)L, (void)status, (void)context;
  return 1;
}

/* `__index` of a store with lazy keys. Upvalue: the node's userdata. */
static int store_index(lua_State *L) {
  lua_settop(L, 2);
  int userdata = lua_upvalueindex(1);
  if (push_getters(L, userdata) == LUA_TTABLE) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 3) != LUA_TNIL) {
      lua_pushcfunction(L, clua_lazycompute);
      clua_node_pushtable(L, (clua_node *)lua_touserdata(L, userdata));
      if (lua_isnil(L, -1)) return 1;
      lua_pushvalue(L, 2);
      lua_callk(L, 2, 1, 0, pass_on);
      return 1;
    }
  }
  lua_settop(L, 2);
  if (clua_pushfield(L, userdata, "__index") == LUA_TNIL) return 1;
  lua_pushvalue(L, 2);
  lua_gettable(L, 3);
  return 1;
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

void clua_setstoremetatable(lua_State *L, clua_node *node, int userdata, int store) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  if (node->lazies) {
    lua_getiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
    // A weak table has a weak store.
    lua_pushstring(L, clua_events[CLUA_EVENT_MODE]);
    clua_pushfield(L, userdata, clua_events[CLUA_EVENT_MODE]);
    lua_rawset(L, -3);
  }
  clua_setunmarked(L, store);
  lua_settop(L, top);
}

void clua_node_lazy(lua_State *L, clua_node *node, int key, int getter) {
  key = lua_absindex(L, key);
  getter = lua_absindex(L, getter);
  int top = lua_gettop(L), userdata = top + 3;
  luaL_checkstack(L, 24, NULL);
  if (clua_isstorefixed(node)) luaL_error(L, "arrays and sets have no lazy fields");
  if (!clua_pushnode(L, node)) return;
  if (push_getters(L, userdata) != LUA_TTABLE) {
    lua_pop(L, 1);
    // The metatable first: where memory runs out nothing is declared.
    lua_createtable(L, 0, 2);
    lua_pushstring(L, clua_events[CLUA_EVENT_MODE]);
    lua_pushboolean(L, false);
    lua_rawset(L, -3);
    lua_pushliteral(L, "__index");
    lua_pushvalue(L, userdata);
    lua_pushcclosure(L, store_index, 1);
    lua_rawset(L, -3);
    lua_setiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
  }
  int getters = lua_gettop(L);
  // Its value moves to the store, as that of an observed key does.
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (!record) {
    static clua_slot nobody;
    clua_node_watch(L, node, key, &nobody);
    clua_node_unwatch(L, node, &nobody);
    record = clua_record_of(L, node, userdata, key);
  }
  if (!record) {
    lua_settop(L, top);
    return;
  }
  bool declared = !lua_isnil(L, getter);
  lua_pushvalue(L, key);
  lua_pushvalue(L, getter);
  lua_rawset(L, getters);
  node->lazies += (int)declared - (int)record->lazy;
  record->lazy = declared;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  clua_setstoremetatable(L, node, userdata, lua_gettop(L));
  lua_pushvalue(L, key);
  lua_pushnil(L);
  lua_rawset(L, -3);
  lua_settop(L, top);
}

void clua_node_invalidate(lua_State *L, clua_node *node, int key) {
  key = lua_absindex(L, key);
  int top = lua_gettop(L);
  if (!clua_pushnode(L, node)) return;
  clua_record *record = clua_record_of(L, node, top + 3, key);
  if (record && record->lazy) {
    lua_getiuservalue(L, top + 3, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_pushnil(L);
    // What is there already, or stays away, needs no memory.
    lua_rawset(L, -3);
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

void clua_checkwritable(lua_State *L, const clua_record *record, int key) {
  if (!record->lazy) return;
  lua_pushvalue(L, key);
  if (lua_type(L, -1) == LUA_TSTRING) {
    luaL_error(L, "'%s' is read-only", lua_tostring(L, -1));
  }
  luaL_error(L, "the key is read-only");
}
