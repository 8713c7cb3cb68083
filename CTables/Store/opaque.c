#include "store.h"

/* Tables that are leaves for `**` are in a table of the registry, which holds them weakly. */

static const char opaque_key;

static int mark(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &opaque_key) == LUA_TNIL) {
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &opaque_key);
    lua_replace(L, 2);
  }
  lua_pushvalue(L, 1);
  lua_pushboolean(L, true);
  lua_rawset(L, 2);
  return 0;
}

int clua_try_markopaque(lua_State *L) { return clua_protect(L, mark, 1, 0); }

bool clua_pushopaque(lua_State *L) {
  return lua_rawgetp(L, LUA_REGISTRYINDEX, &opaque_key) != LUA_TNIL;
}

bool clua_isopaque(lua_State *L, int index) {
  index = lua_absindex(L, index);
  if (!clua_pushopaque(L)) {
    lua_pop(L, 1);
    return false;
  }
  lua_pushvalue(L, index);
  bool is_opaque = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 2);
  return is_opaque;
}
