#include "ccl_commandline.h"

#include "ccl_interruption.h"
#include "clua_errors.h"
#include "clua_guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Text ------------------------------------------------------------------------------------ */

const char *ccl_copyright(void) { return LUA_COPYRIGHT; }

const char *ccl_release(void) { return LUA_RELEASE; }

void ccl_writeoutput(const char *text) {
  fputs(text, stdout);
  fflush(stdout);
}

void ccl_writeerror(const char *name, const char *message) {
  if (name) fprintf(stderr, "%s: ", name);
  fprintf(stderr, "%s\n", message);
  fflush(stderr);
}

static int to_text(lua_State *L) {
  lua_tostring(L, 1);
  return 1;
}

void ccl_writeraised(lua_State *L, const char *name) {
  if (lua_type(L, -1) == LUA_TNUMBER) clua_protect(L, to_text, 1, 1);
  const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  ccl_writeerror(name, message ? message : "(error object is not a string)");
  lua_pop(L, 1);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static int load_file(lua_State *L) {
  int status = luaL_loadfile(L, lua_touserdata(L, 1));
  lua_pushinteger(L, status);
  return 2;
}

int ccl_loadfile(lua_State *L, const char *name) {
  lua_pushlightuserdata(L, (void *)name);
  int status = clua_protect(L, load_file, 1, 2);
  if (status != LUA_OK) return status;
  status = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return status;
}

static int add_traceback(lua_State *L) {
  char text[CLUA_STOP_MESSAGE_SIZE];
  if (clua_isstop(L, 1)) {
    clua_stopmessage(clua_guard_of(L), text);
    lua_pushstring(L, text);
    lua_replace(L, 1);
  }
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

int ccl_calltraced(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  ccl_beginchunk();
  int status = clua_guardedcall(L, nargs, nresults, base);
  // A number as an error is no message of a loader.
  bool is_text = status != LUA_OK && lua_type(L, -1) == LUA_TSTRING;
  bool is_new = ccl_endchunk(is_text ? lua_tostring(L, -1) : NULL);
  if (!is_new) {
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  lua_remove(L, base);
  return status;
}

/* ---- C functions to be called with clua_protect ---------------------------------------------- */

int ccl_ignoreenvironment(lua_State *L) {
  lua_pushboolean(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  return 0;
}

int ccl_openlibraries(lua_State *L) {
  luaL_checkversion(L);
  luaL_openlibs(L);
  return 0;
}

int ccl_setarguments(lua_State *L) {
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

int ccl_outofmemory(lua_State *L) { return luaL_error(L, "not enough memory"); }

int ccl_scriptarguments(lua_State *L) {
  if (lua_getglobal(L, "arg") != LUA_TTABLE) return luaL_error(L, "'arg' is not a table");
  int table = lua_gettop(L);
  int count = (int)luaL_len(L, table);
  luaL_checkstack(L, count + 3, "too many arguments to script");
  for (int i = 1; i <= count; i++) lua_rawgeti(L, table, i);
  return count;
}

int ccl_requirecall(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushstring(L, lua_touserdata(L, 1));
  return 2;
}

int ccl_setglobal(lua_State *L) {
  const char *name = lua_touserdata(L, 2);
  lua_settop(L, 1);
  lua_setglobal(L, name);
  return 0;
}

int ccl_prompt(lua_State *L) {
  if (lua_getglobal(L, lua_touserdata(L, 1)) != LUA_TNIL) luaL_tolstring(L, -1, NULL);
  return 1;
}

int ccl_getprint(lua_State *L) {
  lua_getglobal(L, "print");
  return 1;
}

int ccl_toomanyresults(lua_State *L) {
  return luaL_error(L, "stack overflow (too many results to print)");
}

int ccl_printfailed(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  lua_pushfstring(L, "error calling 'print' (%s)", message);
  return 1;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/// The functions and variables of the line editor; NULL where there is none.
static struct editor {
  char *(*read)(const char *prompt);
  void (*remember)(const char *line);
  int *is_done;
  void (*set_signals)(void);
  void (*clear_signals)(void);
  void (*check_signals)(void);
  int (*get)(FILE *stream);
  int (**event_hook)(void);
} editor;

/// Milliseconds between two checks for signals.
enum { LOOK_AGAIN = 100 };

static ccl_idle_function idle_function;
static void *idle_context;

static bool is_readline(void) { return editor.set_signals && editor.clear_signals; }

/* Ends the line that is typed where a signal asks to. */
static bool end_line(void) {
  if (!ccl_isasked()) return false;
  if (editor.is_done) *editor.is_done = 1;
  // Other editors take it for the end of the input when the hook is gone.
  if (!is_readline() && editor.event_hook) *editor.event_hook = NULL;
  return true;
}

/* Called some ten times a second while a line is awaited. */
static int idle(void) {
  if (end_line()) return 0;
  if (idle_function && is_readline()) {
    // The editor's handlers delay signals: a callback may need one at once.
    editor.clear_signals();
    idle_function(idle_context);
    editor.set_signals();
  } else if (idle_function) {
    idle_function(idle_context);
  }
  if (!end_line() && !is_readline()) {
    // Other editors call the hook again at once.
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    poll(&input, 1, LOOK_AGAIN);
    end_line();
  }
  return 0;
}

/* Waits for a byte of an input that is no terminal, or for a signal that ends the line. */
static int get_byte(FILE *stream) {
  for (;;) {
    struct pollfd input = {.fd = fileno(stream), .events = POLLIN};
    int ready = poll(&input, 1, LOOK_AGAIN);
    if (editor.check_signals) editor.check_signals();
    if (end_line()) return '\n';
    if (ready > 0 || (ready < 0 && errno != EINTR)) return editor.get(stream);
  }
}

void ccl_setidle(ccl_idle_function function, void *context) {
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
  for (size_t i = 0; i < sizeof names / sizeof *names && !editor.read; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const char **name = dlsym(library, "rl_readline_name");
    if (name) *name = "lua";
    *(void **)&editor.remember = dlsym(library, "add_history");
    *(void **)&editor.read = dlsym(library, "readline");
    *(void **)&editor.set_signals = dlsym(library, "rl_set_signals");
    *(void **)&editor.clear_signals = dlsym(library, "rl_clear_signals");
    *(void **)&editor.check_signals = dlsym(library, "rl_check_signals");
    *(void **)&editor.get = dlsym(library, "rl_getc");
    editor.is_done = dlsym(library, "rl_done");
    // At the end of an input that is no terminal, readline would call the hook for ever.
    int (**get)(FILE *) = dlsym(library, "rl_getc_function");
    if (isatty(STDIN_FILENO)) editor.event_hook = dlsym(library, "rl_event_hook");
    else if (get && editor.get) *get = get_byte;
  }
}

static char *read_plain_line(const char *prompt) {
  ccl_writeoutput(prompt);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = ccl_awaitinput(stdin) ? getline(&line, &capacity, stdin) : -1;
  if (length < 0) {
    // A signal does not end the input.
    if (!feof(stdin)) clearerr(stdin);
    free(line);
    return NULL;
  }
  if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
  return line;
}

ccl_line ccl_readline(const char *prompt, char **line) {
  static bool looked;
  if (!looked) find_editor();
  looked = true;
  if (editor.event_hook) *editor.event_hook = idle;
  *line = editor.read ? editor.read(prompt) : read_plain_line(prompt);
  if (!ccl_isasked()) return *line ? CCL_LINE_READ : CCL_LINE_END;
  free(*line);
  *line = NULL;
  if (ccl_settle()) return CCL_LINE_END;
  // The typed text stays on the screen; the next prompt is below it.
  if (!is_readline()) ccl_writeoutput("\n");
  return CCL_LINE_DROPPED;
}

void ccl_addhistory(const char *line) {
  if (editor.remember) editor.remember(line);
}
