#include "clua.h"

static const char no_finalizers[] = "a script cannot have finalizers ('__gc')";

/* Whether scripts have safe libraries, and the value is a metatable with `__gc`. [-0, +0, -] */
static bool has_finalizer(lua_State *L, int index) {
  index = lua_absindex(L, index);
  if (!clua_home_of(L)->restricted || lua_type(L, index) != LUA_TTABLE) return false;
  lua_pushliteral(L, "__gc");
  bool found = lua_rawget(L, index) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

void clua_checkfinalizer(lua_State *L, int argument) {
  if (has_finalizer(L, argument)) luaL_argerror(L, argument, no_finalizers);
}

void clua_refusefinalizer(lua_State *L, int index) {
  if (has_finalizer(L, index)) luaL_error(L, "%s", no_finalizers);
}
