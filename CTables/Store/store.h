/// The store of an observed table: its node, the records of its keys, and writes. For this target
/// only.
#ifndef CLUA_STORE_H
#define CLUA_STORE_H

#include "clua_allocator.h"
#include "clua_lazy.h"
#include "clua_observed.h"

/// The metamethods that a private metatable forwards to the user's, in the order of `clua_events`.
enum {
  CLUA_EVENT_LEN, CLUA_EVENT_GC, CLUA_EVENT_NAME, CLUA_EVENT_MODE,
  CLUA_EVENT_CALL, CLUA_EVENT_TOSTRING, CLUA_EVENT_CLOSE, CLUA_EVENT_UNM, CLUA_EVENT_BNOT,
  CLUA_EVENT_EQ, CLUA_EVENT_LT, CLUA_EVENT_LE, CLUA_EVENT_CONCAT,
  CLUA_EVENT_ADD, CLUA_EVENT_SUB, CLUA_EVENT_MUL, CLUA_EVENT_DIV, CLUA_EVENT_MOD, CLUA_EVENT_POW,
  CLUA_EVENT_IDIV, CLUA_EVENT_BAND, CLUA_EVENT_BOR, CLUA_EVENT_BXOR, CLUA_EVENT_SHL,
  CLUA_EVENT_SHR,
  CLUA_EVENT_COUNT
};
extern const char *const clua_events[CLUA_EVENT_COUNT];

/// The values that a state keeps for this engine: user values of its state userdata.
enum {
  CLUA_SHARED_ENDING = 1,      // metatable of sentinels, which notice the end of a table
  CLUA_SHARED_WEAK,            // {__mode = "kv"}
  CLUA_SHARED_INDEX,           // Lua closure for `__index` over a user's function
  CLUA_SHARED_NEWINDEX,        // Lua closure for `__newindex` over a user's
  CLUA_SHARED_GUARD,           // metatable of the guard that ends a `table.sort`
  CLUA_SHARED_NAMES,           // anchors "__index", "__newindex", "__metatable"
  CLUA_SHARED_NUMBERS,         // object -> number, for the names of members
  CLUA_SHARED_NUMBERED,        // number -> object
  CLUA_SHARED_CLASSES,         // metatable of a class of collections -> its kind
  CLUA_SHARED_MODELS,          // model -> its record
  CLUA_SHARED_LAZYVALUES,      // holds the block of lazy keys' values
  CLUA_SHARED_NOTES,           // the queue of writes by C modules
  CLUA_SHARED_LOGS,            // table -> its entries in the queue
  CLUA_SHARED_EVENTS,          // names of the events: CLUA_SHARED_EVENTS + event
  CLUA_SHARED_FORWARDERS = CLUA_SHARED_EVENTS + CLUA_EVENT_COUNT,  // closures of the events
  CLUA_SHARED_COUNT = CLUA_SHARED_FORWARDERS + CLUA_EVENT_COUNT - 1
};

/// The places of tables in the list by which their nodes find them.
typedef struct clua_places {
  int tables;      // registry reference of the list, which is weak
  uint32_t count;  // how many places were assigned
  uint32_t *free;  // the places that are free again
  size_t spare, room;
} clua_places;

/// A function called by a forwarder in its own place (Shape/names.c).
typedef struct clua_forwarded {
  const void *activation;  // the call, which was the forwarder's
  const void *function;
  const char *name;        // of the metamethod; NULL if the forwarder was called without one
} clua_forwarded;

/// The number of entries for each hash of an activation, and the number of hashes.
enum { CLUA_FORWARDED = 4, CLUA_FORWARDED_HASHES = 32 };

/// The handlers of the code above the store, see below.
typedef struct clua_handlers clua_handlers;

typedef struct clua_shared {
  clua_observation observation;
  const clua_handlers *above;
  int reference;     // registry reference of this userdata
  clua_places places;
  int cells;         // registry reference of the weak list of lazy keys' cells
  struct clua_lazyvalues *values;  // by lazy key number
  lua_Integer capacity;            // how many values fit
  int threads;       // registry reference of the list of getters' coroutines
  int running;       // how many coroutines are running
  int tracked;       // registry reference of the list of opened tables' metatables
  int opened;        // how many tables are opened
  lua_State *getter;  // the coroutine of the running getter, if it has one
  clua_slot *waits;   // the slot for which the getter waits
  bool raised;       // a getter's error was raised in a reader, whose traceback may not be made yet
  bool active;       // something has been observed
  bool closed;       // no more reports
  bool traversed;    // `next` has returned a key: loops may be active
  lua_Integer noted, heard;  // writes of C modules that were queued, and that were reported
  lua_CFunction insert, remove, move, sort, concat, unpack;
  lua_CFunction getmetatable, setmetatable, rawget, rawset, rawlen;
  lua_CFunction debug_getmetatable, debug_setmetatable;
  clua_forwarded forwarded[CLUA_FORWARDED_HASHES][CLUA_FORWARDED];
  clua_claim claim;
} clua_shared;

/// User values of a node.
enum {
  CLUA_NODE_STORE = 1,
  CLUA_NODE_ENDING,     // a sentinel, if kept values must outlive the table
  CLUA_NODE_METATABLE,  // the user's, or nil
  CLUA_NODE_KEYS,       // place -> key; weak if one is an object, which is at its address;
                        // the key itself if it is the only one
  CLUA_NODE_PLACES,     // key -> place; only if there are many keys, or keys found by value;
                        // weak if one is an object
  CLUA_NODE_SLOTS,      // light(slot) -> place; exists together with the places
  CLUA_NODE_ORDER,      // a chain, or place in the order -> key; the successor of a pair's key
  CLUA_NODE_POSITIONS,  // key -> place in the order; the moved key of a pair
  CLUA_NODE_RECORDS,    // the block of records, if there are many
  CLUA_NODE_JOURNAL,    // the table of kept values of the bridge's journal
  CLUA_NODE_LAZY,       // key -> cell; the cell itself if there is only one
  CLUA_NODE_LAZYMETATABLE,  // the store's, if it does not inherit like the table
  CLUA_NODE_USERVALUES = CLUA_NODE_LAZYMETATABLE
};

/// A key whose home is the store while the table as a whole stays in place.
typedef struct clua_record {
  union {
    const void *pointer;   // of the key; NULL for a number, a boolean or a long string
    lua_Integer position;  // if the key is a positive integer
  };
  clua_slot *slot;      // NULL after the last watcher left, until the turn ends
  int8_t type;          // of the key: a light pointer may equal an object's
  bool positive;        // the key is a positive integer
  bool lazy;            // it has a cell, and stays in the store
  bool loading;         // its loader is running
  bool checked;         // its name is a stored property of the model
  uint8_t flags;        // CLUA_LAZY_…
} clua_record;

enum { CLUA_RECORDS_INLINE = 2, CLUA_RECORDS_LINEAR = 8, CLUA_SHORT_STRING = 40 };

/// Whether a table may be changed.
typedef enum clua_access {
  CLUA_ACCESS_OPEN,
  CLUA_ACCESS_SORTING,   // an array whose elements are being compared
  CLUA_ACCESS_READONLY,  // a copy passed to other code; permanently in the store
  CLUA_ACCESS_SHARED,    // the same, for a library that scripts share
} clua_access;

/// How to find keys that the table itself lacks, while the table is not opened: the value of
/// `__index` in the private metatable.
typedef enum clua_index {
  CLUA_INDEX_STORE,    // the store, which inherits like the table; for a set, the user's `__index`
  CLUA_INDEX_CLOSURE,  // the Lua closure that calls the user's function
  CLUA_INDEX_NATIVE,   // the store, which calls the user's C function
} clua_index;

/// Whether tracked getters read the table.
typedef enum clua_opening {
  CLUA_OPENING_NEVER,
  CLUA_OPENING_OVER,  // a tracked getter did, and may do so again: all keys stay in the store
  CLUA_OPENING_NOW,   // a running tracked getter does: each read is noted
} clua_opening;

/// How active loops find keys that have moved (Store/traversal.c).
typedef enum clua_order_kind {
  CLUA_ORDER_NONE,      // no key has moved, or no loop was active
  CLUA_ORDER_PAIR,      // a chain of one key, which needs no table
  CLUA_ORDER_CHAIN,     // the places of keys that moved singly
  CLUA_ORDER_RECORDED,  // the order of all keys, which moved together
} clua_order_kind;

/// The order of the keys. 32 bits suffice: Lua's array and hash parts have fewer than 2^32 keys
/// together.
typedef struct clua_order {
  union {
    struct {
      uint32_t links;   // in a pair or a chain: how many keys have moved,
      uint32_t hangs;   // and before how many keys of the table they stand, at most
    };
    struct {
      uint32_t prefix;  // recorded: keys 1…prefix come first,
      uint32_t length;  // followed by this many in CLUA_NODE_ORDER
    };
  };
  clua_order_kind kind : 8;
  bool unfinished : 1;  // a traversal may stand between two moved keys
  bool restarts : 1;    // or, if recorded, at a key that was removed before: it starts again
} clua_order;

struct clua_node {
  const void *mark;         // &clua_node_key
  clua_shared *shared;
  void *owner;              // of the engine; NULL if there is none
  clua_slot *every;         // the slot of `*`

  clua_kind kind : 8;
  clua_access access : 8;
  clua_index index : 8;
  clua_opening opening : 8;

  // Its life.
  bool ended : 1;           // no more reports
  bool rearmed : 1;         // its sentinel waits for the finalizer of the table
  // Its store and its keys.
  bool all : 1;             // all keys except `__…`
  bool onekey : 1;          // CLUA_NODE_KEYS is the key of the only record
  bool indexed : 1;         // CLUA_NODE_PLACES and CLUA_NODE_SLOTS exist
  bool onecell : 1;         // CLUA_NODE_LAZY is a cell
  bool revived : 1;         // a finalizer brought back an object that is a watched key
  // Reports.
  bool journaling : 1;      // every write
  bool counting : 1;        // for a dictionary: `size` is kept up to date
  bool listed : 1;          // it was a plain list when a key was last watched
  bool disturbed : 1;       // other code wrote during a `table.sort`
  // The user's metatable.
  bool inherits : 1;        // it exists
  bool modelled : 1;        // an instance of a model with its own access function
  bool weak : 1;            // it has a `__mode`
  bool moded : 1;           // CLUA_NODE_LAZYMETATABLE has one
  uint16_t sorts;           // how many `table.sort` are active in the store

  // Its keys in the store.
  clua_record *records;     // `inlined`, or the block of CLUA_NODE_RECORDS
  int32_t count, capacity;
  int32_t lazies;           // how many keys have a cell
  int32_t positives;        // slots of positive integer keys
  uint64_t quiet;           // the `armings` at which no slot of a positive key wanted anything
  lua_Integer size;         // of a set; of a dictionary while counting; of a list while
                            // journaling: #t
  clua_order order;

  uint32_t place;           // the place of its table in the list of tables, 0 for none
  lua_Integer kept;         // the key of the kept value, if that is a function

  // The user's metatable, and the neighbours in the list of its dependents.
  struct {
    clua_node *node, *next, **previous;
  } usermetatable;
  // For a table that is the metatable of other tables.
  struct {
    clua_node *dependents;  // nodes of tables with this metatable
    uint32_t events;        // its events, if known
    bool known;
  } asmetatable;

  clua_record inlined[CLUA_RECORDS_INLINE];
  clua_claim claim;         // until the node has ended
};

/// Addresses unknown to scripts: the mark of nodes, and the registry key of the state's userdata.
extern const char clua_node_key, clua_shared_key;

/// The elements of a private metatable; they are faster to access than fields.
enum { CLUA_OWN_NODE = 1, CLUA_OWN_VALUE = 2 };

/* ---- Handlers of the code above -------------------------------------------------------------- */

/// The callbacks of the store to the folders that use it, on which it does not depend. Writing an
/// observed key that is neither lazy nor of an array needs none of them.
struct clua_handlers {
  /// Fills or refills the private metatable of the table at `table` from the user's metatable in
  /// the node. `mark` says to mark the table for finalization, as setmetatable does. Indices are
  /// absolute. [-0, +0, m]
  void (*fill)(lua_State *L, clua_node *node, int table, int metatable, int userdata, bool mark);
  /// Called when the metamethod at `key` of the node's table was set: updates the metatables that
  /// forward to it. [-0, +0, m]
  void (*metamethod_set)(lua_State *L, clua_node *node, int key);
  /// Assigns to an array, raw or not; absolute indices. [-0, +0, v]
  void (*assign_array)(lua_State *L, clua_node *node, int table, int userdata, int key, int value);
  /// Raises if the array cannot take the value under the key. Returns the index, or 0 if there is
  /// nothing to assign. [-0, +0, v]
  lua_Integer (*check_array)(lua_State *L, clua_node *node, int userdata, int key, int value);
  /// Runs `__newindex`, which is at 4, with a model's instance, a key and a value at 1…3. Returns
  /// the number of results, or -1 if it is not a model's function. [-0, +any, e]
  int (*assign_instance)(lua_State *L);
  /// Pushes the methods used by the `__index` of a model's instances, which is on top of the stack;
  /// returns false and pushes nothing if that is another function. [-0, +(0|1), -]
  bool (*push_methods)(lua_State *L);
  /// Assigns to a lazy key. Indices are absolute. [-0, +0, e]
  void (*assign_lazy)(lua_State *L, clua_node *node, clua_record *record, int userdata, int key,
                      int value);
  /// Returns the value of a record's lazy key that the store does not have; called as the last step
  /// of a function. Indices are absolute. [-0, +any, e]
  int (*read_lazy)(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                   int key);
  /// Returns the value of the key at 2 through the user's metatable. [-0, +any, e]
  int (*index_behind)(lua_State *L, clua_node *node, int userdata);
  /// Called when a node with lazy keys gets another store. [-0, +0, -]
  void (*store_replaced)(lua_State *L, const clua_node *node, int userdata, int store);
};

/* ---- Nodes ---------------------------------------------------------------------------------- */

/// The shared data of a state; NULL for states of C modules, which have no home. [-0, +0, -]
static inline clua_shared *clua_shared_of(lua_State *L) {
  return (clua_shared *)clua_home_of(L)->tables;
}
/// Pushes the userdata of the state. [-0, +1, -]
static inline void clua_pushstate(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->reference);
}
/// Pushes one of the state's shared values. [-0, +1, -]
void clua_pushshared(lua_State *L, int which);
/// Pushes one of its shared tables; on first use it is made with the weakness `mode`. [-0, +1, m]
void clua_pushsharedtable(lua_State *L, int which, const char *mode);
/// Pushes a new table with the weakness `mode`. [-0, +1, m]
void clua_pushweak(lua_State *L, const char *mode);

/// Pushes the userdata of the node whose private metatable is at `index`; returns NULL and pushes
/// nothing if it is a script's metatable. [-0, +(0|1), -]
static inline clua_node *clua_pushnodeof(lua_State *L, int index) {
  if (lua_rawgeti(L, index, CLUA_OWN_NODE) == LUA_TUSERDATA
      && lua_rawlen(L, -1) == sizeof(clua_node)) {
    clua_node *node = (clua_node *)lua_touserdata(L, -1);
    if (node->mark == &clua_node_key) return node;
  }
  lua_settop(L, -2);
  return NULL;
}

/// The node behind the metatable of `index`, even if it has ended. If there is one, pushes the
/// metatable and the node's userdata. [-0, +(0|2), -]
static inline clua_node *clua_pushnodeat(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) return NULL;
  clua_node *node = clua_pushnodeof(L, -1);
  if (!node) lua_settop(L, -2);
  return node;
}

/// Pushes the table, its private metatable and the userdata of a node, or nothing if the table is
/// gone. [-0, +(0|3), -]
bool clua_pushnode(lua_State *L, clua_node *node);

/// The shared record of a replaced base function: its first upvalue.
static inline clua_shared *clua_sharedhere(lua_State *L) {
  return (clua_shared *)lua_touserdata(L, lua_upvalueindex(1));
}

/// The node of any value; quick if nothing was ever observed. [-0, +(0|2), -]
static inline clua_node *clua_observedat(lua_State *L, clua_shared *shared, int index) {
  if (!shared->active || lua_type(L, index) != LUA_TTABLE) return NULL;
  return clua_pushnodeat(L, index);
}

/// Whether the key at `key` begins with `__`. [-0, +0, -]
static inline bool clua_ismetakey(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TSTRING) return false;
  const char *text = lua_tolstring(L, key, NULL);
  return text[0] == '_' && text[1] == '_';
}

/// Like clua_node_make, for a table of a kind. Its private metatable has room for this many of our
/// metamethods beside those for reads and writes. [-0, +0, m]
clua_node *clua_node_makekind(lua_State *L, int index, clua_kind kind, int metamethods);
/// Ends the claim of a node that has ended: Lua may free it. [-0, +0, -]
void clua_unclaimnode(lua_State *L, clua_node *node);
/// Ends a node if it or its block of records was lost. [-0, +0, -]
void clua_losenode(lua_State *L, clua_node *node);
/// If the node's table was garbage and another object's finalizer has brought it back (L8), ends
/// the node: its lazy keys become plain ones. `userdata` is absolute. [-0, +0, -]
bool clua_endifdead(lua_State *L, clua_node *node, int userdata);
/// Registers the node's table, which is at an absolute index, for clua_node_pushtable. [-0, +0, m]
void clua_remembertable(lua_State *L, clua_node *node, int table);
/// Undoes clua_remembertable. [-0, +0, -]
void clua_forgettable(lua_State *L, clua_node *node);
/// Prepares a state for nodes and pushes its userdata. [-0, +1, m]
clua_shared *clua_install_nodes(lua_State *L, const clua_observation *observation,
                                const clua_handlers *above);

/// Whether a running tracked getter reads the table.
static inline bool clua_isopened(const clua_node *node) {
  return node->opening == CLUA_OPENING_NOW;
}
/// Whether keys of the table have moved singly while a loop may have been active.
static inline bool clua_ischained(const clua_node *node) {
  return node->order.kind == CLUA_ORDER_PAIR || node->order.kind == CLUA_ORDER_CHAIN;
}

/// Whether all keys are always in the store.
static inline bool clua_isstorefixed(const clua_node *node) {
  return node->kind == CLUA_KIND_ARRAY || node->kind == CLUA_KIND_SET;
}
/// Replaces the metatable on top, or nil, by its field, or nil. [-1, +1, -]
int clua_takefield(lua_State *L, const char *name);
/// Pushes a field of the node's user metatable, or nil. [-0, +1, -]
int clua_pushfield(lua_State *L, int userdata, const char *name);
/// Gives the table at `table` the metatable on top, or none for nil, without marking it for
/// finalization, and pops the metatable. [-1, +0, -]
void clua_setunmarked(lua_State *L, int table);
/// Gives a store the metatable by which it inherits. [-0, +0, -]
void clua_setstoremetatable(lua_State *L, clua_node *node, int userdata, int store);
/// Sets `__index` of a private metatable to its value for a table that is not opened. [-0, +0, m]
void clua_fillindex(lua_State *L, clua_node *node, int metatable, int userdata);
/// Makes the user's metatable of a node report new metamethods. [-0, +0, m]
void clua_watchmetatable(lua_State *L, clua_node *node, int userdata);
/// Ends these reports of the user's metatable. [-0, +0, -]
void clua_unwatchmetatable(clua_node *node);
/// The events of the metatable at `user`, as bits; the state's userdata is at `shared`. [-0, +0, -]
uint32_t clua_eventsof(lua_State *L, int user, int shared);

/// Whether the key at `key` is a positive integer, possibly as a float. [-0, +0, -]
bool clua_ispositive(lua_State *L, int key);
/// Appends a record whose slot is not set yet; it counts only once `count` is raised. [-0, +0, m]
clua_record *clua_preparerecord(lua_State *L, clua_node *node, int userdata, int key);
/// Pushes the key of the record at a place, counted from 1. [-0, +1, -]
void clua_pushrecordkey(lua_State *L, const clua_node *node, int userdata, int place);
/// Claims the records of a node, if they are in a block. [-0, +0, m]
void clua_claimrecords(lua_State *L, clua_node *node);
/// Ends that claim. [-0, +0, -]
void clua_unclaimrecords(lua_State *L, clua_node *node);
/// Removes the record at a place, counted from 1. [-0, +0, -]
void clua_droprecord(lua_State *L, clua_node *node, int userdata, int place);
/// The place of a slot's record; 0 if the slot has no record. [-0, +0, -]
int clua_placeofslot(lua_State *L, clua_node *node, const clua_slot *slot);
/// The record of the key at `key`; `userdata` is the node's. Indices are absolute. [-0, +0, -]
clua_record *clua_record_of(lua_State *L, clua_node *node, int userdata, int key);

/// Whether the store is the home of the key at `key`. [-0, +0, -]
static inline bool clua_isstored(lua_State *L, clua_node *node, int userdata, int key) {
  if (node->all) return !clua_ismetakey(L, key);
  return node->count != 0 && clua_record_of(L, node, userdata, key) != NULL;
}

/// Whether a write of a record's key (or NULL) has to be reported or counted. [-0, +0, -]
static inline bool clua_iswanted(const clua_node *node, const clua_record *record) {
  if (!node->owner) return false;
  if (node->journaling || node->counting) return true;
  if (node->every && node->every->wants) return true;
  return record && record->slot && record->slot->wants;
}

/// Stores and reports a script's write of `value` under `key`, which belongs to the store, or
/// assigns to a lazy key. The indices are absolute. [-0, +0, e]
void clua_store(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                int key, int value);
/// Whether the table can never change again.
static inline bool clua_isfrozen(const clua_node *node) {
  return node->access >= CLUA_ACCESS_READONLY;
}
/// Raises if the table must not be changed now. [-0, +0, v]
int clua_raiseaccess(lua_State *L, const clua_node *node);
static inline void clua_checkaccess(lua_State *L, const clua_node *node) {
  if (node->access != CLUA_ACCESS_OPEN) clua_raiseaccess(L, node);
}
/// `__newindex` of a read-only table.
int clua_refusenewindex(lua_State *L);
/// Writes the value at `value` under the key at `key`; all indices are absolute. [-0, +0, e]
typedef void (*clua_writer)(lua_State *L, clua_node *node, int table, int userdata, int key,
                            int value);
/// Moves raw values that C code wrote to the table, beside the store, into the store: writes each
/// key with `write`, unless it must not be written. [-0, +0, e]
void clua_absorb(lua_State *L, clua_node *node, int table, int userdata, clua_writer write);
/// Does the same before a change of the list in the store of a table: such values would hide the
/// result. [-0, +0, e]
void clua_absorblist(lua_State *L, int table);
/// Writes like a script. [-0, +0, e]
void clua_writeheard(lua_State *L, clua_node *node, int table, int userdata, int key, int value);
/// Writes for a C module: no code of the program runs, and clua_hear reports the write later.
/// [-0, +0, e]
void clua_writeunheard(lua_State *L, clua_node *node, int table, int userdata, int key, int value);
/// Discards unreported writes of C modules when the state closes. [-0, +0, -]
void clua_dropunheard(clua_shared *shared);
/// Replaces the nil on top by the inherited value of the key, if `__index` is a table. [-0, +0, -]
void clua_inheritvalue(lua_State *L, int userdata, int key);
/// Updates the size after a write of a key; `was` and `is` say whether it had and has a value.
/// [-0, +0, -]
void clua_keepsize(lua_State *L, clua_node *node, int store, int key, bool was, bool is);
/// `__newindex` of a table whose own metatable has none. [-0, +0, e]
int clua_storenewindex(lua_State *L);
/// `__len` of a table that moved as a whole and whose own metatable has none. [-0, +1, -]
int clua_storelength(lua_State *L);
/// Reports a stored write to the engine, if a slot or a journal wants it. [-0, +0, -]
void clua_report(lua_State *L, clua_node *node, clua_slot *slot, int table, int key, int old,
                 int new_, bool was, bool is);
/// Writes to the home of the key, like a script's `rawset`; the indices are absolute. [-0, +0, m]
void clua_scriptrawset(lua_State *L, int table, int key, int value, bool report);

/* ---- Traversal ------------------------------------------------------------------------------ */

/// Set when a C module has traversed a table: its loops may be active in any state.
extern int clua_looping;
static inline void clua_noteloop(void) { __atomic_store_n(&clua_looping, 1, __ATOMIC_RELAXED); }
/// Whether a loop may be active, so that places of keys have to be kept.
static inline bool clua_istraversed(const clua_shared *shared) {
  return shared->traversed || __atomic_load_n(&clua_looping, __ATOMIC_RELAXED);
}
/// Like clua_next, for an observed table; `table` and `userdata` are absolute. [-1, +(2|0), v]
int clua_nodenext(lua_State *L, clua_node *node, int table, int userdata);
/// Pushes the key after `key` in the table itself, or a value that is not a key; returns false and
/// pushes nothing if the key has no place in the table any more. Indices are absolute.
/// [-0, +(0|1), m]
bool clua_successor(lua_State *L, int table, int key);
/// Like clua_successor, in the order of a traversal: keys that have moved keep their places.
/// [-0, +(0|1), m]
bool clua_follower(lua_State *L, clua_node *node, int table, int userdata, int key);
/// Remembers the place of a key that is about to leave the table. Indices are absolute. [-0, +0, m]
void clua_keepplace(lua_State *L, clua_node *node, int table, int userdata, int key);
/// Forgets all places. [-0, +0, -]
void clua_forgetplaces(lua_State *L, clua_node *node, int userdata);

/* ---- Edits ---------------------------------------------------------------------------------- */

/// An operation in the store of a list. `low` and `high` bound the keys that it wrote; `length` is
/// the length before it.
typedef struct clua_edit {
  clua_edit_kind kind;
  lua_Integer at, from, count, low, high, length;
  int element, list;
  bool permutation;
} clua_edit;

/// The length of the list in a store. While the node journals, it is the border that moves with
/// each write; otherwise it may be any border. [-0, +0, -]
static inline lua_Integer clua_listlength(lua_State *L, const clua_node *node, int store) {
  if (node->kind == CLUA_KIND_SET) return node->size;
  if (node->journaling && node->kind <= CLUA_KIND_ARRAY) return node->size;
  return (lua_Integer)lua_rawlen(L, store);
}
/// The largest length of a list: it ends before the first lazy key, which is not an element.
/// [-0, +0, -]
lua_Integer clua_listlimit(const clua_node *node);
/// Moves the kept border: the list is expected to have `length` elements now. [-0, +0, -]
void clua_setlength(lua_State *L, clua_node *node, int store, lua_Integer length);

/// Whether a slot or a journal has to be notified of an operation on the list. [-0, +0, -]
bool clua_islistheard(const clua_node *node);
/// Reports a completed operation to the engine, as one event; the store is at `store`, and all
/// indices are absolute. [-0, +0, m]
void clua_reportedit(lua_State *L, clua_node *node, int table, int store, const clua_edit *edit);
/// Reports that elements of a list are about to move one by one: transactions record the list.
/// [-0, +0, m]
void clua_announceedit(lua_State *L, clua_node *node);
/// Pushes a copy of list[low…high] as 1…. [-0, +1, m]
void clua_copyrange(lua_State *L, int list, lua_Integer low, lua_Integer high);

/* ---- Tracking ------------------------------------------------------------------------------- */

/// Whether a tracked getter is running. [-0, +0, -]
bool clua_istracking(lua_State *L);
/// Reports a read of an opened table as a whole, or of its size. [-0, +0, m]
void clua_noteread(lua_State *L, clua_node *node, clua_reading what);
/// Pushes the table whose keys are the opaque tables, or nil; returns whether there is one.
/// [-0, +1, -]
bool clua_pushopaque(lua_State *L);
/// Reports a read of the key at `key` of an opened table; indices are absolute. [-0, +0, m]
void clua_notekey(lua_State *L, clua_node *node, int userdata, int key);
/// Moves all keys of a node's table into its store. [-0, +0, m]
void clua_moveall(lua_State *L, clua_node *node);

#endif
