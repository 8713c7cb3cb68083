#include "sandbox.h"

#include "clua_errors.h"
#include "clua_observed.h"
#include "clua_places.h"
#include "clua_protected.h"

#include <string.h>

/* The globals of a safe host: a function that is not listed does not exist. */
static const char *const base_functions[] = {
    "assert", "collectgarbage", "error", "getmetatable", "ipairs", "load", "next", "pairs", "pcall",
    "print", "rawequal", "rawget", "rawlen", "rawset", "require", "select", "setmetatable",
    "tonumber", "tostring", "type", "xpcall", "_VERSION", NULL,
};
static const char *const os_functions[] = {"clock", "date", "difftime", "time", NULL};
static const char *const debug_functions[] = {"traceback", NULL};
/* Libraries whose functions scripts may all use, except those replaced below. */
static const char *const libraries[] = {
    "coroutine", "debug", "math", "os", "string", "table", "utf8", NULL,
};

/* ---- Restricted functions -------------------------------------------------------------------- */

/* collectgarbage("count"): all other options would affect other scripts of the state, too. */
static int count_memory(lua_State *L) {
  const char *what = luaL_optstring(L, 1, "collect");
  if (strcmp(what, "count") != 0) {
    return luaL_error(L, "bad argument #1 to 'collectgarbage' (only 'count' is allowed, got '%s')",
                      what);
  }
  lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT) + lua_gc(L, LUA_GCCOUNTB) / 1024.0);
  return 1;
}

/* Like setmetatable, but rejects finalizers, which nothing could stop. */
static int set_metatable(lua_State *L) {
  int type = lua_type(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
  lua_settop(L, 2);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
    return luaL_error(L, "cannot change a protected metatable");
  clua_checkfinalizer(L, 2);
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

/* debug.traceback(thread?, message?, level?). Its time does not grow with the number of globals. */
static int traceback(lua_State *L) {
  lua_State *thread = lua_tothread(L, 1);
  int message = thread ? 2 : 1;
  if (!lua_isnoneornil(L, message) && !lua_isstring(L, message)) {
    lua_pushvalue(L, message);
    return 1;
  }
  int level = (int)luaL_optinteger(L, message + 1, !thread || thread == L);
  lua_settop(L, message);
  bool has_message = lua_isstring(L, message);
  if (has_message) lua_pushliteral(L, "\n");
  clua_traceback(L, thread ? thread : L, level);
  if (has_message) lua_concat(L, 3);
  return 1;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Replaces a function at 1 by the concatenation of the pieces that it returns. */
static void collect_pieces(lua_State *L, size_t limit) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (size_t size = 0;;) {
    clua_poll(L);
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    size_t length = 0;
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      break;
    }
    if (!lua_tolstring(L, -1, &length))
      luaL_error(L, "reader function must return a string");
    if (length == 0) {
      lua_pop(L, 1);
      break;
    }
    size += length;
    if (limit && size > limit) luaL_error(L, "the chunk is larger than %d bytes", (int)limit);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
  lua_replace(L, 1);
}

static int fail(lua_State *L) {
  luaL_pushfail(L);
  lua_insert(L, -2);
  return 2;
}

/* load(chunk, name, mode, environment): text only, for any mode. Upvalue: the environment. */
static int load(lua_State *L) {
  const clua_guard *guard = clua_guard_of(L);
  size_t length, limit = guard && guard->account ? guard->account->chunksize : 0;
  bool has_environment = !lua_isnone(L, 4);
  lua_settop(L, 4);
  bool is_text = lua_type(L, 1) == LUA_TSTRING;
  if (!is_text) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    collect_pieces(L, limit);
  }
  const char *text = lua_tolstring(L, 1, &length);
  const char *name = luaL_optstring(L, 2, is_text ? text : "=(load)");
  if (clua_ismodule(name)) return luaL_argerror(L, 2, "the name is reserved");
  if (limit && length > limit) {
    lua_pushfstring(L, "the chunk is larger than %d bytes", (int)limit);
    return fail(L);
  }
  if (clua_loadtext(L, text, length, name, "t") != LUA_OK) return fail(L);
  lua_pushvalue(L, has_environment ? 4 : lua_upvalueindex(1));
  if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
  return 1;
}

void clua_setenvironment(lua_State *L) {
  if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

/* Removes all functions from the table on top except the listed ones. [-0, +0, m] */
static void keep_only(lua_State *L, const char *const *names) {
  int table = lua_gettop(L);
  lua_newtable(L);
  for (int i = 0; names[i]; i++) {
    lua_getfield(L, table, names[i]);
    lua_setfield(L, -2, names[i]);
  }
  for (lua_pushnil(L); lua_next(L, table); lua_settop(L, table + 2)) {
    lua_pushvalue(L, -2);
    if (lua_rawget(L, table + 1) != LUA_TNIL) continue;
    lua_pushvalue(L, table + 2);
    lua_pushnil(L);
    lua_rawset(L, table);
  }
  lua_settop(L, table);
}

static int makesafe(lua_State *L) {
  clua_home_of(L)->restricted = true;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushcfunction(L, set_metatable);
  lua_setfield(L, 1, "setmetatable");
  lua_pushcfunction(L, count_memory);
  lua_setfield(L, 1, "collectgarbage");
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, load, 1);
  lua_setfield(L, 1, "load");
  lua_pushnil(L);
  lua_setfield(L, 1, "dofile");
  lua_pushnil(L);
  lua_setfield(L, 1, "loadfile");
  lua_pushnil(L);
  lua_setfield(L, 1, "warn");
  if (lua_getfield(L, 1, "os") == LUA_TTABLE) {
    keep_only(L, os_functions);
    clua_limitformats(L, -1, "date");
  }
  if (lua_getfield(L, 1, "table") == LUA_TTABLE) clua_stoppable_tables(L, -1);
  if (lua_getfield(L, 1, "utf8") == LUA_TTABLE) clua_stoppable_utf8(L, -1);
  if (lua_getfield(L, 1, "debug") == LUA_TTABLE) {
    keep_only(L, debug_functions);
    lua_pushcfunction(L, traceback);
    lua_setfield(L, -2, "traceback");
  }
  if (lua_getfield(L, 1, "string") == LUA_TTABLE) {
    lua_pushnil(L);
    lua_setfield(L, -2, "dump");
    clua_stoppable_patterns(L, -1);
    clua_stoppable_strings(L, -1);
    // The metatable of strings, through which a script could affect the strings of all other
    // scripts.
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
      lua_pushboolean(L, false);
      lua_setfield(L, -2, "__metatable");
    }
  }
  return 0;
}

int clua_try_makesafe(lua_State *L) { return clua_protect(L, makesafe, 0, 0); }

/* ---- Shared tables --------------------------------------------------------------------------- */

static const char shared_key;

/* Pushes a copy of the table on top. [-0, +1, m] */
static void push_copy(lua_State *L) {
  int table = lua_gettop(L);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, table + 1);
  }
}

/* Freezes the table on top; scripts cannot change its metatable. [-0, +0, m] */
static void freeze(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_pushcfunction(L, clua_freezeshared);
  lua_pushvalue(L, -2);
  lua_call(L, 1, 0);
}

/* (module, light userdata to the reference) */
static int share(lua_State *L) {
  int *reference = lua_touserdata(L, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  // Our own code keeps using the original functions.
  push_copy(L);
  *reference = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  for (int i = 0; libraries[i]; i++) {
    if (lua_getfield(L, 3, libraries[i]) == LUA_TTABLE) {
      push_copy(L);
      freeze(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, 4, libraries[i]);
      lua_setfield(L, 3, libraries[i]);
    }
    lua_settop(L, 4);
  }
  for (int i = 0; base_functions[i]; i++) {
    lua_getfield(L, 3, base_functions[i]);
    lua_setfield(L, 4, base_functions[i]);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &shared_key);
  lua_pushvalue(L, 1);
  freeze(L);
  return 0;
}

int clua_try_share(lua_State *L, int module, int *globals) {
  lua_pushvalue(L, module);
  lua_pushlightuserdata(L, globals);
  return clua_protect(L, share, 2, 0);
}

/* (require) -> environment */
static int push_environment(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &shared_key);
  push_copy(L);
  int environment = lua_gettop(L);
  lua_pushvalue(L, environment);
  lua_setfield(L, environment, "_G");
  lua_pushvalue(L, environment);
  lua_pushcclosure(L, load, 1);
  lua_setfield(L, environment, "load");
  lua_pushvalue(L, 1);
  lua_setfield(L, environment, "require");
  lua_createtable(L, 0, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, environment);
  return 1;
}

int clua_try_pushenvironment(lua_State *L) { return clua_protect(L, push_environment, 1, 1); }

/* ---- Paths ----------------------------------------------------------------------------------- */

int64_t clua_pathcomponents(lua_State *L, int index) {
  size_t length;
  int64_t count = 1;
  const char *text = lua_tolstring(L, index, &length), *end = text + length;
  while (text && (text = memchr(text, '.', (size_t)(end - text)))) {
    count++;
    text++;
  }
  return count;
}
