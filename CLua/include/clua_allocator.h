/// The memory of a state: counted, limited, and failing on demand.
#ifndef CLUA_ALLOCATOR_H
#define CLUA_ALLOCATOR_H

#include "clua.h"

enum { CLUA_BLOCK_LARGEST = 1024, CLUA_BLOCK_CLASSES = CLUA_BLOCK_LARGEST / 16 };

typedef struct clua_page clua_page;
typedef struct clua_region clua_region;

/// The memory for small blocks; empty at first.
typedef struct clua_pages {
  clua_page *withroom[CLUA_BLOCK_CLASSES];  // the first page with room, by the size of its blocks
  clua_region *regions;                     // the first region with free pages
  int warm;                                 // how many free pages are resident
} clua_pages;

typedef struct clua_allocator {
  size_t used;           // bytes in use
  size_t limit;          // objects that would pass it are refused; 0: no limit
  uint64_t requests;     // allocations and growths asked for so far
  uint64_t refuse_from;  // the first request to be refused; 0: none
  uint64_t refuse_to;    // the last one
  uint64_t refused;      // the last request that was refused; 0: none
  size_t refusedsize;    // and its size
  clua_pages pages;
  const clua_home *home;  // of the state
} clua_allocator;

/// A state whose memory `allocator` accounts for, or NULL. Both must outlive the state.
lua_State *clua_newstate(clua_allocator *allocator, clua_home *home);

#endif
