/// Small blocks of memory, many of each size.
#ifndef CLUA_BLOCKS_H
#define CLUA_BLOCKS_H

#include <stddef.h>

#include "clua_allocator.h"

/// A block of so many bytes, of a share; NULL where there is no memory. `size` is not 0.
void *clua_block_make(clua_pages *pages, clua_share *share, size_t size);
/// Gives a block back, whose size must be the one that it was made or resized with; returns its
/// share.
clua_share *clua_block_free(clua_pages *pages, void *block, size_t size);
/// The block with another size, of the share, which may be somewhere else then; NULL, and the block
/// as it was, where there is no memory. One that stays in its place stays in its share.
void *clua_block_resize(clua_pages *pages, clua_share *share, void *block, size_t old,
                        size_t size);
/// The share of a block.
clua_share *clua_block_share(void *block, size_t size);
/// Frees the pages of a share that are kept though no block of them is in use.
void clua_pages_release(clua_pages *pages, clua_share *share);

#endif
