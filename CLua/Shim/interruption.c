#include "clua_interruption.h"

#include "clua_guard.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

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

/* ---- A prompt inside a script ---------------------------------------------------------------- */

typedef enum answer { STATEMENT, CONTINUE, QUIT } answer;

/* Pushes a line without its line feed. [-0, +(0|1), m] */
static answer read_statement(lua_State *L) {
  fputs("lua_debug> ", stderr);
  fflush(stderr);
  bool was_signal = interrupter && !interrupter->await_input(stdin);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = was_signal ? -1 : getline(&line, &capacity, stdin);
  if (length >= 0) {
    while (length > 0 && strchr(" \t\r\n", line[length - 1])) length--;
    bool goes_on = length == 4 && memcmp(line, "cont", 4) == 0;
    // If there is no memory for the text, the prompt ends and a line is lost.
    if (!goes_on) lua_pushlstring(L, line, (size_t)length);
    free(line);
    return goes_on ? CONTINUE : STATEMENT;
  }
  free(line);
  // The next prompt reads again.
  clearerr(stdin);
  fputc('\n', stderr);
  return was_signal ? QUIT : CONTINUE;
}

static int text_of(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* Writes the result or the error of a line, on top of the stack. If describing an error fails,
   writes the new error instead. */
static void write_answer(lua_State *L) {
  clua_protect(L, text_of, 1, 1);
  const char *text = lua_tostring(L, -1);
  if (!text) text = luaL_typename(L, -1);
  fprintf(stderr, "%s\n", text);
  fflush(stderr);
}

int clua_debugprompt(lua_State *L) {
  answer given;
  lua_settop(L, 1);
  if (interrupter) {
    interrupter->prompting(false);
    interrupter->lend_terminal(true);
  }
  for (;;) {
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    given = read_statement(L);
    if (given != STATEMENT) break;
    bool failed = lua_pcall(L, 1, 1, 0) != LUA_OK;
    if (failed || lua_type(L, -1) == LUA_TSTRING) write_answer(L);
    if (interrupter) interrupter->prompting(true);
  }
  if (interrupter) interrupter->lend_terminal(false);
  if (given == QUIT) interrupter->quit();
  return 0;
}
