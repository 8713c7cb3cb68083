#include "ccl_commandline.h"

#include "ccl_interruption.h"
#include "ccl_outside.h"
#include "clua_errors.h"
#include "clua_guard.h"
#include "clua_protected.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

const char *ccl_copyright(void) { return LUA_COPYRIGHT; }

void ccl_flushoutput(void) {
  fflush(stdout);
  fflush(stderr);
}

void ccl_writeoutput(const char *text) {
  fputs(text, stdout);
  fflush(stdout);
}

void ccl_writeerror(const char *name, const char *message) {
  if (name) fprintf(stderr, "%s: ", name);
  fprintf(stderr, "%s\n", message);
  fflush(stderr);
}

bool ccl_checkoutput(const char *name) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  ccl_writeerror(name, "cannot write to the standard output");
  return false;
}

static int to_text(lua_State *L) {
  lua_tostring(L, 1);
  return 1;
}

void ccl_writeraised(lua_State *L, const char *name) {
  char text[CLUA_STOP_MESSAGE_SIZE];
  const char *message = "(error object is not a string)";
  if (lua_type(L, -1) == LUA_TNUMBER) clua_protect(L, to_text, 1, 1);
  if (lua_type(L, -1) == LUA_TSTRING) message = lua_tostring(L, -1);
  // Scripts may be stopped before any of their calls, while they are loaded.
  if (clua_isstop(L, -1)) {
    clua_stopmessage(clua_guard_of(L), text);
    message = text;
  }
  ccl_writeerror(name, message);
  lua_pop(L, 1);
}

void ccl_writebytes(const char *bytes, size_t count) {
  fwrite(bytes, 1, count, stdout);
  fflush(stdout);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static int load_file(lua_State *L) {
  int status = luaL_loadfile(L, lua_touserdata(L, 1));
  lua_pushinteger(L, status);
  return 2;
}

static int load(lua_State *L, lua_CFunction function, int operands) {
  int status = clua_protect(L, function, operands, 2);
  if (status != LUA_OK) return status;
  status = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return status;
}

int ccl_loadfile(lua_State *L, const char *name) {
  lua_pushlightuserdata(L, (void *)name);
  return load(L, load_file, 1);
}

ccl_text ccl_readtext(const char *name, size_t limit) {
  ccl_text text = {.bytes = malloc(limit + 1)};
  if (!text.bytes) return (ccl_text){.failed = "read", .error = ENOMEM};
  ccl_input input = {.about = name};
  // The standard input is watched itself.
  if (name && ccl_takeinput("text", &input)) {
    text.count = input.count <= limit + 1 ? input.count : limit + 1;
    if (text.count > 0) memcpy(text.bytes, input.bytes, text.count);
    text.error = input.error;
    if (text.error) text.failed = input.result ? "read" : "open";
    return text;
  }
  FILE *file = name ? fopen(name, "re") : stdin;
  if (file) text.count = fread(text.bytes, 1, limit + 1, file);
  if (!file || ferror(file)) text.error = errno;
  if (text.error) text.failed = file ? "read" : "open";
  if (file && file != stdin) fclose(file);
  input.result = file != NULL;
  input.error = text.error;
  input.bytes = text.bytes;
  input.count = text.count;
  if (name) ccl_noteinput("text", &input);
  return text;
}

/* (light name, light text, limit) -> chunk or error, status */
static int load_text(lua_State *L) {
  const char *name = lua_touserdata(L, 1), *shown = name ? name : "stdin";
  const ccl_text *text = lua_touserdata(L, 2);
  size_t limit = (size_t)lua_tointeger(L, 3), count = text->count;
  int status = LUA_ERRFILE;
  if (text->failed) {
    lua_pushfstring(L, "cannot %s %s: %s", text->failed, shown, strerror(text->error));
  } else if (count > limit) {
    lua_pushfstring(L, "%s: the chunk is larger than %d bytes", shown, (int)limit);
  } else {
    const char *bytes = clua_skipheading(text->bytes, &count);
    lua_pushfstring(L, name ? "@%s" : "=%s", shown);
    status = clua_loadtext(L, bytes, count, lua_tostring(L, 4), "t");
  }
  lua_pushinteger(L, status);
  return 2;
}

int ccl_loadtext(lua_State *L, const char *name, ccl_text text, size_t limit) {
  lua_pushlightuserdata(L, (void *)name);
  lua_pushlightuserdata(L, &text);
  lua_pushinteger(L, (lua_Integer)limit);
  int status = load(L, load_text, 3);
  free(text.bytes);
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
  if (clua_home_of(L)->restricted) {
    clua_traceback(L, L, 1);
  } else {
    // As `lua` shows it.
    luaL_traceback(L, L, NULL, 1);
    clua_hideown(L);
  }
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
  // A number as an error is not a message of a loader.
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

static lua_CFunction exit_process;  // os.exit
static void (*before_exit)(void);

static int exit_noted(lua_State *L) {
  // First the callback: `os.exit` can close the state.
  if (before_exit) before_exit();
  return exit_process(L);
}

void ccl_callbeforeexit(void (*callback)(void)) { before_exit = callback; }

int ccl_openlibraries(lua_State *L) {
  luaL_checkversion(L);
  luaL_openlibs(L);
  clua_keepmodules(L);
  lua_getglobal(L, "os");
  lua_getfield(L, -1, "exit");
  exit_process = lua_tocfunction(L, -1);
  lua_pushcfunction(L, exit_noted);
  lua_setfield(L, -3, "exit");
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

static int next_name(lua_State *L) {
  DIR *folder = lua_touserdata(L, 1);
  struct dirent *entry = readdir(folder);
  if (!entry) return 0;
  lua_pushfstring(L, "%s%s", entry->d_name, entry->d_type == DT_DIR ? "/" : "");
  return 1;
}

int ccl_listfolder(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  lua_newtable(L);
  DIR *folder = opendir(path);
  if (!folder) return 1;
  // The names are read in a protected call: an error must not leave the folder open.
  int status = LUA_OK;
  for (lua_Integer count = 1; status == LUA_OK; count++) {
    lua_pushcfunction(L, next_name);
    lua_pushlightuserdata(L, folder);
    status = lua_pcall(L, 1, 1, 0);
    if (status != LUA_OK || lua_isnil(L, -1)) break;
    lua_rawseti(L, 2, count);
  }
  closedir(folder);
  if (status != LUA_OK) return lua_error(L);
  lua_settop(L, 2);
  return 1;
}

int ccl_promptglobals(lua_State *L) {
  lua_settop(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setfield(L, 2, "obs");
  lua_createtable(L, 0, 2);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, 2);
  return 1;
}
