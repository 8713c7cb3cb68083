/// Watchers and getters, which cannot yield, and functions for coroutines of scripts that respect
/// this.
#ifndef CLUA_COROUTINES_H
#define CLUA_COROUTINES_H

#include "clua.h"

/// Like clua_tracedcall for a watcher's callback, in which a yield raises an error about this
/// (T12).
int clua_watchercall(lua_State *L, int nargs, int nresults);
/// Like lua_pcall for the getter of a lazy property, with the same error.
int clua_gettercall(lua_State *L, int nargs, int nresults, int handler);
/// Calls a function kept by the node of the table in `slot` of the table of anchors, under `key`,
/// with that table and nil, like clua_tracedcall. Needs eight free slots. [-0, +(0|1), -]
int clua_callkept(lua_State *L, int anchors, int slot, lua_Integer key);
/// Replaces functions of `coroutine`: the new `yield` checks for watchers, and the new functions
/// that run coroutines handle getters and interruptions. [-0, +(0|1), -]
int clua_try_watchyields(lua_State *L);

#endif
