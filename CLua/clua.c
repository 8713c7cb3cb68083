#include "clua.h"

/* Upvalues of a trampoline: 1 the Swift function, 2 its context. */
static int trampoline(lua_State *L) {
  clua_function function = (clua_function)lua_touserdata(L, lua_upvalueindex(1));
  int results = function(L, lua_touserdata(L, lua_upvalueindex(2)));
  return results == CLUA_RAISE ? lua_error(L) : results;
}

void clua_pushfunction(lua_State *L, clua_function function, void *context) {
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushcclosure(L, trampoline, 2);
}

int clua_protect(lua_State *L, lua_CFunction function, int nargs, int nresults) {
  lua_pushcfunction(L, function);
  lua_insert(L, -(nargs + 1));
  return lua_pcall(L, nargs, nresults, 0);
}
