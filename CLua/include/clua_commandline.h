/// What a stand-alone interpreter needs of C: operations that may raise, the C streams, and the
/// line editor that is looked for when the prompt starts.
#ifndef CLUA_COMMANDLINE_H
#define CLUA_COMMANDLINE_H

#include "clua.h"

/* ---- Text ------------------------------------------------------------------------------------ */

/// The line that `lua -v` prints.
const char *clua_copyright(void);
/// The release of Lua that this was compiled for, as in "Lua 5.4.4".
const char *clua_release(void);
/// Writes `text` to the standard output, and flushes it.
void clua_writeoutput(const char *text);
/// Writes "name: message" and a line break to the standard error; without the name when it is NULL.
void clua_writeerror(const char *name, const char *message);
/// Writes the error on top of the stack to the standard error, with `name` before it. [-1, +0, -]
void clua_writeraised(lua_State *L, const char *name);

/* ---- Chunks ---------------------------------------------------------------------------------- */

/// Loads a file, or the standard input when `name` is NULL; status as luaL_loadfile. [-0, +1, -]
int clua_loadfile(lua_State *L, const char *name);

/// Calls the function under the top `nargs` values; status as lua_pcall. An error becomes a message
/// with a traceback; nil where it is an interruption that was reported already.
/// [-(nargs + 1), +(nresults|1), -]
int clua_calltraced(lua_State *L, int nargs, int nresults);

/* ---- C functions to be called with clua_protect ------------------------------------------------ */

/// Sets LUA_NOENV, so that the libraries ignore the environment. () -> ()
int clua_ignoreenvironment(lua_State *L);
/// Opens the standard libraries. () -> ()
int clua_openlibraries(lua_State *L);
/// Sets the global `arg`. (light userdata argv, argc, index of the script) -> ()
int clua_setarguments(lua_State *L);
/// Raises that there is no memory. () -> ()
int clua_outofmemory(lua_State *L);
/// Returns arg[1] to arg[#arg]. () -> (…)
int clua_scriptarguments(lua_State *L);
/// Returns what calls `require`. (light userdata module name) -> (function, string)
int clua_requirecall(lua_State *L);
/// Sets the global of that name. (value, light userdata name) -> ()
int clua_setglobal(lua_State *L);
/// Returns the text of the prompt in that global, or nil. (light userdata name) -> (text or nil)
int clua_prompt(lua_State *L);
/// Returns the global `print`. () -> (value)
int clua_getprint(lua_State *L);
/// Raises the error that the stack has no room for the results of a line. () -> ()
int clua_toomanyresults(lua_State *L);
/// Says that `print` failed. (message) -> (text)
int clua_printfailed(lua_State *L);

/* ---- Lines ------------------------------------------------------------------------------------- */

typedef enum clua_line {
  CLUA_LINE_READ,
  CLUA_LINE_END,      // of the input, or a signal ends the program
  CLUA_LINE_DROPPED,  // SIGINT: what was typed is dropped
} clua_line;

/// Reads a line from the standard input, with line editing where a library for it is installed. The
/// caller frees it.
clua_line clua_readline(const char *prompt, char **line);
/// Has `function` called again and again while `clua_readline` waits, where there is line editing;
/// NULL for nothing.
typedef void (*clua_idle_function)(void *context);
void clua_setidle(clua_idle_function function, void *context);
/// Appends a line to the history of the line editor.
void clua_addhistory(const char *line);

#endif
