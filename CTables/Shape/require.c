#include "shape.h"
#include "clua_modules.h"

/* A function `require` that notes which module's chunk runs: the chunk's registrations belong to
   this module (H2). Otherwise it works as the library's, with the same frames in tracebacks. */

void (*clua_onrequire)(const char *data);

/* The upvalues. */
enum { PACKAGE = 1, LOADS, GUARD, MODULES };

static clua_modules *modules_of(lua_State *L) {
  return (clua_modules *)lua_touserdata(L, lua_upvalueindex(MODULES));
}

/* A to-be-closed variable: its end is the end of a loading, also after an error. */
typedef struct guard {
  clua_modules *modules;
  uint32_t outer;
} guard;

/* (guard, error); its user values are the table of loads and the module's name. */
static int end_loading(lua_State *L) {
  const guard *ended = (const guard *)lua_touserdata(L, 1);
  ended->modules->running = ended->outer;
  if (lua_isnoneornil(L, 2)) return 0;
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, 1, 2);
  lua_pushvalue(L, -1);
  lua_rawget(L, -3);
  lua_Integer number = lua_tointeger(L, -1);
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pushnil(L);
  lua_rawseti(L, -2, number < 0 ? -number : number);
  return 0;
}

/* Pushes the loader of the module at 1, and its data. [-0, +2, e] */
static void find_loader(lua_State *L) {
  int base = lua_gettop(L), searchers = base + 1, message = base + 2;
  if (lua_getfield(L, lua_upvalueindex(PACKAGE), "searchers") != LUA_TTABLE) {
    luaL_error(L, "'package.searchers' must be a table");
  }
  lua_pushliteral(L, "");
  for (lua_Integer i = 1;; i++) {
    if (clua_modulerawgeti(L, searchers, i) == LUA_TNIL) {
      luaL_error(L, "module '%s' not found:%s", lua_tostring(L, 1), lua_tostring(L, message));
    }
    lua_pushvalue(L, 1);
    lua_call(L, 1, 2);
    if (lua_isfunction(L, message + 1)) break;
    if (lua_isstring(L, message + 1)) {
      lua_pushfstring(L, "%s\n\t%s", lua_tostring(L, message), lua_tostring(L, message + 1));
      lua_replace(L, message);
    }
    lua_settop(L, message);
  }
  lua_replace(L, base + 2);
  lua_replace(L, base + 1);
}

/* Notes the number of the module at 1, which is negative while it is being loaded. [-0, +0, m] */
static void note_number(lua_State *L, lua_Integer number) {
  lua_pushvalue(L, 1);
  lua_pushinteger(L, number);
  lua_rawset(L, lua_upvalueindex(LOADS));
}

/* Forgets the former loading of the module at 1. [-0, +0, m] */
static void forget_load(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_rawget(L, lua_upvalueindex(LOADS));
  lua_Integer number = lua_tointeger(L, -1);
  lua_pop(L, 1);
  if (number == 0) return;
  lua_pushnil(L);
  lua_rawseti(L, lua_upvalueindex(LOADS), number < 0 ? -number : number);
}

/* Begins the loading of the module at 1 by a loader with the data at `data`, and pushes the
   variable that ends it. Returns the number of the loading. [-0, +1, m] */
static lua_Integer begin_loading(lua_State *L, int data) {
  clua_modules *modules = modules_of(L);
  guard *loading = (guard *)lua_newuserdatauv(L, sizeof(guard), 2);
  *loading = (guard){modules, modules->running};
  lua_pushvalue(L, lua_upvalueindex(LOADS));
  lua_setiuservalue(L, -2, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 2);
  lua_pushvalue(L, lua_upvalueindex(GUARD));
  lua_setmetatable(L, -2);
  uint32_t number = ++modules->last;
  forget_load(L);
  lua_pushvalue(L, data);
  lua_rawseti(L, lua_upvalueindex(LOADS), number);
  note_number(L, -(lua_Integer)number);
  lua_toclose(L, -1);
  modules->running = number;
  return number;
}

/* (name) -> the module, the loader's data */
static int require(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  enum { LOADED = 2, LOADER, DATA };
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, LOADED, name);
  if (lua_toboolean(L, -1)) return 1;
  lua_settop(L, LOADED);
  find_loader(L);
  lua_Integer number = 0;
  if (lua_isfunction(L, LOADER) && !lua_iscfunction(L, LOADER)) number = begin_loading(L, DATA);
  if (number && clua_onrequire && lua_type(L, DATA) == LUA_TSTRING) {
    clua_onrequire(lua_tostring(L, DATA));
  }
  lua_pushvalue(L, LOADER);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, DATA);
  lua_call(L, 2, 1);
  if (number) note_number(L, number);
  if (lua_isnil(L, -1)) lua_pop(L, 1);
  else lua_setfield(L, LOADED, name);
  if (lua_getfield(L, LOADED, name) == LUA_TNIL) {
    lua_pushboolean(L, true);
    lua_copy(L, -1, -2);
    lua_setfield(L, LOADED, name);
  }
  lua_pushvalue(L, DATA);
  return 2;
}

/* (name) -> the loader that `require` would call, and its data */
static int find(lua_State *L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 1);
  find_loader(L);
  return 2;
}

/* (the library `package`, light modules) -> the function that finds loaders, the table of loads */
static int set_require(lua_State *L) {
  void *modules = lua_touserdata(L, 2);
  lua_settop(L, 1);
  lua_pushvalue(L, PACKAGE);
  lua_pushcclosure(L, find, PACKAGE);
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, PACKAGE);
  lua_pushvalue(L, -2);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, end_loading);
  lua_setfield(L, -2, "__close");
  lua_pushlightuserdata(L, modules);
  lua_pushcclosure(L, require, MODULES);
  lua_setglobal(L, "require");
  return 2;
}

int clua_try_setrequire(lua_State *L, clua_modules *modules) {
  lua_pushlightuserdata(L, modules);
  return clua_protect(L, set_require, 2, 2);
}
