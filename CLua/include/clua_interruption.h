/// Where a program that interrupts what runs, as a stand-alone interpreter does on a signal, takes
/// part: it says how by clua_setinterrupter. In any other program nothing is interrupted.
#ifndef CLUA_INTERRUPTION_H
#define CLUA_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/// What an error has to do with interruptions.
typedef enum clua_interruption {
  CLUA_ORDINARY,
  CLUA_INTERRUPTED,
  CLUA_INTERRUPTED_AGAIN,  // one more callback ended by what was reported already
} clua_interruption;

/// What such a program does. It has all of these.
typedef struct clua_interrupter {
  /// `thread` is about to run. Returns what has run until now, for `left`.
  lua_State *(*entering)(lua_State *thread);
  /// It does no more: `from` goes on.
  void (*left)(lua_State *outer, lua_State *thread, lua_State *from);
  /// No code has caught an error with this message: see clua_uncaught.
  clua_interruption (*uncaught)(const char *message);
  /// Whether what is left to do at the end of the program is to be left out.
  bool (*is_hurried)(void);
  /// A prompt inside of a script is about to ask, or has run a statement: what was caught is over.
  void (*prompting)(bool has_run);
  /// Waits until the stream can be read; false when there was a signal before.
  bool (*await_input)(FILE *stream);
  /// The prompt was left by a signal.
  void (*quit)(void);
} clua_interrupter;

/// To be called once, before other threads run Lua. The argument is kept.
void clua_setinterrupter(const clua_interrupter *interrupter);

/// As lua_resume: an interruption that comes meanwhile is raised in the coroutine, and what it has
/// not met there goes on in `from`.
int clua_resume(lua_State *thread, lua_State *from, int nargs, int *nresults);
/// As lua_resetthread, likewise.
int clua_resetthread(lua_State *thread, lua_State *from);

/// No code has caught an error with this message. The first that comes of an interruption is
/// answered by the end of the program. Where a script called what was interrupted, it is
/// interrupted, too.
clua_interruption clua_uncaught(const char *message);
/// Whether what is left to do at the end of the program is to be left out.
bool clua_ishurried(void);

/// Asks for Lua statements and runs them, as `debug.debug` does, until "cont" or the end of the
/// input. SIGINT while it waits ends a program that can be interrupted. () -> ()
int clua_debugprompt(lua_State *L);

#endif
