#include "shape.h"
#include "../Lists/lists.h"

/* Each function here has one upvalue, the state's shared data, and starts with one test: if no
   table was ever observed, or this table is not, the stock function does the work in this same
   call, so that its messages name the function as usual. */


/* ---- Metatables ----------------------------------------------------------------------------- */

static int base_getmetatable(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!clua_observedat(L, shared, 1)) return shared->getmetatable(L);
  int userdata = lua_gettop(L);
  if (clua_pushfield(L, userdata, "__metatable") == LUA_TNIL) {
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  }
  return 1;
}

static int debug_getmetatable(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!clua_observedat(L, shared, 1)) return shared->debug_getmetatable(L);
  lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  return 1;
}

/* Sets the metatable or nil at 2 on the observed table at 1. Stack: table, new metatable, M,
   userdata. */
static void change_metatable(lua_State *L, clua_node *node) {
  if (clua_isstorefixed(node)) {
    const char *name = node->kind == CLUA_KIND_SET ? "a set" : "an array";
    luaL_error(L, "cannot change the metatable of %s", name);
  }
  clua_endifdead(L, node, 4);
  for (int i = 0; i < node->count; i++) node->records[i].checked = false;
  clua_unwatchmetatable(node);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 4, CLUA_NODE_METATABLE);
  clua_fill(L, node, 1, 3, 4, true);
  if (!node->ended) clua_watchmetatable(L, node, 4);
}

/* (observed table, metatable or nil) */
static int visible_setmetatable(lua_State *L) {
  change_metatable(L, clua_pushnodeat(L, 1));
  return 0;
}

void clua_setmetatable(lua_State *L, int index) {
  int table = lua_absindex(L, index), top = lua_gettop(L);
  if (lua_type(L, table) != LUA_TTABLE || !clua_pushnodeat(L, table)) {
    lua_setmetatable(L, table);
    return;
  }
  lua_settop(L, top);
  lua_pushcfunction(L, visible_setmetatable);
  lua_pushvalue(L, table);
  lua_rotate(L, top, -1);
  lua_call(L, 2, 0);
}

static int base_setmetatable(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->setmetatable(L);
  int type = lua_type(L, 2);
  if (type != LUA_TNIL && type != LUA_TTABLE) return shared->setmetatable(L);
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node) return shared->setmetatable(L);
  clua_checkfinalizer(L, 2);
  if (clua_pushfield(L, 4, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "cannot change a protected metatable");
  }
  lua_settop(L, 4);
  change_metatable(L, node);
  lua_settop(L, 1);
  return 1;
}

static int debug_setmetatable(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->debug_setmetatable(L);
  int type = lua_type(L, 2);
  if (type != LUA_TNIL && type != LUA_TTABLE) return shared->debug_setmetatable(L);
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node) return shared->debug_setmetatable(L);
  change_metatable(L, node);
  lua_settop(L, 1);
  return 1;
}

/* ---- Traversal ------------------------------------------------------------------------------ */

static int base_next(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  int found;
  clua_node *node = shared->active ? clua_pushnodeat(L, 1) : NULL;
  if (node) {
    if (lua_isnil(L, 2)) {
      clua_noteread(L, node, CLUA_READ_EVERY);
      clua_absorb(L, node, 1, 4, clua_writeheard);
    }
    lua_pushvalue(L, 2);
    found = clua_nodenext(L, node, 1, 4);
    if (found && clua_isopened(node) && clua_istracking(L)) clua_track(L, lua_gettop(L));
  } else {
    found = lua_next(L, 1);
  }
  if (found) {
    shared->traversed = true;
    return 2;
  }
  lua_pushnil(L);
  return 1;
}

int clua_closednext(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  if (clua_next(L, 1)) return 2;
  lua_pushnil(L);
  return 1;
}

static int pairs_continue(lua_State *L, int status, lua_KContext context) {
  (void)L, (void)status, (void)context;
  return 3;
}

/* Upvalue 2: `next`. */
static int base_pairs(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  luaL_checkany(L, 1);
  clua_node *node = clua_observedat(L, shared, 1);
  int type = node ? clua_pushfield(L, lua_gettop(L), "__pairs")
                  : luaL_getmetafield(L, 1, "__pairs");
  if (type == LUA_TNIL) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, 1);
    lua_callk(L, 1, 3, 0, pairs_continue);
  }
  return 3;
}

/* ---- Raw access ----------------------------------------------------------------------------- */

static int base_rawget(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE || lua_gettop(L) < 2) {
    return shared->rawget(L);
  }
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  if (node) clua_notekey(L, node, 4, 2);
  lua_settop(L, 2);
  clua_rawget(L, 1);
  if (node && clua_isopened(node) && clua_istracking(L)) clua_track(L, 2);
  return 1;
}

static int base_rawset(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE || lua_gettop(L) < 3) {
    return shared->rawset(L);
  }
  lua_settop(L, 3);
  clua_scriptrawset(L, 1, 2, 3, true);
  lua_settop(L, 1);
  return 1;
}

static int base_rawlen(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->rawlen(L);
  clua_node *node = clua_node_at(L, 1);
  if (node) clua_noteread(L, node, CLUA_READ_COUNT);
  lua_pushinteger(L, (lua_Integer)clua_rawlen(L, 1));
  return 1;
}

/* ---- Installing ----------------------------------------------------------------------------- */

/* Replaces a field of the table on top; returns the old function. [-0, +0, m] */
static lua_CFunction replace(lua_State *L, clua_shared *shared, const char *name,
                             lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_CFunction stock = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  if (!stock) return NULL;
  lua_pushlightuserdata(L, shared);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
  return stock;
}

void clua_install_base(lua_State *L, clua_shared *shared) {
  int top = lua_gettop(L);
  clua_install_sort(L);
  lua_pushglobaltable(L);
  shared->getmetatable = replace(L, shared, "getmetatable", base_getmetatable);
  shared->setmetatable = replace(L, shared, "setmetatable", base_setmetatable);
  shared->rawget = replace(L, shared, "rawget", base_rawget);
  shared->rawset = replace(L, shared, "rawset", base_rawset);
  shared->rawlen = replace(L, shared, "rawlen", base_rawlen);
  replace(L, shared, "next", base_next);
  lua_pushlightuserdata(L, shared);
  lua_getfield(L, -2, "next");
  lua_pushcclosure(L, base_pairs, 2);
  lua_setfield(L, -2, "pairs");
  if (lua_getfield(L, -1, "table") == LUA_TTABLE) {
    shared->insert = replace(L, shared, "insert", clua_tableinsert);
    shared->remove = replace(L, shared, "remove", clua_tableremove);
    shared->move = replace(L, shared, "move", clua_tablemove);
    shared->sort = replace(L, shared, "sort", clua_tablesort);
    shared->concat = replace(L, shared, "concat", clua_tableconcat);
    shared->unpack = replace(L, shared, "unpack", clua_tableunpack);
  }
  lua_pop(L, 1);
  if (lua_getfield(L, -1, "debug") == LUA_TTABLE) {
    shared->debug_getmetatable = replace(L, shared, "getmetatable", debug_getmetatable);
    shared->debug_setmetatable = replace(L, shared, "setmetatable", debug_setmetatable);
  }
  lua_settop(L, top);
}
