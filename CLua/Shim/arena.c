#include "clua_arena.h"

#include <string.h>
#include <sys/mman.h>

/* `malloc` and the system place memory differently in each run, and `malloc` also serves code whose
   requests are not the same in each run. So the arena takes memory only at its own place, in steps,
   upwards. Each free block waits for a request of its size; there are eight sizes between two
   powers of two. */

/* Far from the places where systems put programs, libraries, stacks and heaps. */
static const uintptr_t PLACE = (uintptr_t)0x200000000000;

enum {
  GRAIN = 16,
  STEP = 1 << 22,
  PAGE = 1 << 12,
  SMALLEST = 128,      // up to this, sizes differ by a grain
  PAGED = 1 << 16,     // blocks of this size or more consist of pages
  RETURNED = 1 << 20,  // a free block of this size or more leaves its memory to the system
  SIZES = 8 * 64,
};

clua_arena clua_thearena;

static char *top, *end;
/* The first free block of each size. */
static void *spare[SIZES];

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The thread sanitizer changes an address that it reserves to 0. With the flag, a program of root
// would then get memory at address 0.
#undef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif
#endif

void *clua_arena_map(void *place, size_t size) {
  int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  void *memory = mmap(place, size, PROT_READ | PROT_WRITE, kind, -1, 0);
  if (memory == place) return memory;
  // Without the flag, the address is only a wish.
  if (memory != MAP_FAILED) munmap(memory, size);
  return NULL;
}

/* Tells the leak sanitizer, if there is one, that memory may have references. */
static void note_root(const void *memory, size_t size) {
#ifdef __ELF__
  extern void __lsan_register_root_region(const void *, size_t) __attribute__((weak));
  if (__lsan_register_root_region) __lsan_register_root_region(memory, size);
#else
  (void)memory, (void)size;
#endif
}

/* Maps memory behind the end, or elsewhere if other memory is there. */
static bool grow(size_t size) {
  size_t amount = (size + PAGE + STEP - 1) / STEP * STEP;
  char *memory = clua_arena_map(end, amount);
  if (!memory) {
    memory = mmap(NULL, amount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    clua_thearena.isexact = false;
    top = memory;
  }
  note_root(memory, amount);
  end = memory + amount;
  return true;
}

void clua_arena_open(uint32_t seed) {
  clua_thearena = (clua_arena){.isopen = true, .isexact = true, .seed = seed};
  top = end = (char *)PLACE;
  grow(1);
}

bool clua_arena_isexact(void) { return clua_thearena.isexact; }

void clua_arena_miss(void) { clua_thearena.isexact = false; }

bool clua_arena_has(const void *address) {
  return (uintptr_t)address >= PLACE && (uintptr_t)address < (uintptr_t)end;
}

/* Rounds a size up and returns its index. */
static int index_of(size_t *size) {
  if (*size <= SMALLEST) {
    *size = (*size + GRAIN - 1) / GRAIN * GRAIN;
    return (int)(*size / GRAIN);
  }
  int power = 63 - __builtin_clzll(*size - 1), shift = power - 3;
  size_t eighths = ((*size - 1) >> shift) + 1;
  *size = eighths << shift;
  return 8 * (power - 6) + (int)eighths - 8;
}

void *clua_arena_make(size_t size) {
  if (size > SIZE_MAX / 4) return NULL;
  int index = index_of(&size);
  void *block = spare[index];
  if (block) {
    memcpy(&spare[index], block, sizeof block);
    return block;
  }
  size_t gap = size < PAGED ? 0 : -(uintptr_t)top & (PAGE - 1);
  if ((size_t)(end - top) < gap + size) {
    if (!grow(size)) return NULL;
    gap = size < PAGED ? 0 : -(uintptr_t)top & (PAGE - 1);
  }
  block = top + gap;
  top += gap + size;
  return block;
}

void clua_arena_free(void *block, size_t size) {
  int index = index_of(&size);
  if (size >= RETURNED) madvise(block, size, MADV_DONTNEED);
  memcpy(block, &spare[index], sizeof block);
  spare[index] = block;
}

void *clua_arena_resize(void *block, size_t old, size_t size) {
  size_t room = old, needed = size;
  if (size <= SIZE_MAX / 4 && index_of(&room) == index_of(&needed)) return block;
  void *result = clua_arena_make(size);
  if (!result) return NULL;
  memcpy(result, block, old < size ? old : size);
  clua_arena_free(block, old);
  return result;
}
