/// The module luv: a host calls its callbacks and reports their errors.
#ifndef CLUA_LUV_H
#define CLUA_LUV_H

#include "clua.h"

/// Makes luv call its callbacks with tracebacks. The value at `function` is any function of luv. An
/// error goes to the function at `reporter`, with the place where the callback was defined, instead
/// of ending the process. Does nothing if the module lacks the functions for this. [-0, +(0|1), -]
int clua_try_joinluv(lua_State *L, int function, int reporter);
/// The number of luv callbacks called, in all states of this thread.
unsigned long clua_luvcalls(void);
/// Sets whether callbacks of luv on this thread are skipped: the state is about to close.
void clua_silenceluv(bool silent);
/// Drops errors of callbacks from now on: the state is about to close. [-0, +(0|1), -]
int clua_try_leaveluv(lua_State *L);

#endif
