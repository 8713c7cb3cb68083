/// C functions for a stand-alone interpreter: operations that may raise, and the C streams.
#ifndef CCL_COMMANDLINE_H
#define CCL_COMMANDLINE_H

#include "clua.h"

/* ---- Arguments ------------------------------------------------------------------------------- */

/// The arguments of the process, starting with its name. Swift's `CommandLine` reads them from the
/// file system of processes, which may not be mounted if the process has its own root folder.
int ccl_argumentcount(void);
char **ccl_arguments(void);
/// The same arguments, unchanged: the program may change the array of ccl_arguments.
char *const *ccl_givenarguments(void);

/* ---- Text ------------------------------------------------------------------------------------ */

/// The line that `lua -v` prints.
const char *ccl_copyright(void);
/// Flushes the standard output and errors, and no files of scripts.
void ccl_flushoutput(void);
/// Writes `text` to the standard output, and flushes it.
void ccl_writeoutput(const char *text);
/// Whether the entire standard output was written; otherwise reports the failure.
bool ccl_checkoutput(const char *name);
/// Writes bytes to the standard output, and flushes it.
void ccl_writebytes(const char *bytes, size_t count);
/// Writes "name: message" and a line break to the standard error; omits a NULL name.
void ccl_writeerror(const char *name, const char *message);
/// Writes the error on top of the stack to the standard error, after `name`. [-1, +0, -]
void ccl_writeraised(lua_State *L, const char *name);

/* ---- Chunks ---------------------------------------------------------------------------------- */

/// Loads a file, or the standard input if `name` is NULL; status as luaL_loadfile. [-0, +1, -]
int ccl_loadfile(lua_State *L, const char *name);

/// The text of a file, or the operation that failed.
typedef struct ccl_text {
  char *bytes;
  size_t count;
  const char *failed;  // "open" or "read"; NULL on success
  int error;
} ccl_text;

/// Reads a file, or the standard input if `name` is NULL, up to one byte more than `limit`.
ccl_text ccl_readtext(const char *name, size_t limit);
/// Loads text from ccl_readtext like ccl_loadfile, and frees it; bytecode and more than `limit`
/// bytes are errors. [-0, +1, -]
int ccl_loadtext(lua_State *L, const char *name, ccl_text text, size_t limit);

/// Calls the function under the top `nargs` values; status as lua_pcall. An error becomes a message
/// with a traceback, or nil for an interruption that was already reported.
/// [-(nargs + 1), +(nresults|1), -]
int ccl_calltraced(lua_State *L, int nargs, int nresults);

/* ---- C functions to call with clua_protect --------------------------------------------------- */

/// Sets LUA_NOENV, so that the libraries ignore the environment. () -> ()
int ccl_ignoreenvironment(lua_State *L);
/// Opens the standard libraries. () -> ()
int ccl_openlibraries(lua_State *L);
/// Sets a function that `os.exit` calls before it ends the process; NULL for none.
void ccl_callbeforeexit(void (*callback)(void));
/// Sets the global `arg`. (light userdata argv, argc, index of the script) -> ()
int ccl_setarguments(lua_State *L);
/// Returns arg[1] to arg[#arg]. () -> (…)
int ccl_scriptarguments(lua_State *L);
/// Returns the function that calls `require`, and its argument. (light userdata module name) ->
/// (function, string)
int ccl_requirecall(lua_State *L);
/// Sets the global with this name. (value, light userdata name) -> ()
int ccl_setglobal(lua_State *L);
/// Returns the text of the prompt in this global, or nil. (light userdata name) -> (text or nil)
int ccl_prompt(lua_State *L);
/// Returns the global `print`. () -> (value)
int ccl_getprint(lua_State *L);
/// Raises the error that the stack has no room for the results of a line. () -> ()
int ccl_toomanyresults(lua_State *L);
/// Returns the message that `print` failed. (message) -> (text)
int ccl_printfailed(lua_State *L);
/// Returns a list of the names in a folder; names of folders end with a slash. The list is empty if
/// the folder cannot be read. (path) -> (list)
int ccl_listfolder(lua_State *L);
/// Returns the global variables of the prompt: the globals of scripts, and the module, which only
/// the prompt has as a global. (module) -> (table)
int ccl_promptglobals(lua_State *L);

#endif
