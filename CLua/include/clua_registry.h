/// Tables held by the registry for the host, and cycles of the collector.
#ifndef CLUA_REGISTRY_H
#define CLUA_REGISTRY_H

#include "clua.h"

/// Makes a table that the registry holds under `reference`. [-0, +(0|1), -]
int clua_try_maketable(lua_State *L, int *reference);
/// Makes a table with weak values that the registry holds under `reference`. [-0, +(0|1), -]
int clua_try_makeweak(lua_State *L, int *reference);
/// Removes a table from the registry. [-0, +0, -]
void clua_dropreference(lua_State *L, int reference);
/// Calls `function` from a finalizer whenever a cycle of the collector ends: it must not run Lua
/// code. [-0, +(0|1), -]
int clua_try_watchcollector(lua_State *L, clua_finalizer function, void *context);
/// Collects all garbage; errors of finalizers become warnings. [-0, +0, -]
void clua_collect(lua_State *L);

#endif
