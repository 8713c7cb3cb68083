/// Small blocks of memory, many of each size.
#ifndef CLUA_BLOCKS_H
#define CLUA_BLOCKS_H

#include <stddef.h>

#include "clua_allocator.h"

/// Makes a block of `size` bytes for a share; NULL if out of memory. `size` is not 0.
void *clua_block_make(clua_pages *pages, clua_share *share, size_t size);
/// Frees a block; `size` is the size it was last made or resized with. Returns its share.
clua_share *clua_block_free(clua_pages *pages, void *block, size_t size);
/// Resizes a block for a share and returns its address, which may change. If out of memory, returns
/// NULL and leaves the block as it was. A block that does not move keeps its share.
void *clua_block_resize(clua_pages *pages, clua_share *share, void *block, size_t old,
                        size_t size);
/// The share of a block.
clua_share *clua_block_share(void *block, size_t size);
/// Frees the pages of a share that are kept although none of their blocks is in use.
void clua_pages_release(clua_pages *pages, clua_share *share);

#endif
