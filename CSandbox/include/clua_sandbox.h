/// Libraries for scripts that nobody trusts, and environments of their own for several of them.
#ifndef CLUA_SANDBOX_H
#define CLUA_SANDBOX_H

#include "clua.h"

/// Takes out of the libraries that are open what reaches outside of the state, what crashes Lua
/// 5.4, and what scripts could go on with after they were stopped. The library `package` must not
/// be open. To be called before any script runs, and before the module is installed. [-0, +(0|1),
/// -]
int clua_try_makesafe(lua_State *L);

/// Makes what scripts share read-only: the tables of the libraries and the module at index
/// `module`. Code of ours keeps the libraries as they are, in a table of globals of which the place
/// in the registry is put into `globals`. [-0, +(0|1), -]
int clua_try_share(lua_State *L, int module, int *globals);

/// Pushes a new environment: the base functions, the shared libraries, and `load` for it. What the
/// host adds to its own globals later is found in it, too. On top is its `require`. [-1, +(1|1), -]
int clua_try_pushenvironment(lua_State *L);

/// Makes the table on top the environment of the chunk below it. [-1, +0, -]
void clua_setenvironment(lua_State *L);

/// How many components may be in the path of the string at an index: its points, and one.
int64_t clua_pathcomponents(lua_State *L, int index);

#endif
