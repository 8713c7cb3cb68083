/// The hooks of a program that interrupts running scripts, as a stand-alone interpreter does on a
/// signal; it sets them by clua_setinterrupter. In any other program nothing is interrupted.
#ifndef CLUA_INTERRUPTION_H
#define CLUA_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/// Whether an error comes from an interruption.
typedef enum clua_interruption {
  CLUA_ORDINARY,
  CLUA_INTERRUPTED,
  CLUA_INTERRUPTED_AGAIN,  // one more callback that was ended by a reported interruption
} clua_interruption;

/// The functions of such a program, all of which it has to set.
typedef struct clua_interrupter {
  /// `thread` is about to run. Returns the thread that has run until now, for `left`.
  lua_State *(*entering)(lua_State *thread);
  /// `thread` does not run any more: `from` goes on.
  void (*left)(lua_State *outer, lua_State *thread, lua_State *from);
  /// No code has caught an error with this message: see clua_uncaught.
  clua_interruption (*uncaught)(const char *message);
  /// Whether the work at the end of the program is to be skipped.
  bool (*is_hurried)(void);
  /// A prompt inside of a script is about to ask, or has run a statement: an interruption that was
  /// caught is over.
  void (*prompting)(bool has_run);
  /// Waits until the stream can be read; false when there was a signal before.
  bool (*await_input)(FILE *stream);
  /// The prompt was left by a signal.
  void (*quit)(void);
  /// A prompt inside of a script begins or ceases to read lines from a terminal.
  void (*lend_terminal)(bool is_lent);
} clua_interrupter;

/// Sets the hooks. To be called once, before other threads run Lua. The argument is kept.
void clua_setinterrupter(const clua_interrupter *interrupter);

/// As lua_resume: an interruption that comes meanwhile is raised in the coroutine, and if that has
/// ended before, in `from`.
int clua_resume(lua_State *thread, lua_State *from, int nargs, int *nresults);
/// As lua_resetthread, with interruptions as in clua_resume.
int clua_resetthread(lua_State *thread, lua_State *from);

/// No code has caught an error with this message. The first such error that comes from an
/// interruption ends the program. Where a script called the interrupted code, the script is
/// interrupted, too.
clua_interruption clua_uncaught(const char *message);
/// Whether the work at the end of the program is to be skipped.
bool clua_ishurried(void);

/// Asks for lines and calls the function with each, as `debug.debug` runs them, until "cont" or the
/// end of the input; a text that it returns is written. SIGINT while it waits ends a program that
/// can be interrupted. (function) -> ()
int clua_debugprompt(lua_State *L);

#endif
