#include "clua_calls.h"

#include "clua_errors.h"
#include "clua_guard.h"
#include "clua_places.h"
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

/* Whether the first argument is the module, as in obs:name(). */
static bool is_module_first(lua_State *L, const char *name) {
  if (!lua_istable(L, 1)) return false;
  lua_pushstring(L, name);
  return lua_rawget(L, 1) == LUA_TFUNCTION;
}

void clua_refuserest(lua_State *L, int most, int objects, const char *name) {
  for (int i = most + 1; i <= lua_gettop(L); i++) {
    if (lua_isnil(L, i)) continue;
    const char *type = luaL_typename(L, i), *hint = "";
    if (!objects && is_module_first(L, name)) hint = "; it is called with a dot, as obs.";
    char source[LUA_IDSIZE];
    int line = clua_where(L, source);
    if (line) lua_pushfstring(L, "%s:%d: ", source, line);
    else lua_pushliteral(L, "");
    lua_pushfstring(L, "bad argument #%d to '%s' (no value expected, got %s%s%s)", i - objects,
                    name, type, hint, *hint ? name : "");
    lua_concat(L, 2);
    lua_error(L);
  }
}

/* The upvalues of call_outer; MOST is absent for a function that takes any number of arguments. */
enum { FUNCTION = 1, NAME, OBJECTS, MOST };

static int call_outer(lua_State *L) {
  int most = (int)lua_tointeger(L, lua_upvalueindex(MOST));
  if (lua_gettop(L) > most && !lua_isnil(L, lua_upvalueindex(MOST))) {
    clua_refuserest(L, most, (int)lua_tointeger(L, lua_upvalueindex(OBJECTS)),
                    lua_tostring(L, lua_upvalueindex(NAME)));
  }
  lua_pushvalue(L, lua_upvalueindex(FUNCTION));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, return_all);
  return lua_gettop(L);
}

bool clua_isouter(lua_CFunction function) { return function == call_outer; }

/* Pushes the number of arguments that a Lua function takes, or nil if it takes any. [-0, +1, m] */
static void push_most(lua_State *L, int function) {
  lua_Debug info;
  lua_pushvalue(L, function);
  lua_getinfo(L, ">u", &info);
  if (info.isvararg) lua_pushnil(L);
  else lua_pushinteger(L, info.nparams);
}

int clua_outer(lua_State *L) {
  lua_settop(L, 3);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (lua_iscfunction(L, 1)) return lua_settop(L, 1), 1;
  push_most(L, 1);
  lua_pushcclosure(L, call_outer, MOST);
  return 1;
}

int clua_redirect(lua_State *L) {
  lua_settop(L, 3);
  if (lua_tocfunction(L, 1) != call_outer) return 0;
  if (lua_isnil(L, 3)) push_most(L, 2);
  lua_setupvalue(L, 1, MOST);
  lua_settop(L, 2);
  lua_setupvalue(L, 1, FUNCTION);
  return 0;
}
