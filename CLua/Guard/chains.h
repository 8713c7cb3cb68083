/// Leaving chains of `__call`. For this target only.
#ifndef CLUA_CHAINS_H
#define CLUA_CHAINS_H

#include "clua_guard.h"

/// Learns where states keep the bounds of their stacks, from a new state of `size` bytes whose
/// stack has `stacksize` bytes at `stack`. [-0, +0, -]
void clua_chains_learn(lua_State *L, size_t size, const void *stack, size_t stacksize);

/// Called at each tick while scripts have to stop: makes Lua leave the running chain, if there is
/// one. Async-signal-safe.
void clua_chains_tick(clua_guard *guard);

/// Notes that no chain is running: an instruction or another thread comes next. Async-signal-safe.
void clua_chains_reset(clua_guard *guard);

/// Whether to refuse a block of `size` bytes, which may be a growing stack. Raises the error that
/// stops scripts if it is the stack of a chain. [-0, +0, v]
bool clua_chains_refuse(clua_guard *guard, size_t size);

/// Whether a block must not grow, because it is the stack of a chain. Releases after 5.4.4 enlarge
/// the block of a stack, with offsets in place of all addresses: nothing may raise then, and the
/// former size that Lua names is wrong. Lua raises an error of memory instead. [-0, +0, -]
bool clua_chains_refuse_growth(clua_guard *guard, const void *block);

#endif
