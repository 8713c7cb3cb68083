/// Runs that can be repeated: with the same inputs, two runs of the program have the same order in
/// `pairs`, the same addresses in texts, and the same `collectgarbage "count"`.
#ifndef CCL_REPEATING_H
#define CCL_REPEATING_H

#include "clua.h"

/// Removes what ccl_startagain has added to the environment, so that scripts and the processes that
/// they start do not see it. Call it first in `main`.
void ccl_restoreenvironment(void);
/// Starts this program again, with the same arguments, environment and descriptors, if the hashes
/// of Swift would have another order in each run. Call it before the process has read or opened
/// anything. Returns if that is not necessary, or if the system refuses; ccl_repeat then notes that
/// the run cannot be repeated exactly.
void ccl_startagain(void);
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
