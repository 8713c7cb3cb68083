#include "clua_calls.h"

#include "clua_errors.h"
#include "clua_guard.h"
#include "private.h"

int clua_tracedcall(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, clua_messagehandler);
  lua_insert(L, base);
  int status = clua_guardedcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return status;
}

static int traceback(lua_State *L) {
  clua_traceback(L, L, (int)lua_tointeger(L, 1) + 1);
  return 1;
}

int clua_try_traceback(lua_State *L, int level) {
  if (!lua_checkstack(L, 12)) return LUA_ERRMEM;
  lua_pushinteger(L, level);
  return clua_protect(L, traceback, 1, 1);
}

int clua_callplainly(lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int return_all(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return lua_gettop(L);
}

static int call_outer(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, return_all);
  return lua_gettop(L);
}

bool clua_isouter(lua_CFunction function) { return function == call_outer; }

int clua_outer(lua_State *L) {
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (!lua_iscfunction(L, 1)) lua_pushcclosure(L, call_outer, 1);
  return 1;
}

int clua_redirect(lua_State *L) {
  lua_settop(L, 2);
  if (lua_tocfunction(L, 1) == call_outer) lua_setupvalue(L, 1, 1);
  return 0;
}
