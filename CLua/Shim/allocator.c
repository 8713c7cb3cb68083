#include "clua_allocator.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "clua_arena.h"
#include "clua_guard.h"
#include "private.h"
#include "../Guard/chains.h"

/* If a share takes over a block, it grows by more than the shares together. */
typedef struct request {
  const clua_share *share;
  size_t size, growth, total;
  bool is_part;
} request;

/* Whether a request passes a limit, or the reserve beyond the limit. */
static bool exceeds(const clua_allocator *allocator, const request *request, bool has_reserve) {
  const clua_meter *whole = &allocator->whole, *own = &request->share->meter;
  return !allocator->isunlimited
      && (clua_passes(whole, request->total, has_reserve ? whole->limit / 2 : 0)
          || clua_passes(own, request->growth, has_reserve ? own->limit / 2 : 0));
}

static bool is_to_fail(const clua_allocator *allocator) {
  return allocator->refuse_from && allocator->requests >= allocator->refuse_from
      && allocator->requests <= allocator->refuse_to;
}

/* After a refused request Lua collects garbage and asks again. Lua before 5.4.8 does not anchor the
   table to which `__newindex` has led: if only a weak metatable refers to it, the collection frees
   it while it grows. If the second request is refused too, Lua does not use the table any more. So
   a second request for a part of an object, such as the array of a table, is always refused. To
   keep garbage from making these requests fail, half of the limit is a reserve for them: a part
   that passes the limit has the garbage collected at the next instruction. */
__attribute__((noinline))
static bool refuses_some(clua_allocator *allocator, const request *request) {
  uint64_t number = allocator->requests;
  bool fails = is_to_fail(allocator);
  bool again = number == allocator->refused + 1 && request->size == allocator->refusedsize;
  allocator->refusedsize = 0;
  if (!fails && !(again && request->is_part)) {
    if (__builtin_expect(!exceeds(allocator, request, false), 1)) return false;
    if (request->is_part && !exceeds(allocator, request, true)) {
      if (allocator->home && !clua_isbeyond(allocator, request->share, 0))
        clua_guard_collect(allocator->home->guard);
      return false;
    }
  }
  allocator->refused = number;
  if (!fails && !again) allocator->refusedsize = request->size;
  return true;
}

/* Fast in nearly all cases: the request is below all limits, and none was refused just before. */
static inline __attribute__((always_inline)) bool refuses(clua_allocator *allocator,
                                                          const request *request) {
  const clua_meter *whole = &allocator->whole, *own = &request->share->meter;
  allocator->requests++;
  bool fits = whole->used + request->total <= whole->most
      && own->used + request->growth <= own->most;
  if (__builtin_expect(fits && !(allocator->refusedsize | allocator->refuse_from), 1)) return false;
  return refuses_some(allocator, request);
}

/* Whether code that has to stop is refused a block without a type, or a larger block, which may be
   a stack. */
static bool is_call_chain(const clua_allocator *allocator, const void *block, size_t size) {
  clua_guard *guard = allocator->home ? allocator->home->guard : NULL;
  if (!guard || !(guard->stopped || guard->exemption.isfenced || guard->chain.thread)) return false;
  return block ? clua_chains_refuse_growth(guard, block) : clua_chains_refuse(guard, size);
}

static bool keeps(clua_claims *claims, void *block, size_t size);

/* A growing block moves to the share that makes it grow: otherwise scripts could use up the memory
   of others through their objects. Blocks that Lua needs for itself stay with the interpreter. */
static void *resize(clua_allocator *allocator, void *block, size_t old, size_t new) {
  clua_share *owner = clua_block_share(block, old), *share = owner;
  if (new > old) {
    if (owner != &allocator->interpreter) share = allocator->current;
    request request = {share, new, share == owner ? new - old : new, new - old, true};
    if (refuses(allocator, &request)) return NULL;
  }
  void *result = clua_block_resize(&allocator->pages, share, block, old, new);
  if (!result) return NULL;
  owner->meter.used -= old;
  clua_block_share(result, new)->meter.used += new;
  allocator->whole.used += new - old;
  return result;
}

static void *allocate(void *ud, void *block, size_t old, size_t new) {
  clua_allocator *allocator = ud;
  if (!block) {
    // For a new object Lua passes its type as the old size; for parts of objects it passes 0.
    bool is_part = old == 0;
    if (new == 0 || (is_part && is_call_chain(allocator, NULL, new))) return NULL;
    clua_share *share = allocator->current;
    request request = {share, new, new, new, is_part};
    if (refuses(allocator, &request)) return NULL;
    void *result = clua_block_make(&allocator->pages, share, new);
    if (!result) return NULL;
    share->meter.used += new;
    allocator->whole.used += new;
    return result;
  }
  if (new > old && is_call_chain(allocator, block, new)) return NULL;
  if (new > 0) return resize(allocator, block, old, new);
  if (keeps(&allocator->claims, block, old)) return NULL;
  clua_block_free(&allocator->pages, block, old)->meter.used -= old;
  allocator->whole.used -= old;
  return NULL;
}

static clua_allocator *memory_of(lua_State *L) {
  clua_guard *guard = clua_guard_of(L);
  return guard ? guard->memory : NULL;
}

bool clua_ismemoryrefused(lua_State *L) {
  const clua_allocator *memory = memory_of(L);
  return memory && memory->requests > 0 && memory->refused == memory->requests;
}

int clua_raisestack(lua_State *L, const char *purpose) {
  // This request is refused too, and Lua raises its own error.
  if (clua_ismemoryrefused(L)) lua_newuserdatauv(L, (size_t)1 << 40, 0);
  if (purpose) return luaL_error(L, "stack overflow (%s)", purpose);
  return luaL_error(L, "stack overflow");
}

/* ---- Shares ---------------------------------------------------------------------------------- */

void clua_meter_limit(clua_meter *meter, size_t limit) {
  meter->limit = limit;
  meter->most = limit ? limit : SIZE_MAX;
  meter->mark = limit ? limit / 2 : SIZE_MAX;
}

static void open_share(clua_share *share, size_t limit) {
  share->isopen = true;
  clua_meter_limit(&share->meter, limit);
}

clua_share *clua_share_open(clua_allocator *allocator, size_t limit) {
  clua_share *share = allocator->others;
  while (share && (share->isopen || share->meter.used > 0)) share = share->next;
  if (!share) {
    share = calloc(1, sizeof *share);
    if (!share) return NULL;
    share->next = allocator->others;
    allocator->others = share;
  }
  open_share(share, limit);
  return share;
}

void clua_share_close(clua_allocator *allocator, clua_share *share) {
  clua_meter_limit(&share->meter, 0);
  share->isopen = false;
  clua_pages_release(&allocator->pages, share);
}

void clua_allocator_end(clua_allocator *allocator) {
  clua_pages_release(&allocator->pages, &allocator->interpreter);
  clua_pages_release(&allocator->pages, &allocator->main);
  for (clua_share *share = allocator->others, *next; share; share = next) {
    next = share->next;
    clua_pages_release(&allocator->pages, share);
    free(share);
  }
  allocator->others = NULL;
}

/* ---- Memory outside of Lua ------------------------------------------------------------------- */

/* Lua counts only its own blocks, and starts a cycle of its collector when their size has doubled
   since the last cycle. That is too late in two cases, whose bytes therefore count as debt:
   - memory outside of Lua that objects of Lua keep;
   - objects with finalizers, such as tables with an `on_end`. One cycle calls a finalizer, and only
     the next one frees the object, which counts as alive until then: garbage would grow with each
     cycle. So these objects become debt when their finalizers have run.

   When memory is short, Lua calls no finalizers, and raises "not enough memory" though they would
   free some. So all garbage is collected, with finalizers, in two situations: when half of the
   memory that was free after the last collection is in use, and before the host refuses memory. The
   former collection happens in parts: at once it would take 40 milliseconds for 64 MB, during which
   no script can be stopped. */

void clua_owe(lua_State *L, size_t bytes) {
  clua_allocator *memory = memory_of(L);
  if (memory) memory->debt += bytes;
}

static void set_mark(clua_meter *meter) {
  if (!meter->limit) return;
  size_t free = meter->used < meter->limit ? meter->limit - meter->used : 0;
  // If hardly any memory is free, not every call must collect.
  size_t step = free / 2 > meter->limit / 64 ? free / 2 : meter->limit / 64;
  meter->mark = meter->used + step;
}

static void end_collection(clua_allocator *allocator) {
  allocator->debt = 0;
  allocator->cycles = 0;
  set_mark(&allocator->whole);
  set_mark(&allocator->current->meter);
}

/* Ends everything that belonged to objects freed by Lua; returns whether there were any. Nothing
   stops this loop; a limit of memory bounds the number of objects. */
static bool recover_all(lua_State *L) {
  bool any = clua_haslost(L);
  while (clua_recover(L)) {
  }
  return any;
}

void clua_freegarbage(lua_State *L, clua_allocator *allocator) {
  allocator->debt = 0;
  // In a finalizer the collector does nothing.
  if (lua_gc(L, LUA_GCCOLLECT) < 0) return;
  // Belongings of lost objects, and objects whose finalizers have run, are garbage now.
  if (recover_all(L) || allocator->debt > 0) lua_gc(L, LUA_GCCOLLECT);
  recover_all(L);
  end_collection(allocator);
}

void clua_collect(lua_State *L) {
  lua_gc(L, LUA_GCCOLLECT);
  recover_all(L);
}

static const char newest_key;

static int make_newest(lua_State *L) {
  lua_newuserdatauv(L, 0, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &newest_key);
  return 0;
}

/* A part is one basic step of the collector: it traverses 800 KB or frees 50,000 objects at most.
   In one step Lua frees all objects that are newer than the newest live one, so a live object is
   created before each part. A collection takes two cycles, as the first may have begun before it,
   and a third if finalizers were called, to free their objects. The cycles of a generational
   collector have no visible end, so it collects everything at once. */
static void collect_part(lua_State *L, clua_allocator *allocator) {
  if (lua_gc(L, LUA_GCINC, 0, 0, 0) == LUA_GCGEN) {
    clua_freegarbage(L, allocator);
    lua_gc(L, LUA_GCGEN, 0, 0);
    return;
  }
  if (lua_checkstack(L, 2) && clua_protect(L, make_newest, 0, 0) != LUA_OK) lua_pop(L, 1);
  // Negative in a finalizer, where the collector does nothing.
  if (lua_gc(L, LUA_GCSTEP, 0) <= 0) return;
  recover_all(L);
  if (++allocator->cycles >= 2 && (allocator->cycles > 2 || allocator->debt == 0))
    return end_collection(allocator);
  allocator->debt = 0;
}

void clua_workcollector(lua_State *L, clua_allocator *allocator) {
  if (clua_iscollecting(allocator)) return collect_part(L, allocator);
  size_t debt = allocator->debt;
  allocator->debt = 0;
  // Scripts may have stopped the collector.
  if (lua_gc(L, LUA_GCISRUNNING)) lua_gc(L, LUA_GCSTEP, (int)(debt >> 10));
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* A claim is at the end of its block, so the allocator finds it when Lua frees the block, whatever
   is at the beginning. A script may have written any bytes to the end of another block, so only the
   list decides whether there is a claim. While a block is kept, no other object gets its
   address. */

/* A free place of the list holds the number of the next free place as an odd number; addresses of
   claims are even. */
static clua_claim *link_to(size_t place) { return (clua_claim *)(2 * place + 1); }
static bool is_link(const clua_claim *link) { return (uintptr_t)link & 1; }
static size_t linked_from(const clua_claim *link) { return (uintptr_t)link / 2; }

static void free_place(clua_claims *claims, size_t place) {
  claims->list[place] = link_to(claims->spare);
  claims->spare = place;
}

static void *block_of(const clua_claim *claim, size_t size) {
  return (char *)claim + sizeof *claim - size;
}

/* Blocks of lost objects form a chain, linked where Lua had the links of its objects. */
static void push_lost(clua_claim **first, clua_claim *claim, size_t size) {
  memcpy(block_of(claim, size), first, sizeof *first);
  *first = claim;
  claim->place = 2 * size + 1;
}

static clua_claim *next_lost(const clua_claim *claim) {
  clua_claim *next;
  memcpy(&next, block_of(claim, claim->place / 2), sizeof next);
  return next;
}

/* Removes the first block from a chain; returns its size. */
static size_t pop_lost(clua_claim **first) {
  clua_claim *claim = *first;
  size_t size = claim->place / 2;
  *first = next_lost(claim);
  claim->place = 0;
  return size;
}

/* Keeps a block that Lua frees if there is a claim on it; returns whether it does. */
static inline bool keeps(clua_claims *claims, void *block, size_t size) {
  if (size < sizeof(clua_claim)) return false;
  char *end = (char *)block + size - sizeof(clua_claim);
  size_t place;
  memcpy(&place, end + offsetof(clua_claim, place), sizeof place);
  place /= 2;
  if (__builtin_expect(place >= claims->count, 1)) return false;
  if ((char *)claims->list[place] != end) return false;
  free_place(claims, place);
  push_lost(&claims->lost, (clua_claim *)end, size);
  return true;
}

/* Makes the list longer if it has no free place; false if out of memory. */
static bool has_place(clua_allocator *allocator) {
  clua_claims *claims = &allocator->claims;
  if (claims->spare || claims->count < claims->room) return true;
  size_t room = claims->room ? 2 * claims->room : 64, size = sizeof *claims->list;
  clua_share *share = allocator->current;
  allocator->current = &allocator->interpreter;
  clua_claim **list = allocate(allocator, claims->list, claims->room * size, room * size);
  allocator->current = share;
  if (!list) return false;
  if (!claims->room) list[claims->count++] = NULL;
  claims->list = list;
  claims->room = room;
  return true;
}

void clua_makeclaim(lua_State *L, clua_claim *claim, bool (*lost)(lua_State *, clua_claim *)) {
  clua_allocator *allocator = clua_home_of(L)->allocator;
  if (!allocator || claim->place) return;
  clua_claims *claims = &allocator->claims;
  if (!has_place(allocator)) {
    // This collects garbage, which may free places, or raises the error.
    lua_newuserdatauv(L, 2 * claims->room * sizeof *claims->list, 0);
    lua_pop(L, 1);
    if (!has_place(allocator)) luaL_error(L, "not enough memory");
  }
  size_t place = claims->spare ? claims->spare : claims->count++;
  if (claims->spare) claims->spare = linked_from(claims->list[place]);
  claims->list[place] = claim;
  *claim = (clua_claim){lost, 2 * place};
}

void clua_endclaim(lua_State *L, clua_claim *claim) {
  if (claim->place & 1) {
    claim->lost = NULL;
  } else if (claim->place) {
    free_place(&clua_home_of(L)->allocator->claims, claim->place / 2);
    claim->place = 0;
  }
}

void clua_eachclaim(lua_State *L, bool (*lost)(lua_State *, clua_claim *),
                    void (*body)(clua_claim *)) {
  const clua_claims *claims = &clua_home_of(L)->allocator->claims;
  for (size_t place = 1; place < claims->count; place++) {
    clua_claim *claim = claims->list[place];
    if (!is_link(claim) && claim->lost == lost) body(claim);
  }
}

/* How many objects are recovered at once: each may end a node with its watchers. */
enum { RECOVERED = 64 };

bool clua_recover(lua_State *L) {
  clua_allocator *allocator = clua_home_of(L)->allocator;
  if (!allocator || !lua_checkstack(L, LUA_MINSTACK)) return false;
  clua_claims *claims = &allocator->claims;
  clua_claim *waiting = NULL;
  for (int i = 0; i < RECOVERED && claims->lost; i++) {
    clua_claim *claim = claims->lost;
    size_t size = pop_lost(&claims->lost);
    bool done = !claim->lost || claim->lost(L, claim);
    if (done) allocate(allocator, block_of(claim, size), size, 0);
    else push_lost(&waiting, claim, size);
  }
  bool more = claims->lost;
  while (waiting) {
    clua_claim *claim = waiting;
    push_lost(&claims->lost, claim, pop_lost(&waiting));
  }
  return more;
}

void clua_closestate(lua_State *L) {
  clua_allocator *allocator = clua_home_of(L)->allocator;
  clua_claims *claims = &allocator->claims;
  lua_close(L);
  // Lost objects refer to each other, so the claims of all are called before any object is freed.
  for (clua_claim *claim = claims->lost; claim; claim = next_lost(claim)) {
    if (claim->lost) claim->lost(NULL, claim);
  }
  clua_claim **list = claims->list;
  size_t size = claims->room * sizeof *list;
  while (claims->lost) {
    clua_claim *claim = claims->lost;
    size_t freed = pop_lost(&claims->lost);
    allocate(allocator, block_of(claim, freed), freed, 0);
  }
  *claims = (clua_claims){0};
  if (list) allocate(allocator, list, size, 0);
}

/* ---- Warnings, and errors outside of protected calls ----------------------------------------- */

/* The functions of luaL_newstate, which would use its own allocator. */

static int panic(lua_State *L) {
  const char *message = lua_tostring(L, -1);
  if (!message) message = "error object is not a string";
  fprintf(stderr, "PANIC: unprotected error in call to Lua API (%s)\n", message);
  fflush(stderr);
  return 0;
}

static void warn_off(void *ud, const char *message, int goes_on);
static void warn_on(void *ud, const char *message, int goes_on);

/* Handles a control message; returns whether it was one. */
static bool is_control(lua_State *L, const char *message, int goes_on) {
  if (goes_on || *message != '@') return false;
  if (strcmp(message, "@off") == 0) lua_setwarnf(L, warn_off, L);
  else if (strcmp(message, "@on") == 0) lua_setwarnf(L, warn_on, L);
  return true;
}

static void warn_off(void *ud, const char *message, int goes_on) {
  is_control(ud, message, goes_on);
}

/* Writes a part of a warning after the first. */
static void go_on(void *ud, const char *message, int goes_on) {
  fputs(message, stderr);
  if (goes_on) {
    lua_setwarnf(ud, go_on, ud);
  } else {
    fputs("\n", stderr);
    lua_setwarnf(ud, warn_on, ud);
  }
  fflush(stderr);
}

static void warn_on(void *ud, const char *message, int goes_on) {
  if (is_control(ud, message, goes_on)) return;
  fputs("Lua warning: ", stderr);
  go_on(ud, message, goes_on);
}

/* The first blocks of a state: the state itself and its stack. */
typedef struct first_blocks {
  clua_allocator *allocator;
  void *blocks[2];
  size_t sizes[2];
  int count;
} first_blocks;

static void set_seed(const first_blocks *first);

static void *allocate_first(void *ud, void *block, size_t old, size_t new) {
  first_blocks *first = ud;
  if (clua_thearena.isopen && first->count == 1) set_seed(first);
  void *result = allocate(first->allocator, block, old, new);
  if (!block && first->count < 2) {
    first->blocks[first->count] = result;
    first->sizes[first->count++] = new;
  }
  return result;
}

/* The first fields of Lua's global state, which are the same from 5.4.0 to 5.4.8. */
typedef struct global_fields {
  lua_Alloc allocate;
  void *ud;
  ptrdiff_t total, debt;
  size_t estimate, atomic;
  void *strings;
  int used, room;
  struct {
    lua_Integer value;
    unsigned char type;
  } registry, nil;
  unsigned seed;
  unsigned char white;
} global_fields;

/* Lua mixes the seed for the hashes of strings from three addresses and the time. It does so after
   the allocation of the state, and makes the first string after the allocation of the stack: in
   between, the seed can be set. No function returns the address of the global state, which follows
   the main thread in its block. The field is written only if all others have the values that they
   have at this time. */
static void set_seed(const first_blocks *first) {
  char *state = first->blocks[0];
  size_t size = first->sizes[0];
  for (size_t i = 0; i + sizeof(global_fields) <= size; i += sizeof(void *)) {
    global_fields *fields = (global_fields *)(state + i);
    if (fields->allocate != allocate_first || fields->ud != first) continue;
    bool is_known = (size_t)fields->total == size && fields->debt == 0 && !fields->strings
        && fields->used == 0 && fields->room == 0 && fields->registry.type == LUA_TNIL
        && fields->nil.type == LUA_TNUMBER && fields->nil.value == 0 && fields->white == 1 << 3;
    if (!is_known) break;
    fields->seed = clua_thearena.seed;
    return;
  }
  clua_arena_miss();
}

lua_State *clua_newstate(clua_allocator *allocator, clua_home *home) {
  open_share(&allocator->interpreter, 0);
  open_share(&allocator->main, 0);
  clua_meter_limit(&allocator->whole, 0);
  allocator->current = &allocator->interpreter;
  first_blocks first = {.allocator = allocator};
  lua_State *L = lua_newstate(allocate_first, &first);
  allocator->current = &allocator->main;
  if (!L) return NULL;
  lua_setallocf(L, allocate, allocator);
  clua_chains_learn(L, first.sizes[0], first.blocks[1], first.sizes[1]);
  allocator->home = home;
  home->allocator = allocator;
  clua_sethome(L, home);
  lua_atpanic(L, panic);
  lua_setwarnf(L, warn_off, L);
  return L;
}
