/// The end of a stand-alone interpreter by signals and the time limit. A signal handler may only
/// set the hook of a state, so the interruption is raised by that, in the coroutine that runs.
///
/// There is one interpreter in a process; it sets its hooks by clua_setinterrupter.
#ifndef CCL_INTERRUPTION_H
#define CCL_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/* ---- What the program is at ------------------------------------------------------------------ */

/// Makes code that runs in `L` interruptible from now on, on this thread.
void ccl_beginstate(lua_State *L);
/// After `seconds` running code is stopped by an error that names the limit as `text` says. When it
/// does not stop within a second, the process ends with status 124, and if no code was stopped it
/// writes the same to the standard error, after `name`.
void ccl_limittime(double seconds, const char *text, const char *name);
/// These are called around a chunk of a script. Until ccl_beginorder, SIGINT has the effect in it
/// that it has in `lua`: it raises "interrupted!", and the second one kills. `message` is that of
/// the error that ended it, or NULL; false where it is an interruption that was reported already.
void ccl_beginchunk(void);
bool ccl_endchunk(const char *message);
/// The script uses the loop: SIGINT, SIGTERM and SIGHUP end the program in order from now on.
void ccl_beginorder(void);
/// Signals that do what the system does with them, as others have handled them meanwhile and do no
/// more, end the program in order again, if it was so.
void ccl_restoresignals(void);
/// Lines are asked for, until ccl_endprompt: SIGINT ends the line that is typed or runs, and
/// nothing else.
void ccl_beginprompt(void);
void ccl_endprompt(void);
/// The functions that the script registered for its end run now. False where a second signal asks
/// to skip them.
bool ccl_beginexit(void);
/// To be called before a state is closed: no signal affects it any more.
void ccl_forgetstate(void);

/* ---- What signals ask for -------------------------------------------------------------------- */

/// A descriptor that becomes readable when a signal has come or the time limit has passed; -1 if
/// there is none left.
int ccl_wakedescriptor(void);
/// No code of the script is running: an interruption that was not raised is over, and so is one
/// that was caught. Returns whether the program is to end.
bool ccl_settle(void);
/// The status with which the process was asked to end: 0 if it wasn't, 128 + signal, 124.
int ccl_exitrequest(void);
/// Whether a signal has come that was not handled yet.
bool ccl_isasked(void);
/// Waits until the stream can be read, or until a signal has come that was not handled: false then.
bool ccl_awaitinput(FILE *stream);

#endif
