/// Calls with tracebacks, and functions that call other functions.
#ifndef CLUA_CALLS_H
#define CLUA_CALLS_H

#include "clua.h"

/// Like lua_pcall, with the handler that keeps a traceback. [-(nargs + 1), +(nresults|1), -]
int clua_tracedcall(lua_State *L, int nargs, int nresults);
/// A function for scripts: calls its first argument with the rest, without letting it yield.
int clua_callplainly(lua_State *L);
/// Raises an error if the running function got more than `most` arguments; nil counts as none.
/// `objects` is 1 for a method, whose object has no number in the error, and otherwise 0.
/// [-0, +0, v]
void clua_refuserest(lua_State *L, int most, int objects, const char *name);
/// (function, name, objects) -> a C function that calls it, and refuses arguments that it does not
/// take; a C function is returned unchanged. A tail call of the result keeps the caller's frame, so
/// errors name its line.
int clua_outer(lua_State *L);
/// (function of clua_outer, other function, most): makes the first one call the other one from now
/// on, with at most `most` arguments if this is a number. Does nothing for a C function, which
/// clua_outer returns unchanged.
int clua_redirect(lua_State *L);
/// Pushes a traceback of the running coroutine, protected. [-0, +1, -]
int clua_try_traceback(lua_State *L, int level);

#endif
