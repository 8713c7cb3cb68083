/// Memory at the same addresses in each run, for programs that repeat a run.
///
/// The order of `pairs`, the results of `tostring` and `collectgarbage "count"` follow from the
/// addresses of objects and from a seed for the hashes of strings. Both are different in each run,
/// unless the program opens the arena.
#ifndef CLUA_ARENA_H
#define CLUA_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct clua_arena {
  bool isopen;
  bool isexact;   // whether all addresses and the seed are the fixed ones
  uint32_t seed;  // for the hashes of strings
} clua_arena;

/// Only the functions below change it.
extern clua_arena clua_thearena;

/// Makes all states from now on in the arena, with this seed. Call it before the first state is
/// made; all states must belong to one thread. The arena never unmaps its addresses. If an address
/// or the seed cannot be set, `clua_arena_isexact` returns false, and states work as usual.
void clua_arena_open(uint32_t seed);
/// Whether all addresses and the seed are the fixed ones so far.
bool clua_arena_isexact(void);
/// Notes that an address or the seed is not the fixed one.
void clua_arena_miss(void);

/// Whether an address is in the arena.
bool clua_arena_has(const void *address);

/// Maps memory at this address; NULL if that is not possible.
void *clua_arena_map(void *place, size_t size);

/// Makes a block; NULL if out of memory.
void *clua_arena_make(size_t size);
/// Frees a block; `size` is that of clua_arena_make or clua_arena_resize.
void clua_arena_free(void *block, size_t size);
/// Resizes a block and returns its address, which may change. If out of memory, returns NULL and
/// leaves the block as it was.
void *clua_arena_resize(void *block, size_t old, size_t size);

#endif
