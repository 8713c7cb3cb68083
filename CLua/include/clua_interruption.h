/// What ends a stand-alone interpreter: signals and the time limit. A signal handler may only set
/// the hook of a state, so the interruption is raised by that, in the coroutine that runs.
///
/// There is one interpreter in a process. In any other program no function here has an effect but
/// `clua_resume`, which resumes.
#ifndef CLUA_INTERRUPTION_H
#define CLUA_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/* ---- Coroutines ------------------------------------------------------------------------------ */

/// As lua_resume: an interruption that comes meanwhile is raised in the coroutine, and what it has
/// not met there goes on in `from`.
int clua_resume(lua_State *thread, lua_State *from, int nargs, int *nresults);
/// As lua_resetthread, likewise.
int clua_resetthread(lua_State *thread, lua_State *from);

/* ---- What the program is at ------------------------------------------------------------------ */

/// What runs in `L` may be interrupted from now on, on this thread.
void clua_beginstate(lua_State *L);
/// From `seconds` on what runs is stopped by an error that names the limit as `text` says. When it
/// does not stop within a second, the process ends with status 124, and if no code was stopped it
/// writes the same to the standard error, after `name`.
void clua_limittime(double seconds, const char *text, const char *name);
/// Around a chunk of a script. Until clua_beginorder, SIGINT does in it what it does in `lua`: it
/// raises "interrupted!", and the second one kills. `message` is that of the error that ended it,
/// or NULL; false where it is an interruption that was reported already.
void clua_beginchunk(void);
bool clua_endchunk(const char *message);
/// The script uses the loop: SIGINT, SIGTERM and SIGHUP end the program in order from now on.
void clua_beginorder(void);
/// Lines are asked for, until clua_endprompt: SIGINT ends the line that is typed or runs, and no
/// more.
void clua_beginprompt(void);
void clua_endprompt(void);
/// What the script wants to be run at its end comes now. False where a second signal asks to skip
/// it.
bool clua_beginexit(void);
/// To be called before a state is closed: no signal touches it any more.
void clua_forgetstate(void);

/* ---- What signals ask for -------------------------------------------------------------------- */

/// A descriptor that becomes readable when a signal has come or the time limit has passed; -1 if
/// there is none left.
int clua_wakedescriptor(void);
/// No code of the script is running: an interruption that none has met is over, and so is one that
/// was caught. Returns whether the program is to end.
bool clua_settle(void);
/// The status with which the process was asked to end: 0 if it wasn't, 128 + signal, 124.
int clua_exitrequest(void);
/// Whether a signal has come that nothing has answered yet.
bool clua_isasked(void);
/// Whether a second signal, or the time limit of the end, asks to leave out what is left to do.
bool clua_ishurried(void);
/// Waits until the stream can be read, or until a signal has come that is not answered: false then.
bool clua_awaitinput(FILE *stream);
/// Ends the program in order, as a SIGINT that cannot be caught does; at the prompt the line.
void clua_quit(void);

/// What an error has to do with interruptions.
typedef enum clua_interruption {
  CLUA_ORDINARY,
  CLUA_INTERRUPTED,
  CLUA_INTERRUPTED_AGAIN,  // one more callback ended by what was reported already
} clua_interruption;

/// Nobody has caught an error with this message. The first that comes of an interruption is
/// answered by the end of the program. Where a script called what was interrupted, it is
/// interrupted, too.
clua_interruption clua_uncaught(const char *message);

/* ---- A prompt inside of a program ------------------------------------------------------------ */

/// Asks for Lua statements and runs them, as `debug.debug` does, until "cont" or the end of the
/// input. SIGINT while it waits ends the program. () -> ()
int clua_debugprompt(lua_State *L);

#endif
