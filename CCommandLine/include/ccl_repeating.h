/// Runs that can be repeated: with the same inputs, two runs of the program have the same order in
/// `pairs`, the same addresses in texts, and the same `collectgarbage "count"`.
#ifndef CCL_REPEATING_H
#define CCL_REPEATING_H

#include "clua.h"

/// Makes this run one that can be repeated, by the same seed. Call it in the main thread, before
/// any state is made.
void ccl_repeat(uint64_t seed);
/// Whether ccl_repeat was called.
bool ccl_isrepeating(void);
/// Seeds `math.random` from the seed of the run, and makes `math.randomseed()` do the same. Does
/// nothing unless ccl_repeat was called. A C function to call with clua_protect, after the
/// libraries were opened. () -> ()
int ccl_seedrandom(lua_State *L);

#endif
