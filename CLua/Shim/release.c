#include "clua_release.h"

#include "clua_allocator.h"

#include <dlfcn.h>
#include <pthread.h>

/* `lua_version` returns 504 for every release, and a constant in the library does not show patches.
   So small chunks test the changes. None of them triggers a harmful fault: if running wrong code
   would do harm, only its bytecode is compared. */

/// A change of a release: the chunk returns true from this release on, and before release `since`.
typedef struct change {
  int release, since;
  const char *name;
  const char *chunk;
} change;

static const change CHANGES[] = {
    {50401, 50400, "errors that say 'not enough memory'",
     "local handled = false\n"
     "xpcall(error, function() handled = true end, 'not enough memory', 0)\n"
     "return not handled"},
    {50402, 50400, "debug.upvalueid", "return debug.upvalueid(function() end, 9) == nil"},
    {50403, 50400, "errors in __close",
     "local closing = setmetatable({}, { __close = function() error(2, 0) end })\n"
     "local _, message = pcall(function() local x <close> = closing error(1, 0) end)\n"
     "return message == 2"},
    {50404, 50400, "functions as constants",
     "return not load 'local f <const> = 1 function f() end'"},
    {50405, 50403, "break out of a generic for",
     "local closed = false\n"
     "local closing = setmetatable({}, { __close = function() closed = true end })\n"
     "for k in next, {}, nil, closing do local function f() return k end break end\n"
     "return closed"},
    // Before the fix, the code has the index of an upvalue that does not exist.
    {50405, 50400, "CVE-2022-28805",
     "local chunk = load('local _ENV <const> = 1 X = 2', '=x')\n"
     "local same = load('local E <const> = 1 E.X = 2', '=x')\n"
     "return string.dump(chunk) == string.dump(same)"},
    {50405, 50400, "bitwise operators with 256 constants",
     "local count = 0\n"
     "local function constant() count = count + 1 return count .. '.5,' end\n"
     "local constants = string.gsub(string.rep('x', 257), 'x', constant)\n"
     "return load('local t = { ' .. constants .. ' } return 1 | (2 or 3)')() == 3"},
    {50407, 50400, "lines of calls",
     "local _, message = pcall(load('f\\n(\\n1)', '=x'))\n"
     "return message == \"x:2: attempt to call a nil value (global 'f')\""},
    {50408, 50400, "comparisons as keys",
     "_ENV[true] = 1\n"
     "local function value() return _ENV[1 < 2] end\n"
     "return value() == 1"},
};
enum { COUNT = sizeof CHANGES / sizeof *CHANGES };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool shown[COUNT];
static int release = 50400;

static int ask(lua_State *L) {
  luaL_requiref(L, "_G", luaopen_base, 1);
  luaL_requiref(L, LUA_DBLIBNAME, luaopen_debug, 1);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
  for (int i = 0; i < COUNT; i++) {
    lua_settop(L, 0);
    bool runs = luaL_loadstring(L, CHANGES[i].chunk) == LUA_OK && lua_pcall(L, 0, 1, 0) == LUA_OK;
    shown[i] = runs && lua_toboolean(L, 1);
  }
  return 0;
}

static void ask_once(void) {
  clua_allocator allocator = {0};
  clua_home home = {0};
  lua_State *L = clua_newstate(&allocator, &home);
  if (!L) return;
  lua_pushcfunction(L, ask);
  bool is_known = lua_pcall(L, 0, 0, 0) == LUA_OK;
  lua_close(L);
  if (!is_known) return;
  int missing = 0;
  while (missing < COUNT && shown[missing]) missing++;
  if (missing > 0) release = CHANGES[missing - 1].release;
  // A library with only some changes of a release counts as the release before.
  if (missing < COUNT && release == CHANGES[missing].release) {
    while (missing > 0 && CHANGES[missing - 1].release == release) missing--;
    release = missing > 0 ? CHANGES[missing - 1].release : 50400;
  }
  // 5.4.6 is 5.4.5 with one more function.
  if (release == 50405 && dlsym(RTLD_DEFAULT, "lua_closethread")) release = 50406;
}

int clua_release(void) {
  pthread_once(&once, ask_once);
  return release;
}

const char *clua_release_patch(int index) {
  pthread_once(&once, ask_once);
  for (int i = 0; i < COUNT; i++) {
    const change *change = &CHANGES[i];
    bool is_patch = shown[i] && change->since <= release && release < change->release;
    if (is_patch && index-- == 0) return change->name;
  }
  return NULL;
}
