#include "clua.h"

#include "clua_guard.h"
#include "private.h"

int clua_protect(lua_State *L, lua_CFunction function, int nargs, int nresults) {
  lua_pushcfunction(L, function);
  lua_insert(L, -(nargs + 1));
  return clua_enginecall(L, nargs, nresults, 0);
}

static const char handler_error_key;

static int install(lua_State *L) {
  int *pins = lua_touserdata(L, 1);
  clua_install_functions(L);
  clua_install_errors(L);
  // Lua makes this string outside of any protected call when it reports LUA_ERRERR. While the
  // string is alive, Lua finds it and allocates nothing.
  lua_pushliteral(L, "error in error handling");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &handler_error_key);
  lua_newtable(L);
  *pins = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

int clua_try_install(lua_State *L, int *pins) {
  lua_pushlightuserdata(L, pins);
  return clua_protect(L, install, 1, 0);
}

static int growpins(lua_State *L) {
  int first = (int)lua_tointeger(L, 2), last = (int)lua_tointeger(L, 3);
  lua_rawgeti(L, LUA_REGISTRYINDEX, lua_tointeger(L, 1));
  for (int slot = first; slot <= last; slot++) {
    // A finalizer that ran during an allocation here may have made and used the slot.
    bool made = lua_rawgeti(L, -1, slot) != LUA_TNIL;
    lua_pop(L, 1);
    if (made) continue;
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, slot);
  }
  return 0;
}

int clua_try_growpins(lua_State *L, int pins, int first, int last) {
  lua_pushinteger(L, pins);
  lua_pushinteger(L, first);
  lua_pushinteger(L, last);
  return clua_protect(L, growpins, 3, 0);
}
