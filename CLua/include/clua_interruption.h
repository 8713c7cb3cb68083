/// The hooks by which a program interrupts running scripts, as a stand-alone interpreter does on a
/// signal; set by clua_setinterrupter. In other programs nothing is interrupted.
#ifndef CLUA_INTERRUPTION_H
#define CLUA_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/// Whether an error comes from an interruption.
typedef enum clua_interruption {
  CLUA_ORDINARY,
  CLUA_INTERRUPTED,
  CLUA_INTERRUPTED_AGAIN,  // another callback ended by an interruption that was already reported
} clua_interruption;

/// The functions of such a program; it must set all of them.
typedef struct clua_interrupter {
  /// `thread` is about to run. Returns the previously running thread, for `left`.
  lua_State *(*entering)(lua_State *thread);
  /// `thread` has ceased to run: `from` continues.
  void (*left)(lua_State *outer, lua_State *thread, lua_State *from);
  /// No code has caught an error with this message: see clua_uncaught.
  clua_interruption (*uncaught)(const char *message);
  /// Whether to skip the work at the end of the program.
  bool (*is_hurried)(void);
  /// A prompt inside a script is about to ask, or has run a statement: a caught interruption is
  /// over.
  void (*prompting)(bool has_run);
  /// Waits until the stream can be read; false if a signal comes first.
  bool (*await_input)(FILE *stream);
  /// A signal ended the prompt.
  void (*quit)(void);
  /// A prompt inside a script starts or stops reading lines from a terminal.
  void (*lend_terminal)(bool is_lent);
} clua_interrupter;

/// Sets the hooks. Call this once, before other threads run Lua. The pointer is kept.
void clua_setinterrupter(const clua_interrupter *interrupter);

/// Like lua_resume, but an interruption is raised in the coroutine, or in `from` if the coroutine
/// ended before.
int clua_resume(lua_State *thread, lua_State *from, int nargs, int *nresults);
/// Like lua_resetthread, with interruptions as in clua_resume.
int clua_resetthread(lua_State *thread, lua_State *from);

/// No code has caught an error with this message. The first such error that comes from an
/// interruption ends the program. If a script called the interrupted code, the script is
/// interrupted, too.
clua_interruption clua_uncaught(const char *message);
/// Whether to skip the work at the end of the program.
bool clua_ishurried(void);

/// Reads lines and calls the function with each, as `debug.debug` runs them, until "cont" or the
/// end of the input; writes a text that the function returns. SIGINT during the wait ends a program
/// that can be interrupted. (function) -> ()
int clua_debugprompt(lua_State *L);

#endif
