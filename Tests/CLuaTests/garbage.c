// Garbage, including objects with finalizers, is collected in many short parts, also after a stop.
#include "clua_allocator.h"
#include "clua_calls.h"
#include "clua_guard.h"

#include <stdio.h>

static clua_account account;
static clua_guard guard = {.account = &account};
static clua_home home = {.guard = &guard};
static clua_allocator allocator;
static bool has_failed;

static void expect(bool holds, const char *sentence) {
  if (holds) return;
  printf("%s\n", sentence);
  has_failed = true;
}

static int finalized;

/* A finalizer like the engine's. */
static int finalize(lua_State *L) {
  finalized++;
  clua_owe(L, 1);
  return 0;
}

enum { COUNT = 100000 };

/* Creates objects and drops them. */
static void make_objects(lua_State *L) {
  lua_createtable(L, COUNT, 0);
  for (int i = 1; i <= COUNT; i++) {
    lua_newuserdatauv(L, 64, 0);
    luaL_setmetatable(L, "finalized");
    lua_rawseti(L, -2, i);
  }
  lua_pop(L, 1);
}

/* An operation that scripts have to stop while it holds the collector. */
static int held_operation(lua_State *L) {
  clua_holdcollector(L);
  guard.stopped = CLUA_STOP_TIME;
  clua_poll(L);
  return 0;
}

/* Whether the collector works while garbage is made. */
static bool is_collecting(lua_State *L) {
  finalized = 0;
  for (int i = 0; i < COUNT && finalized == 0; i++) {
    lua_newuserdatauv(L, 64, 0);
    luaL_setmetatable(L, "finalized");
    lua_settop(L, 0);
  }
  return finalized != 0;
}

int main(void) {
  lua_State *L = clua_newstate(&allocator, &home);
  guard.memory = &allocator;
  luaL_newmetatable(L, "finalized");
  lua_pushcfunction(L, finalize);
  lua_setfield(L, -2, "__gc");
  lua_settop(L, 0);
  lua_gc(L, LUA_GCCOLLECT);
  size_t before = allocator.whole.used;
  clua_meter_limit(&allocator.whole, (size_t)16 << 20);

  lua_gc(L, LUA_GCSTOP);
  make_objects(L);
  expect(clua_iscollectordue(&allocator), "half of the limit is not noticed");
  size_t used = allocator.whole.used, most = 0;
  int parts = 0;
  for (; clua_iscollectordue(&allocator) && parts < 1000; parts++) {
    size_t left = allocator.whole.used;
    clua_workcollector(L, &allocator);
    if (left > allocator.whole.used + most) most = left - allocator.whole.used;
  }
  expect(parts < 1000, "the garbage stays");
  expect(most < (used - before) / 2, "one part frees most of the garbage");
  expect(finalized == COUNT, "not all finalizers were called");
  clua_freegarbage(L, &allocator);
  expect(allocator.whole.used < before + (1 << 10), "garbage is left");

  lua_gc(L, LUA_GCRESTART);
  lua_pushcfunction(L, held_operation);
  expect(lua_pcall(L, 0, 0, 0) != LUA_OK, "the operation is not stopped");
  guard.stopped = 0;
  lua_settop(L, 0);
  expect(is_collecting(L), "a stopped operation holds the collector");

  clua_closestate(L);
  clua_allocator_end(&allocator);
  return has_failed;
}
