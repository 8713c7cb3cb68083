/// Ends a stand-alone interpreter on signals and at the time limit. A signal handler may only set
/// the hook of a state, so the hook raises the interruption in the running coroutine.
///
/// There is one interpreter per process; it sets its hooks with clua_setinterrupter.
#ifndef CCL_INTERRUPTION_H
#define CCL_INTERRUPTION_H

#include "clua.h"

#include <stdio.h>

/* ---- The phase of the program ---------------------------------------------------------------- */

/// Makes code that runs in `L` interruptible on this thread.
void ccl_beginstate(lua_State *L);
/// After `seconds`, stops the running code with an error that names the limit, `text`, or none if
/// it is NULL. If the code
/// does not stop within a second, the process ends with status 124. If no code was stopped, it
/// writes the same to the standard error, after `name`.
void ccl_limittime(double seconds, const char *text, const char *name);
/// Called before and after a chunk of a script. Until ccl_beginorder, SIGINT has the same effect as
/// in `lua`: it raises "interrupted!", and a second one kills. `message` is the message of the
/// error that ended the chunk, or NULL; returns false for an interruption that was already
/// reported.
void ccl_beginchunk(void);
bool ccl_endchunk(const char *message);
/// The script uses the loop: from now on SIGINT, SIGTERM and SIGHUP end the program in order.
void ccl_beginorder(void);
/// If other code has handled signals and has since restored the system's defaults, makes them end
/// the program in order again, unless they never did.
void ccl_restoresignals(void);
/// Called when the prompt starts: until ccl_endprompt, SIGINT only ends the line that is typed or
/// runs.
void ccl_beginprompt(void);
void ccl_endprompt(void);
/// Called before the functions that the script registered for its end. Returns false if a second
/// signal asks to skip them.
bool ccl_beginexit(void);
/// Call this before a state is closed: no signal affects it any more.
void ccl_forgetstate(void);

/* ---- Requests by signals --------------------------------------------------------------------- */

/// A descriptor that becomes readable when a signal has come or the time limit has passed; -1 if it
/// could not be opened.
int ccl_wakedescriptor(void);
/// Called when no code of the script is running: an interruption that was not raised, or was
/// caught, is over. Returns whether the program has to end.
bool ccl_settle(void);
/// The status with which the process was asked to end: 0 if it was not, 128 + signal, 124.
int ccl_exitrequest(void);
/// Asks the process to end with a status, as a signal would.
void ccl_requestexit(int status);
/// Whether a signal has come that was not handled yet.
bool ccl_isasked(void);
/// Whether the stream can be read without waiting.
bool ccl_hasinput(FILE *stream);
/// Waits until the stream can be read; false if an unhandled signal comes first.
bool ccl_awaitinput(FILE *stream);

#endif
