/// The module luv: its callbacks are called by a host, which reports their errors.
#ifndef CLUA_LUV_H
#define CLUA_LUV_H

#include "clua.h"

/// Has the callbacks of luv, of which the value at `function` is a function, called with tracebacks
/// from now on. Their errors are handed to the function at `reporter`, with the error and the place
/// where the callback was defined, instead of ending the process. Nothing changes where the module
/// has no functions for that. [-0, +(0|1), -]
int clua_try_joinluv(lua_State *L, int function, int reporter);
/// How many callbacks of luv were called, in all states of this thread.
unsigned long clua_luvcalls(void);
/// Whether callbacks of luv on this thread are left out: the state is about to close.
void clua_silenceluv(bool silent);
/// Errors of callbacks are dropped from now on: the state is about to close. [-0, +(0|1), -]
int clua_try_leaveluv(lua_State *L);

#endif
