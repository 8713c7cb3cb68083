/// The memory of a state: counted, limited, and failing on demand.
#ifndef CLUA_ALLOCATOR_H
#define CLUA_ALLOCATOR_H

#include "clua.h"

enum { CLUA_BLOCK_LARGEST = 1024, CLUA_BLOCK_CLASSES = CLUA_BLOCK_LARGEST / 16 };

typedef struct clua_page clua_page;
typedef struct clua_region clua_region;

/// Bytes in use, and how many there may be.
typedef struct clua_meter {
  size_t used;   // bytes in use
  size_t limit;  // objects that would pass it are refused; 0: no limit
  size_t mark;   // garbage is collected when more is in use
  size_t most;   // the limit, or the largest number
} clua_meter;

/// The memory of some scripts of a state. A block belongs to the share that was current when it was
/// allocated, or grew, until it is freed.
typedef struct clua_share {
  clua_meter meter;
  clua_page *withroom[CLUA_BLOCK_CLASSES];  // the first page with room, by the size of its blocks
  struct clua_share *next;                  // another one of the allocator
  bool isopen;                              // whether scripts use it
} clua_share;

/// Where the pages for small blocks come from; empty at first.
typedef struct clua_pages {
  clua_region *regions;  // the first region with free pages
  int warm;              // how many free pages are resident
} clua_pages;

/// The claims of a state.
typedef struct clua_claims {
  struct clua_claim **list;  // by their places; 0 is no place
  size_t count, room;
  size_t spare;              // the first place that is free again, 0 for none
  struct clua_claim *lost;   // the first one whose block Lua has freed
} clua_claims;

struct clua_allocator {
  clua_meter whole;        // of all shares
  clua_share *current;     // to which allocations belong
  clua_share interpreter;  // what Lua needs for itself: its stack, the table of strings
  clua_share main;         // of scripts that have no other
  clua_share *others;
  bool isunlimited;        // code of ours runs that must not fail
  size_t debt;             // bytes for which the collector has not worked yet
  int cycles;              // that the collection under way has completed
  uint64_t requests;       // allocations and growths asked for so far
  uint64_t refused;        // the last one that was refused; 0: none
  size_t refusedsize;      // its size; 0 where the next request cannot be its repetition
  uint64_t refuse_from;    // the first request to be refused; 0: none
  uint64_t refuse_to;      // the last one
  clua_pages pages;
  const clua_home *home;  // of the state
  clua_claims claims;
};

/// A state whose memory `allocator` accounts for, or NULL. Both must outlive the state.
lua_State *clua_newstate(clua_allocator *allocator, clua_home *home);
/// Closes a state that clua_newstate has made. [-0, +0, -]
void clua_closestate(lua_State *L);
/// Frees the rest when the state is closed, or could not be made.
void clua_allocator_end(clua_allocator *allocator);

/// Sets the limit of a meter; 0 for none.
void clua_meter_limit(clua_meter *meter, size_t limit);

/// The share of scripts that have no other.
static inline clua_share *clua_mainshare(clua_allocator *allocator) { return &allocator->main; }
/// A share for scripts, with a limit; NULL where there is no memory.
clua_share *clua_share_open(clua_allocator *allocator, size_t limit);
/// The scripts of a share have ended: it goes when its last block is freed.
void clua_share_close(clua_allocator *allocator, clua_share *share);

/// Whether the last request was refused: what has failed just now has failed for lack of memory.
/// [-0, +0, -]
bool clua_ismemoryrefused(lua_State *L);

/* ---- Memory outside of Lua ------------------------------------------------------------------- */

/// Counts bytes that code of the host keeps for scripts, or gives them back.
static inline void clua_count(clua_allocator *allocator, clua_share *share, ptrdiff_t bytes) {
  allocator->whole.used += (size_t)bytes;
  share->meter.used += (size_t)bytes;
  // Bytes that are given back were no garbage.
  if (bytes > 0) allocator->debt += (size_t)bytes;
  else allocator->debt -= (size_t)-bytes < allocator->debt ? (size_t)-bytes : allocator->debt;
}

/// Whether a meter that grows by so many bytes passes its limit and a reserve beyond it.
static inline bool clua_passes(const clua_meter *meter, size_t growth, size_t reserve) {
  size_t most = meter->most <= SIZE_MAX - reserve ? meter->most + reserve : SIZE_MAX;
  return meter->used > most || growth > most - meter->used;
}

/// Whether so many more bytes would be too many.
static inline bool clua_isbeyond(const clua_allocator *allocator, const clua_share *share,
                                 size_t bytes) {
  return !allocator->isunlimited
      && (clua_passes(&allocator->whole, bytes, 0) || clua_passes(&share->meter, bytes, 0));
}

/// Counts the bytes of an object whose finalizer has run: they are free only after the next cycle
/// of the collector, which therefore comes sooner. [-0, +0, -]
void clua_owe(lua_State *L, size_t bytes);

enum { CLUA_DEBT = 32 << 10 };

/// Whether garbage is collected as memory is short. When the first cycle has ended, the collection
/// goes on to its end, which sets the marks anew.
static inline bool clua_iscollecting(const clua_allocator *allocator) {
  return allocator->whole.used > allocator->whole.mark
      || allocator->current->meter.used > allocator->current->meter.mark || allocator->cycles > 0;
}

/// Whether the collector has to work: Lua does not count memory that its objects keep elsewhere,
/// and does not free objects with finalizers when memory is short.
static inline bool clua_iscollectordue(const clua_allocator *allocator) {
  return allocator->debt >= CLUA_DEBT || clua_iscollecting(allocator);
}
/// Does the collector's work that is due, for some milliseconds, or where it is generational all.
/// Calls finalizers. [-0, +0, -]
void clua_workcollector(lua_State *L, clua_allocator *allocator);
/// Frees all garbage, with finalizers and without, before memory is refused. [-0, +0, -]
void clua_freegarbage(lua_State *L, clua_allocator *allocator);

/* ---- Claims ---------------------------------------------------------------------------------- */

/// The claim of an object on its own memory, which is the end of a userdata.
///
/// When Lua frees the block of the object, the allocator keeps it, with all that is in it, until
/// clua_recover has called `lost`. The collector has no work for a claim. A finalizer would keep
/// the object for another cycle, and Lua may skip it.
typedef struct clua_claim {
  /// Ends what belongs to the object; false where there is no memory for that. L is NULL when the
  /// state is closed; all memory with claims is still there then.
  bool (*lost)(lua_State *L, struct clua_claim *claim);
  /// 0 where there is no claim; twice its place in the list; when the block is lost, twice the size
  /// of the block, plus 1.
  size_t place;
} clua_claim;

/// The object whose claim it is: a struct with a field `claim`.
#define CLUA_CLAIMER(type, its_claim) ((type *)((char *)(its_claim) - offsetof(type, claim)))

/// Makes a claim, which must be the last field of a userdata; does nothing where there is one.
/// [-0, +0, m]
void clua_makeclaim(lua_State *L, clua_claim *claim, bool (*lost)(lua_State *, clua_claim *));
/// Calls `body` with the claims of one kind. [-0, +0, -]
void clua_eachclaim(lua_State *L, bool (*lost)(lua_State *, clua_claim *),
                    void (*body)(clua_claim *));
/// Ends a claim, if there is one: nothing is left to do. [-0, +0, -]
void clua_endclaim(lua_State *L, clua_claim *claim);
/// Whether an object is lost. [-0, +0, -]
static inline bool clua_haslost(lua_State *L) {
  const clua_allocator *allocator = clua_home_of(L)->allocator;
  return allocator && allocator->claims.lost;
}
/// Ends what belonged to some of the lost objects, and frees them; returns whether there are more.
/// It may call code of the host, not of scripts. [-0, +0, -]
bool clua_recover(lua_State *L);

/* ---- The collector --------------------------------------------------------------------------- */

/// Keeps the collector from beginning a step until `clua_releasecollector`, which gets the result:
/// no finalizer may run where an operation takes memory while it changes a node. An error for lack
/// of memory ends this, too, as it comes after a full collection without finalizers.
static inline bool clua_holdcollector(lua_State *L) {
  // The collector works off a debt in KB; one far below zero is due for no step.
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return false;
  lua_gc(L, LUA_GCSTEP, -(1 << 20));
  return true;
}

static inline void clua_releasecollector(lua_State *L, bool held) {
  if (held) lua_gc(L, LUA_GCSTEP, 1 << 20);
}

#endif
