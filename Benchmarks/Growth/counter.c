// The module `counter` of growth.lua: measure(name, f) calls f, and callgrind writes the number of
// instructions into a new file, with `name` as its label.
#include "counter.h"
#include <lauxlib.h>

static int measure(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  counter_begin();
  lua_call(L, 0, 0);
  counter_end(name);
  return 0;
}

int luaopen_counter(lua_State *L);
int luaopen_counter(lua_State *L) {
  lua_pushcfunction(L, measure);
  return 1;
}
