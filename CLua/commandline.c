#include "clua_commandline.h"

#include "clua_errors.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { STATUS_TIMEOUT = 124, STATUS_SIGNAL = 128 };

/* ---- Text ------------------------------------------------------------------------------------ */

const char *clua_copyright(void) { return LUA_COPYRIGHT; }

const char *clua_release(void) { return LUA_RELEASE; }

void clua_writeoutput(const char *text) {
  fputs(text, stdout);
  fflush(stdout);
}

void clua_writeerror(const char *name, const char *message) {
  if (name) fprintf(stderr, "%s: ", name);
  fprintf(stderr, "%s\n", message);
  fflush(stderr);
}

static int to_text(lua_State *L) {
  lua_tostring(L, 1);
  return 1;
}

void clua_writeraised(lua_State *L, const char *name) {
  if (lua_type(L, -1) == LUA_TNUMBER) clua_protect(L, to_text, 1, 1);
  const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  clua_writeerror(name, message ? message : "(error object is not a string)");
  lua_pop(L, 1);
}

/* ---- Signals and the time limit ---------------------------------------------------------------- */

static lua_State *volatile running;
static volatile sig_atomic_t requested;
static const char *limit = "";
static char last_words[512];
static int wake[2] = {-1, -1};

static void on_signal(int signal, void (*handler)(int)) {
  struct sigaction action;
  action.sa_handler = handler;
  action.sa_flags = 0;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

static const int EVERYWHERE = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;

static void raise_interrupted(lua_State *L, lua_Debug *activation) {
  (void)activation;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

/* A state can't be changed from a signal handler, except for its hook. */
static void interrupt(int signal) {
  on_signal(signal, SIG_DFL);
  lua_sethook(running, raise_interrupted, EVERYWHERE, 1);
}

/* Stays in place, so that a `pcall` doesn't outlive the limit. */
static void raise_timeout(lua_State *L, lua_Debug *activation) {
  (void)activation;
  last_words[0] = '\0';
  luaL_where(L, 0);
  lua_pushfstring(L, "timed out (--timeout=%s)", limit);
  lua_concat(L, 2);
  lua_error(L);
}

static void note(int status) {
  if (!requested) requested = status;
  if (wake[1] >= 0) {
    ssize_t written = write(wake[1], "", 1);
    (void)written;  // a full pipe is readable already
  }
}

static void note_signal(int signal) {
  on_signal(signal, SIG_DFL);
  note(STATUS_SIGNAL + signal);
}

static void expire(int signal) {
  (void)signal;
  if (requested == STATUS_TIMEOUT) {
    ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)written;  // nowhere left to report to
    _exit(STATUS_TIMEOUT);
  }
  requested = STATUS_TIMEOUT;
  note(STATUS_TIMEOUT);
  if (running) lua_sethook(running, raise_timeout, EVERYWHERE, 1);
  struct itimerval last = {.it_value = {.tv_sec = 1}};
  setitimer(ITIMER_REAL, &last, NULL);
}

void clua_limittime(lua_State *L, double seconds, const char *text, const char *name) {
  limit = text;
  snprintf(last_words, sizeof last_words, "%s: timed out (--timeout=%s)\n", name, text);
  running = L;
  on_signal(SIGALRM, expire);
  long whole = (long)seconds;
  long rest = (long)((seconds - (double)whole) * 1e6);
  struct itimerval timer = {.it_value = {.tv_sec = whole, .tv_usec = whole || rest ? rest : 1}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void clua_forgetstate(void) { running = NULL; }

/* Where a standard stream is closed, its number must stay free. */
static void open_wake(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  for (int end = 0; end < 2; end++) {
    wake[end] = fcntl(ends[end], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fcntl(wake[end], F_SETFL, O_NONBLOCK);
    close(ends[end]);
  }
  if (requested) note(requested);
}

int clua_beginloop(void) {
  if (wake[0] < 0) open_wake();
  on_signal(SIGINT, note_signal);
  on_signal(SIGTERM, note_signal);
  return wake[0];
}

void clua_endloop(void) {
  on_signal(SIGINT, SIG_DFL);
  on_signal(SIGTERM, SIG_DFL);
}

int clua_exitrequest(void) { return requested; }

/* ---- Chunks ---------------------------------------------------------------------------------- */

static int load_file(lua_State *L) {
  int status = luaL_loadfile(L, lua_touserdata(L, 1));
  lua_pushinteger(L, status);
  return 2;
}

int clua_loadfile(lua_State *L, const char *name) {
  lua_pushlightuserdata(L, (void *)name);
  int status = clua_protect(L, load_file, 1, 2);
  if (status != LUA_OK) return status;
  status = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return status;
}

static int add_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
    message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  lua_pushfstring(L, "%s\n", message);
  luaL_traceback(L, L, NULL, 1);
  clua_addinner(L, 1);
  lua_concat(L, 2);
  return 1;
}

int clua_calltraced(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  running = L;
  on_signal(SIGINT, interrupt);
  int status = lua_pcall(L, nargs, nresults, base);
  on_signal(SIGINT, SIG_DFL);
  if (requested == STATUS_TIMEOUT) lua_sethook(L, NULL, 0, 0);
  lua_remove(L, base);
  return status;
}

/* ---- C functions to be called with clua_protect ------------------------------------------------ */

int clua_ignoreenvironment(lua_State *L) {
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  return 0;
}

int clua_openlibraries(lua_State *L) {
  luaL_checkversion(L);
  luaL_openlibs(L);
  return 0;
}

int clua_setarguments(lua_State *L) {
  char **arguments = lua_touserdata(L, 1);
  int count = (int)lua_tointeger(L, 2);
  int script = (int)lua_tointeger(L, 3);
  lua_createtable(L, count - script, script + 1);
  for (int i = 0; i < count; i++) {
    lua_pushstring(L, arguments[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
  return 0;
}

int clua_outofmemory(lua_State *L) { return luaL_error(L, "not enough memory"); }

int clua_scriptarguments(lua_State *L) {
  if (lua_getglobal(L, "arg") != LUA_TTABLE) return luaL_error(L, "'arg' is not a table");
  int table = lua_gettop(L);
  int count = (int)luaL_len(L, table);
  luaL_checkstack(L, count + 3, "too many arguments to script");
  for (int i = 1; i <= count; i++) lua_rawgeti(L, table, i);
  return count;
}

int clua_requirecall(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushstring(L, lua_touserdata(L, 1));
  return 2;
}

int clua_setglobal(lua_State *L) {
  const char *name = lua_touserdata(L, 2);
  lua_settop(L, 1);
  lua_setglobal(L, name);
  return 0;
}

int clua_prompt(lua_State *L) {
  if (lua_getglobal(L, lua_touserdata(L, 1)) != LUA_TNIL) luaL_tolstring(L, -1, NULL);
  return 1;
}

int clua_getprint(lua_State *L) {
  lua_getglobal(L, "print");
  return 1;
}

int clua_toomanyresults(lua_State *L) {
  return luaL_error(L, "stack overflow (too many results to print)");
}

int clua_printfailed(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  lua_pushfstring(L, "error calling 'print' (%s)", message);
  return 1;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

static char *(*edit_line)(const char *prompt);
static void (*add_history)(const char *line);

static clua_idle_function idle_function;
static void *idle_context;

static int idle(void) {
  if (idle_function != NULL) idle_function(idle_context);
  return 0;
}

void clua_setidle(clua_idle_function function, void *context) {
  idle_function = function;
  idle_context = context;
}

static void find_editor(void) {
  static const char *const names[] = {
#ifdef __APPLE__
      "libedit.dylib",
#else
      "libreadline.so.8", "libedit.so.2",
#endif
  };
  for (size_t i = 0; i < sizeof names / sizeof *names && !edit_line; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const char **name = dlsym(library, "rl_readline_name");
    if (name) *name = "lua";
    *(void **)&add_history = dlsym(library, "add_history");
    *(void **)&edit_line = dlsym(library, "readline");
    // Called some ten times a second while a line is awaited.
    int (**hook)(void) = dlsym(library, "rl_event_hook");
    // At the end of an input that is no terminal, readline would ask for ever.
    if (hook != NULL && isatty(STDIN_FILENO)) *hook = idle;
  }
}

char *clua_readline(const char *prompt) {
  static bool looked;
  if (!looked) find_editor();
  looked = true;
  if (edit_line) return edit_line(prompt);
  clua_writeoutput(prompt);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = getline(&line, &capacity, stdin);
  if (length < 0) {
    free(line);
    return NULL;
  }
  if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
  return line;
}

void clua_addhistory(const char *line) {
  if (add_history) add_history(line);
}
