/// The memory of a state: counted, limited, and failing on demand.
#ifndef CLUA_ALLOCATOR_H
#define CLUA_ALLOCATOR_H

#include "clua.h"

enum { CLUA_BLOCK_LARGEST = 1024, CLUA_BLOCK_CLASSES = CLUA_BLOCK_LARGEST / 16 };

typedef struct clua_page clua_page;
typedef struct clua_region clua_region;

/// Bytes in use and their limit.
typedef struct clua_meter {
  size_t used;   // bytes in use
  size_t limit;  // objects that would pass it are refused; 0: no limit
  size_t mark;   // garbage is collected when more bytes are in use
  size_t most;   // the limit, or the largest number
} clua_meter;

/// The memory of some scripts of a state. Until it is freed, a block belongs to the share that was
/// current when it was allocated or last grew.
typedef struct clua_share {
  clua_meter meter;
  clua_page *withroom[CLUA_BLOCK_CLASSES];  // the first page with room, by block size
  struct clua_share *next;                  // the next share of the allocator
  bool isopen;                              // whether scripts use it
} clua_share;

/// The source of pages for small blocks; initially empty.
typedef struct clua_pages {
  clua_region *regions;  // the first region with free pages
  int warm;              // how many free pages are resident
} clua_pages;

/// The claims of a state.
typedef struct clua_claims {
  struct clua_claim **list;  // by place; 0 is not a place
  size_t count, room;
  size_t spare;              // the first free place; 0 for none
  struct clua_claim *lost;   // the first claim whose block Lua has freed
} clua_claims;

struct clua_allocator {
  clua_meter whole;        // of all shares
  clua_share *current;     // receives new allocations
  clua_share interpreter;  // memory that Lua needs for itself: its stack, the table of strings
  clua_share main;         // of scripts without another share
  clua_share *others;
  bool isunlimited;        // our own code is running that must not fail
  size_t debt;             // bytes for which the collector has not worked yet
  int cycles;              // cycles completed by the current collection
  uint64_t requests;       // allocations and growths asked for so far
  uint64_t refused;        // the last request that was refused; 0: none
  size_t refusedsize;      // its size; 0 if the next request cannot repeat it
  uint64_t refuse_from;    // the first request to refuse; 0: none
  uint64_t refuse_to;      // the last request to refuse
  clua_pages pages;
  const clua_home *home;  // of the state
  clua_claims claims;
};

/// Makes a state with this allocator; NULL if out of memory. `allocator` and `home` must outlive
/// it.
lua_State *clua_newstate(clua_allocator *allocator, clua_home *home);
/// Closes a state made by clua_newstate. [-0, +0, -]
void clua_closestate(lua_State *L);
/// Frees the rest after the state was closed or could not be made.
void clua_allocator_end(clua_allocator *allocator);

/// Sets the limit of a meter; 0 for none.
void clua_meter_limit(clua_meter *meter, size_t limit);

/// The share of scripts without another share.
static inline clua_share *clua_mainshare(clua_allocator *allocator) { return &allocator->main; }
/// Makes a share for scripts, with a limit; NULL if out of memory.
clua_share *clua_share_open(clua_allocator *allocator, size_t limit);
/// The scripts of a share have ended: it is freed with its last block.
void clua_share_close(clua_allocator *allocator, clua_share *share);

/// Whether the last request was refused: an operation that failed just now ran out of memory.
/// [-0, +0, -]
bool clua_ismemoryrefused(lua_State *L);

/* ---- Memory outside of Lua ------------------------------------------------------------------- */

/// Counts bytes that the host's code keeps for scripts; a negative number returns them.
static inline void clua_count(clua_allocator *allocator, clua_share *share, ptrdiff_t bytes) {
  allocator->whole.used += (size_t)bytes;
  share->meter.used += (size_t)bytes;
  // Returned bytes were not garbage.
  if (bytes > 0) allocator->debt += (size_t)bytes;
  else allocator->debt -= (size_t)-bytes < allocator->debt ? (size_t)-bytes : allocator->debt;
}

/// Whether a meter that grows by `growth` bytes passes its limit plus a reserve.
static inline bool clua_passes(const clua_meter *meter, size_t growth, size_t reserve) {
  size_t most = meter->most <= SIZE_MAX - reserve ? meter->most + reserve : SIZE_MAX;
  return meter->used > most || growth > most - meter->used;
}

/// Whether `bytes` more bytes would pass a limit.
static inline bool clua_isbeyond(const clua_allocator *allocator, const clua_share *share,
                                 size_t bytes) {
  return !allocator->isunlimited
      && (clua_passes(&allocator->whole, bytes, 0) || clua_passes(&share->meter, bytes, 0));
}

/// Counts the bytes of an object whose finalizer has run: they are freed only in the next cycle of
/// the collector, so this makes it come sooner. [-0, +0, -]
void clua_owe(lua_State *L, size_t bytes);

enum { CLUA_DEBT = 32 << 10 };

/// Whether garbage is being collected because memory is short. Once its first cycle has ended, the
/// collection continues to its end, which sets the marks again.
static inline bool clua_iscollecting(const clua_allocator *allocator) {
  return allocator->whole.used > allocator->whole.mark
      || allocator->current->meter.used > allocator->current->meter.mark || allocator->cycles > 0;
}

/// Whether the collector has to work: Lua does not count memory that its objects keep elsewhere,
/// and does not free objects with finalizers when memory is short.
static inline bool clua_iscollectordue(const clua_allocator *allocator) {
  return allocator->debt >= CLUA_DEBT || clua_iscollecting(allocator);
}
/// Does the due work of the collector for some milliseconds, or all of it if the collector is
/// generational. Calls finalizers. [-0, +0, -]
void clua_workcollector(lua_State *L, clua_allocator *allocator);
/// Collects all garbage, including objects with finalizers, before memory is refused. [-0, +0, -]
void clua_freegarbage(lua_State *L, clua_allocator *allocator);

/* ---- Claims ---------------------------------------------------------------------------------- */

/// A claim of an object on its own memory, at the end of a userdata.
///
/// When Lua frees the block of the object, the allocator keeps it with all its contents until
/// clua_recover has called `lost`. A claim costs the collector no work. A finalizer would keep the
/// object for another cycle, and Lua may skip it.
typedef struct clua_claim {
  /// Ends everything that belongs to the object; false if out of memory. L is NULL when the state
  /// is closed; all memory with claims still exists then.
  bool (*lost)(lua_State *L, struct clua_claim *claim);
  /// 0 without a claim; otherwise twice its place in the list; once the block is lost, twice the
  /// size of the block, plus 1.
  size_t place;
} clua_claim;

/// The object of a claim: a struct with a field `claim`.
#define CLUA_CLAIMER(type, its_claim) ((type *)((char *)(its_claim) - offsetof(type, claim)))

/// Makes a claim, which must be the last field of a userdata, unless it exists already. [-0, +0, m]
void clua_makeclaim(lua_State *L, clua_claim *claim, bool (*lost)(lua_State *, clua_claim *));
/// Calls `body` with the claims whose function is `lost`. [-0, +0, -]
void clua_eachclaim(lua_State *L, bool (*lost)(lua_State *, clua_claim *),
                    void (*body)(clua_claim *));
/// Ends a claim, if there is one: `lost` will not be called. [-0, +0, -]
void clua_endclaim(lua_State *L, clua_claim *claim);
/// Whether any objects are lost. [-0, +0, -]
static inline bool clua_haslost(lua_State *L) {
  const clua_allocator *allocator = clua_home_of(L)->allocator;
  return allocator && allocator->claims.lost;
}
/// Calls `lost` for some of the lost objects and frees them; returns whether there are more. May
/// call code of the host, but not of scripts. [-0, +0, -]
bool clua_recover(lua_State *L);

/* ---- The collector --------------------------------------------------------------------------- */

/// Keeps the collector from starting a step until `clua_releasecollector`, which takes the result:
/// no finalizer may run during allocations of an operation that changes a node. An error for lack
/// of memory ends this, too, as it follows a full collection without finalizers, and so does a stop
/// of scripts (clua_poll).
static inline bool clua_holdcollector(lua_State *L) {
  // The collector works off a debt in KB; if it is far below zero, no step is due.
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return false;
  lua_gc(L, LUA_GCSTEP, -(1 << 20));
  return true;
}

static inline void clua_releasecollector(lua_State *L, bool held) {
  if (held) lua_gc(L, LUA_GCSTEP, 1 << 20);
}

#endif
