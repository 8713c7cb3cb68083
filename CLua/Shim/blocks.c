#include "blocks.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clua_arena.h"

/* Nearly all objects of Lua are small and have one of few sizes. A page holds blocks of one size,
   and is aligned so that the address of a block leads to it. So a block has no header, and takes a
   few instructions to make and to free, where `malloc` takes hundreds. The free blocks of a page
   form a chain; blocks from offset `fresh` on were never used. A page without used blocks is freed
   unless it is the only page of its size with room: otherwise short-lived objects would free it and
   make it again each time.

   Pages come from the system in regions: among the blocks of `malloc` they would leave gaps as
   large as the pages. A region is returned when all its pages are free. In other regions, the
   resident memory of free pages is returned, except for some pages that are reused first.

   A page belongs to one share, so the address of a block leads to its share, too. Larger blocks
   come from `malloc`, with a header that names their share. With the address sanitizer all blocks
   do, as it finds uses of a freed block only there. If the arena is open, regions and large blocks
   come from it. */

struct clua_page {
  clua_page *next, *previous;  // among pages of its size with room
  clua_region *region;
  clua_share *share;           // to which its blocks belong
  void *free;                  // the first free block
  uint32_t used;               // how many blocks are in use
  uint32_t fresh;              // the offset of the first block that was never used
  uint32_t size;               // of a block
};

/* The header in front of a large block. */
typedef union large_header {
  clua_share *share;
  max_align_t alignment;
} large_header;

struct clua_region {
  clua_region *next, *previous;  // among regions with free pages
  void *memory;
  uint64_t free;   // a bit for each free page
  uint64_t warm;   // a bit for each free page that is still resident
};

enum {
  PAGE = 1 << 14,
  PAGES = 64,
  REGION = (PAGES + 1) * PAGE,  // the system's alignment may be smaller than a page
  WARM = 128,                   // how many free pages stay resident
  GRAIN = 16,
  FIRST = (sizeof(clua_page) + GRAIN - 1) / GRAIN * GRAIN,
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EVERYTHING_IS_LARGE
#endif
#endif

static inline bool is_small(size_t size) {
#ifdef EVERYTHING_IS_LARGE
  return size == 0;
#else
  return size <= CLUA_BLOCK_LARGEST;
#endif
}

static inline size_t class_of(size_t size) { return (size - 1) / GRAIN; }

static inline clua_page *page_of(void *block) {
  return (clua_page *)((uintptr_t)block & ~(uintptr_t)(PAGE - 1));
}

static inline bool is_full(const clua_page *page) {
  return !page->free && page->fresh + page->size > PAGE;
}

static void link_page(clua_page **first, clua_page *page) {
  page->previous = NULL;
  page->next = *first;
  if (page->next) page->next->previous = page;
  *first = page;
}

static void unlink_page(clua_page **first, clua_page *page) {
  if (page->previous) page->previous->next = page->next;
  else *first = page->next;
  if (page->next) page->next->previous = page->previous;
}

/* ---- Regions --------------------------------------------------------------------------------- */

static void link_region(clua_pages *pages, clua_region *region) {
  region->previous = NULL;
  region->next = pages->regions;
  if (region->next) region->next->previous = region;
  pages->regions = region;
}

static void unlink_region(clua_pages *pages, clua_region *region) {
  if (region->previous) region->previous->next = region->next;
  else pages->regions = region->next;
  if (region->next) region->next->previous = region->previous;
}

/* NULL if out of memory. */
static void *map_region(void) {
  if (clua_thearena.isopen) return clua_arena_make(REGION);
  void *memory = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static clua_region *make_region(clua_pages *pages) {
  clua_region *region = malloc(sizeof *region);
  if (!region) return NULL;
  void *memory = map_region();
  if (!memory) {
    free(region);
    return NULL;
  }
  *region = (clua_region){.memory = memory, .free = UINT64_MAX};
  link_region(pages, region);
  return region;
}

/* The first page of a region. */
static char *pages_of(const clua_region *region) {
  return (char *)(((uintptr_t)region->memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
}

static clua_page *make_page(clua_pages *pages, clua_share *share, size_t class) {
  clua_region *region = pages->regions;
  if (!region && !(region = make_region(pages))) return NULL;
  uint64_t warm = region->free & region->warm;
  int index = __builtin_ctzll(warm ? warm : region->free);
  if (warm) pages->warm--;
  region->free &= ~((uint64_t)1 << index);
  region->warm &= ~((uint64_t)1 << index);
  if (!region->free) unlink_region(pages, region);
  clua_page *page = (clua_page *)(pages_of(region) + (size_t)index * PAGE);
  *page = (clua_page){
      .region = region, .share = share, .fresh = FIRST, .size = (uint32_t)(class + 1) * GRAIN};
  link_page(&share->withroom[class], page);
  return page;
}

/* Removes a page from the list and returns it to its region. */
static void free_page(clua_pages *pages, clua_page **first, clua_page *page) {
  unlink_page(first, page);
  clua_region *region = page->region;
  if (!region->free) link_region(pages, region);
  uint64_t bit = (uint64_t)1 << (((char *)page - pages_of(region)) / PAGE);
  region->free |= bit;
  if (pages->warm < WARM) {
    region->warm |= bit;
    pages->warm++;
  } else if (region->free != UINT64_MAX) {
    madvise(page, PAGE, MADV_DONTNEED);
  }
  if (region->free != UINT64_MAX) return;
  pages->warm -= __builtin_popcountll(region->warm);
  unlink_region(pages, region);
  if (clua_thearena.isopen) clua_arena_free(region->memory, REGION);
  else munmap(region->memory, REGION);
  free(region);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static inline large_header *header_of(void *block) { return (large_header *)block - 1; }

static void *resize_memory(void *memory, size_t old, size_t size) {
  if (!clua_thearena.isopen) return realloc(memory, size);
  return memory ? clua_arena_resize(memory, old, size) : clua_arena_make(size);
}

/* Makes or resizes a large block. */
static void *make_large(clua_share *share, void *block, size_t old, size_t size) {
  if (size > SIZE_MAX - sizeof(large_header)) return NULL;
  large_header *header = block ? header_of(block) : NULL;
  header = resize_memory(header, sizeof *header + old, sizeof *header + size);
  if (!header) return NULL;
  header->share = share;
  return header + 1;
}

void *clua_block_make(clua_pages *pages, clua_share *share, size_t size) {
  if (!is_small(size)) return make_large(share, NULL, 0, size);
  size_t class = class_of(size);
  clua_page **first = &share->withroom[class], *page = *first;
  if (!page && !(page = make_page(pages, share, class))) return NULL;
  void *block = page->free;
  if (block) {
    memcpy(&page->free, block, sizeof page->free);
  } else {
    block = (char *)page + page->fresh;
    page->fresh += page->size;
  }
  page->used++;
  if (is_full(page)) unlink_page(first, page);
  return block;
}

clua_share *clua_block_free(clua_pages *pages, void *block, size_t size) {
  if (!is_small(size)) {
    clua_share *share = header_of(block)->share;
    if (clua_thearena.isopen) clua_arena_free(header_of(block), sizeof(large_header) + size);
    else free(header_of(block));
    return share;
  }
  clua_page *page = page_of(block);
  clua_share *share = page->share;
  clua_page **first = &share->withroom[class_of(size)];
  if (is_full(page)) link_page(first, page);
  memcpy(block, &page->free, sizeof page->free);
  page->free = block;
  if (--page->used == 0 && (page->next || page->previous)) free_page(pages, first, page);
  return share;
}

clua_share *clua_block_share(void *block, size_t size) {
  return is_small(size) ? page_of(block)->share : header_of(block)->share;
}

void *clua_block_resize(clua_pages *pages, clua_share *share, void *block, size_t old,
                        size_t size) {
  if (is_small(old) ? is_small(size) && class_of(old) == class_of(size) : !is_small(size))
    return is_small(old) ? block : make_large(share, block, old, size);
  void *result = clua_block_make(pages, share, size);
  if (!result) return NULL;
  memcpy(result, block, old < size ? old : size);
  clua_block_free(pages, block, old);
  return result;
}

void clua_pages_release(clua_pages *pages, clua_share *share) {
  for (size_t class = 0; class < CLUA_BLOCK_CLASSES; class++) {
    clua_page **first = &share->withroom[class];
    for (clua_page *page = *first, *next; page; page = next) {
      next = page->next;
      if (page->used == 0) free_page(pages, first, page);
    }
  }
}
