/// Counts how often each line of Lua files runs.
#ifndef CCL_COVERAGE_H
#define CCL_COVERAGE_H

#include "clua.h"

/// Counts from now on the lines that run in `L`, and in coroutines that are made in it later. This
/// uses the hook of the library: `debug.sethook` and time limits end it.
void ccl_countlines(lua_State *L);
/// Calls `read` for each file that has run, with the counts of the lines 0 to `count - 1`.
void ccl_readcounts(void (*read)(void *context, const char *path, const unsigned *hits,
                                 size_t count),
                    void *context);

#endif
