// Runs a script next to the functions that replace Lua's own in safe hosts: the global `ours` holds
// them, and `stop_after(seconds)` stops the script as the guard does.
#include "../../CSandbox/sandbox.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static clua_guard guard;
static clua_home home = {.guard = &guard};
static clua_account account;
static double delay;

static void *stop(void *argument) {
  struct timespec time = {(time_t)delay, (long)((delay - (double)(time_t)delay) * 1e9)};
  nanosleep(&time, NULL);
  __atomic_store_n(&guard.stopped, CLUA_STOP_TIME, __ATOMIC_RELAXED);
  return argument;
}

static int stop_after(lua_State *L) {
  delay = luaL_checknumber(L, 1);
  pthread_t thread;
  if (pthread_create(&thread, NULL, stop, NULL) == 0) pthread_detach(thread);
  return 0;
}

static int go_on(lua_State *L) {
  (void)L;
  guard.stopped = 0;
  return 0;
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int now(lua_State *L) {
  lua_pushnumber(L, seconds());
  return 1;
}

static void push_library(lua_State *L, const char *name, void (*fill)(lua_State *, int)) {
  if (lua_getfield(L, -1, name) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  fill(L, -1);
  lua_pop(L, 1);
}

int main(int count, char **arguments) {
  guard.account = &account;
  lua_State *L = luaL_newstate();
  clua_sethome(L, &home);
  luaL_openlibs(L);
  lua_newtable(L);
  push_library(L, "string", clua_stoppable_patterns);
  push_library(L, "string", clua_stoppable_strings);
  push_library(L, "table", clua_stoppable_tables);
  push_library(L, "utf8", clua_stoppable_utf8);
  lua_setglobal(L, "ours");
  lua_register(L, "stop_after", stop_after);
  lua_register(L, "go_on", go_on);
  lua_register(L, "now", now);
  lua_newtable(L);
  for (int i = 2; i < count; i++) {
    lua_pushstring(L, arguments[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  if (luaL_dofile(L, arguments[1])) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
  }
  lua_close(L);
  return 0;
}
