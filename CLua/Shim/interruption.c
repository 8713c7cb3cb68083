#include "clua_interruption.h"

#include "clua_guard.h"

#include <string.h>

static const clua_interrupter *interrupter;

void clua_setinterrupter(const clua_interrupter *given) { interrupter = given; }

static int resume(lua_State *thread, lua_State *from, int nargs, int *nresults) {
  if (!interrupter) return lua_resume(thread, from, nargs, nresults);
  lua_State *outer = interrupter->entering(thread);
  int status = lua_resume(thread, from, nargs, nresults);
  interrupter->left(outer, thread, from);
  return status;
}

int clua_resume(lua_State *thread, lua_State *from, int nargs, int *nresults) {
  clua_guard *guard = clua_guard_of(thread);
  if (!guard) return resume(thread, from, nargs, nresults);
  clua_enter(guard, from);
  lua_State *outer = clua_guard_entering(guard, thread);
  int status = resume(thread, from, nargs, nresults);
  clua_guard_left(guard, outer, thread, from, status != LUA_OK && status != LUA_YIELD);
  clua_leave(guard, from);
  return status;
}

static int reset(lua_State *thread, lua_State *from) {
  if (!interrupter) return lua_resetthread(thread);
  lua_State *outer = interrupter->entering(thread);
  int status = lua_resetthread(thread);
  interrupter->left(outer, thread, from);
  return status;
}

int clua_resetthread(lua_State *thread, lua_State *from) {
  clua_guard *guard = clua_guard_of(thread);
  if (!guard) return reset(thread, from);
  clua_enter(guard, from);
  lua_State *outer = clua_guard_entering(guard, thread);
  int status = reset(thread, from);
  clua_guard_left(guard, outer, thread, from, status != LUA_OK);
  clua_leave(guard, from);
  return status;
}

clua_interruption clua_uncaught(const char *message) {
  return interrupter ? interrupter->uncaught(message) : CLUA_ORDINARY;
}

bool clua_ishurried(void) { return interrupter && interrupter->is_hurried(); }

/* ---- A prompt inside of a script ------------------------------------------------------------- */

typedef enum answer { STATEMENT, CONTINUE, QUIT } answer;

static answer read_statement(char *line, int size) {
  fputs("lua_debug> ", stderr);
  fflush(stderr);
  bool was_signal = interrupter && !interrupter->await_input(stdin);
  if (!was_signal && fgets(line, size, stdin)) {
    return strcmp(line, "cont\n") == 0 ? CONTINUE : STATEMENT;
  }
  // The next prompt reads again.
  clearerr(stdin);
  fputc('\n', stderr);
  return was_signal ? QUIT : CONTINUE;
}

int clua_debugprompt(lua_State *L) {
  char line[250];
  answer given;
  if (interrupter) interrupter->prompting(false);
  while ((given = read_statement(line, sizeof line)) == STATEMENT) {
    if (luaL_loadbuffer(L, line, strlen(line), "=(debug command)") || lua_pcall(L, 0, 0, 0)) {
      fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
      fflush(stderr);
    }
    lua_settop(L, 0);
    if (interrupter) interrupter->prompting(true);
  }
  if (given == QUIT) interrupter->quit();
  return 0;
}
