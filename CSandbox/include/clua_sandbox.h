/// Libraries for untrusted scripts, and separate environments for several scripts.
#ifndef CLUA_SANDBOX_H
#define CLUA_SANDBOX_H

#include "clua.h"

/// Removes functions from the open libraries that reach outside of the state, that crash Lua 5.4,
/// or with which a stopped script could continue. The library `package` must not be open. Call this
/// before any script runs, and before the module is installed. [-0, +(0|1), -]
int clua_try_makesafe(lua_State *L);

/// Makes the tables shared by scripts read-only: the libraries and the module at index `module`.
/// Our own code keeps the original libraries, in a table of globals whose registry index is stored
/// in `globals`. [-0, +(0|1), -]
int clua_try_share(lua_State *L, int module, int *globals);

/// Pushes a new environment: the base functions, the shared libraries, and a `load` for it. Globals
/// that the host adds later are visible in it, too. Its `require` is popped. [-1, +(1|1), -]
int clua_try_pushenvironment(lua_State *L);

/// Makes the table on top the environment of the chunk below it. [-1, +0, -]
void clua_setenvironment(lua_State *L);

/// The maximum number of components in a path, the string at an index: its points plus one.
int64_t clua_pathcomponents(lua_State *L, int index);

#endif
