/// Calls with tracebacks, and functions that call others.
#ifndef CLUA_CALLS_H
#define CLUA_CALLS_H

#include "clua.h"

/// As lua_pcall, with the message handler that keeps a traceback. [-(nargs + 1), +(nresults|1), -]
int clua_tracedcall(lua_State *L, int nargs, int nresults);
/// A function for scripts: calls its first argument with the others, without letting it yield.
int clua_callplainly(lua_State *L);
/// (function) -> a C function, which calls it if it is none itself. A tail call of that keeps the
/// frame of the code that makes it, whose line errors name.
int clua_outer(lua_State *L);
/// (function of clua_outer, other function): the first one calls the other one from then on. Does
/// nothing for a C function, which clua_outer leaves as it is.
int clua_redirect(lua_State *L);
/// Pushes a traceback of the running coroutine, protected. [-0, +1, -]
int clua_try_traceback(lua_State *L, int level);

#endif
