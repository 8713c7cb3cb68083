/// Watchers and getters, which cannot yield, and the functions for coroutines of scripts, which
/// take account of that.
#ifndef CLUA_COROUTINES_H
#define CLUA_COROUTINES_H

#include "clua.h"

/// As clua_tracedcall for a watcher's callback, in which a yield is an error that says so (T12).
int clua_watchercall(lua_State *L, int nargs, int nresults);
/// As lua_pcall for the getter of a lazy property, where the same holds.
int clua_gettercall(lua_State *L, int nargs, int nresults, int handler);
/// Calls the function that the node of the table in `slot` of the table of anchors keeps under
/// `key`, with that table and nil, as clua_tracedcall does. Needs eight free slots. [-0, +(0|1), -]
int clua_callkept(lua_State *L, int anchors, int slot, lua_Integer key);
/// Replaces functions of `coroutine`: `yield` by one that checks for watchers, those that run a
/// coroutine by ones that handle getters and interruptions. [-0, +(0|1), -]
int clua_try_watchyields(lua_State *L);

#endif
