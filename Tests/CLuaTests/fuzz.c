// Fuzzes the functions of safe hosts that take text: patterns give the results of Lua's own
// functions, and a chunk is compiled or refused. The first byte of an input selects the kind of
// test.
#include "../../CSandbox/sandbox.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Lua's own matching may take years with longer inputs.
enum { LONGEST_PATTERN = 24, LONGEST_SUBJECT = 24, LARGEST_CHUNK = 1 << 16 };

static clua_guard guard;
static clua_home home = {.guard = &guard};
static clua_account account;

static lua_State *open_state(void) {
  guard.account = &account;
  account.chunksize = LARGEST_CHUNK;
  lua_State *L = luaL_newstate();
  clua_sethome(L, &home);
  luaL_openlibs(L);
  lua_newtable(L);
  clua_stoppable_patterns(L, -1);
  lua_setglobal(L, "ours");
  if (luaL_dofile(L, "fuzz.lua")) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    exit(1);
  }
  lua_setglobal(L, "compare");
  return L;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static lua_State *L;
  if (!L) L = open_state();
  if (size < 3) return 0;
  const char *text = (const char *)bytes + 3;
  size -= 3;
  if (bytes[0] % 4 == 0) {
    if (luaL_loadbufferx(L, text, smaller(size, LARGEST_CHUNK), "=chunk", "t") > LUA_ERRSYNTAX)
      abort();
    lua_settop(L, 0);
    return 0;
  }
  size_t pattern = smaller(bytes[1] % LONGEST_PATTERN, size);
  size_t replacement = smaller(bytes[2] % 8, size - pattern);
  lua_getglobal(L, "compare");
  lua_pushlstring(L, text + pattern + replacement,
                  smaller(size - pattern - replacement, LONGEST_SUBJECT));
  lua_pushlstring(L, text, pattern);
  lua_pushlstring(L, text + pattern, replacement);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    abort();
  }
  lua_settop(L, 0);
  return 0;
}
