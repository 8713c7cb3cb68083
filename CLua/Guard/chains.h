/// Leaving chains of `__call`. For this target only.
#ifndef CLUA_CHAINS_H
#define CLUA_CHAINS_H

#include "clua_guard.h"

/// Learns where states keep the bounds of their stacks from one that was just made, which has
/// `size` bytes, and `stacksize` bytes of stack at `stack`. [-0, +0, -]
void clua_chains_learn(lua_State *L, size_t size, const void *stack, size_t stacksize);

/// Called at a tick while scripts are to stop: makes Lua leave the chain that runs, if one does.
/// Async-signal-safe.
void clua_chains_tick(clua_guard *guard);

/// Notes that no chain runs: an instruction comes next, or another thread. Async-signal-safe.
void clua_chains_reset(clua_guard *guard);

/// Whether a block of `size` bytes, which may be a stack that is to grow, is refused. Raises the
/// error that stops scripts where it is the stack of a chain. [-0, +0, v]
bool clua_chains_refuse(clua_guard *guard, size_t size);

#endif
