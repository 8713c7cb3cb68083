/// Leaving chains of `__call`. For this target only.
#ifndef CLUA_CHAINS_H
#define CLUA_CHAINS_H

#include "clua_guard.h"

/// Learns where states keep the bounds of their stacks from one that was just made: it takes `size`
/// bytes, and its stack is at `stack`. [-0, +0, -]
void clua_chains_learn(lua_State *L, size_t size, const void *stack, size_t stacksize);

/// A tick came while scripts are to stop: leaves a chain, if the code that runs is in one;
/// async-signal-safe.
void clua_chains_tick(clua_guard *guard);

/// What runs is in no chain: an instruction comes next, or another thread. Async-signal-safe.
void clua_chains_reset(clua_guard *guard);

/// Whether a block of `size` bytes, which may be a stack that is to grow, is refused. Raises where
/// it is that of a chain of code that is to stop. [-0, +0, v]
bool clua_chains_refuse(clua_guard *guard, size_t size);

#endif
