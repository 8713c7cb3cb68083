/// The memory of a state: counted, limited, and failing on demand.
#ifndef CLUA_ALLOCATOR_H
#define CLUA_ALLOCATOR_H

#include "clua.h"

typedef struct clua_allocator {
  size_t used;           // bytes in use
  size_t limit;          // allocations that would pass it are refused; 0: no limit
  uint64_t requests;     // allocations and growths asked for so far
  uint64_t refuse_from;  // the first request to be refused; 0: none
  uint64_t refuse_to;    // the last one
} clua_allocator;

/// A state whose memory `allocator` accounts for, or NULL. The allocator must outlive the state.
lua_State *clua_newstate(clua_allocator *allocator);

#endif
