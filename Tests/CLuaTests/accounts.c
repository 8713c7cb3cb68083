// A clock tick may come while one account replaces another. It then stops the code of neither
// account, and the clock continues for both.
#include "clua_calls.h"
#include "clua_guard.h"

#include <stdio.h>
#include <time.h>

static clua_guard guard;
static clua_home home = {.guard = &guard};
static clua_account caller, callee;
static uint64_t turn = 1;
static bool has_failed;

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void take_time(double time) {
  double end = seconds() + time;
  while (seconds() < end) continue;
}

static void expect(bool holds, const char *sentence) {
  if (holds) return;
  printf("%s\n", sentence);
  has_failed = true;
}

static void begin_turn(uint64_t callers, uint64_t callees) {
  turn++;
  caller.limit = callers;
  callee.limit = callees;
}

enum { MILLISECOND = 1000 * 1000 };

/* Runs code that the caller causes on another account. */
static int call_other(lua_State *L) {
  clua_caller suspended = clua_guard_suspend(&guard);
  take_time(0.05);
  clua_guard_switch(&guard, &callee);
  expect(!guard.stopped, "a tick between two accounts stops the second one");
  expect(luaL_dostring(L, "for i = 1, 1000 do end") == LUA_OK, "the second one is stopped");
  clua_guard_goon(&guard, &suspended, L);
  expect(!guard.stopped && !caller.isspent, "a tick between two accounts stops the first one");
  return 0;
}

/* Makes a call without a limit, during which the clock rests. */
static int call_free(lua_State *L) {
  clua_caller suspended = clua_guard_suspend(&guard);
  clua_guard_switch(&guard, &callee);
  take_time(0.05);
  clua_guard_goon(&guard, &suspended, L);
  return 0;
}

/* Ends a loop that nothing else stops. */
static int time_is_up(lua_State *L) {
  static double first;
  if (first == 0) first = seconds();
  return seconds() > first + 5 ? luaL_error(L, "the loop was not stopped") : 0;
}

static bool run(lua_State *L, const char *script) {
  if (luaL_loadstring(L, script) != LUA_OK) return false;
  bool runs = clua_guardedcall(L, 0, 0, 0) == LUA_OK;
  lua_settop(L, 0);
  return runs;
}

int main(void) {
  guard.account = &caller;
  guard.turn = &turn;
  lua_State *L = luaL_newstate();
  clua_sethome(L, &home);
  luaL_openlibs(L);
  lua_register(L, "call_other", call_other);
  lua_register(L, "call_free", call_free);
  lua_register(L, "time_is_up", time_is_up);

  begin_turn(20 * MILLISECOND, 20 * MILLISECOND);
  expect(run(L, "call_other()"), "the caller is stopped");

  begin_turn(20 * MILLISECOND, 0);
  run(L, "call_free() while true do time_is_up() end");
  expect(caller.isspent, "a loop after a call without a limit is not stopped");

  lua_close(L);
  return has_failed;
}
