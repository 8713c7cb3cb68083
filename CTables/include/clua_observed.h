/// Lua tables observed in place.
///
/// Observing key k of table t gives t a private metatable M and a private store S, moves t[k] into
/// S, and lets reads fall through to S (`M.__index = S`) and writes reach C (`M.__newindex`). Every
/// other key of t stays where it is. The metatable that t had, U, is reached behind S; scripts go
/// on seeing U and all keys in t, because the base functions that could show the difference are
/// replaced (L7).
#ifndef CLUA_OBSERVED_H
#define CLUA_OBSERVED_H

#include "clua.h"

/// The head of the engine's record of one observed key: C reads it on each write of that key.
typedef struct clua_slot {
  uint8_t wants;  // CLUA_WANTS_… bits, 0 while all watchers of it are pending already
  uint8_t valid;  // of a lazy key: its value is in the store, or is nil
  uint8_t reserved[2];
  uint32_t stamp;  // the tracked getter that has read it already
} clua_slot;

enum {
  CLUA_WANTS_CHANGES = 1,  // report a write that changes the value (T5)
  CLUA_WANTS_WRITES = 2,   // report also a write of the value that was there
  CLUA_WANTS_VALUES = 4,   // report the old and the new value too
  CLUA_WANTS_OBJECTS = 8,  // report a write that brings a table or an object, or takes one away
};

/// One observed table. Lives in a userdata that only M holds, so it dies with the table.
typedef struct clua_node clua_node;

/// The kind of collection that a table is by type.
typedef enum clua_kind {
  CLUA_KIND_PLAIN, CLUA_KIND_ARRAY, CLUA_KIND_SET, CLUA_KIND_DICTIONARY,
} clua_kind;

/// The kind of change that one operation made to a list.
typedef enum clua_edit_kind {
  CLUA_EDIT_NONE,     // one key was written, of whatever kind
  CLUA_EDIT_INSERT,   // `element` came in at `at`
  CLUA_EDIT_REMOVE,   // `element` was taken out at `at`
  CLUA_EDIT_MOVE,     // out at `from`, in at `at`
  CLUA_EDIT_SWAP,     // those at `from` and `at`
  CLUA_EDIT_APPEND,   // `count` elements from `at` on
  CLUA_EDIT_CLEAR,    // all `count` elements, which are in `list`
  CLUA_EDIT_RANGE,    // `count` keys from `at` on were written; `list` has what was there
  CLUA_EDIT_WHOLE,    // `list` has the `count` elements of before
} clua_edit_kind;

/// A write as it is reported to the engine. The indices are absolute stack positions.
typedef struct clua_write {
  clua_node *node;
  clua_slot *slot;   // of the key, or NULL if only `*` is observed
  clua_slot *every;  // of `*`, or NULL
  int key;
  int old, new_;     // what a script reads before and after: inherited values count (T5)
  bool same;         // by T5: nothing changed
  bool uncompared;   // a change, though the old value is not known
  bool triggered;    // by the program, of what is there already: nothing was stored
  bool was, is;      // the key had a value of its own before, and has one now
  /// The kind of edit; of an edit the key and the values above are those of the first element that
  /// changed.
  clua_edit_kind edit;
  lua_Integer at, from, count;
  int element, list;
  lua_Integer length;  // of the list afterwards, while the node journals
  bool permutation;  // the whole has the elements that it had, in another order
  /// True while a sort is at work in the list, whose end reports all changes.
  bool unsettled;
  /// Other observed elements that changed: `slot`, and key and values where `slot` wants them.
  const struct clua_write *others;
  int othercount;
  /// All changes of an edit, and where the list is; see clua_write_nextchange.
  const struct clua_edit *details;
  int store;
} clua_write;

struct clua_shared;
struct clua_evaluation;

typedef struct clua_observation {
  void *context;
  /// A key whose slot (or whose table's `*` slot) wants it, or any key of a node that journals, was
  /// written; the value is stored already. One call for one operation on a list.
  /// May run Lua code, protected; never raises; leaves the stack as it was.
  void (*written)(void *context, lua_State *L, const clua_write *write);
  /// A key was written that `written` reports later: what is computed from it is invalid from now
  /// on. Runs no Lua code, and leaves the stack as it was.
  void (*outdated)(void *context, lua_State *L, const clua_write *write);
  /// Writes of one operation begin, or are all made: immediate watchers are called then. May run
  /// Lua code, protected; never raises; leaves the stack as it was.
  void (*batch)(void *context, lua_State *L, bool begins);
  /// The table of `node` was collected; what the node keeps is on top of the stack, nil where Lua
  /// has freed it. Called from clua_recover, from the finalizer of a sentinel, or when a table that
  /// is back is used anew, also while the state closes: must not run Lua code. L is NULL when the
  /// state is closed. The node's memory may be freed afterwards.
  void (*ended)(void *context, lua_State *L, clua_node *node, void *owner);
  /// The table of `node` was given up by the collector and is back: its own finalizer, which runs
  /// next, may keep it. Called from a finalizer: must not run Lua code.
  void (*revived)(void *context, lua_State *L, clua_node *node);
  /// Counts how often a slot began to want something again; NULL where that is not counted.
  const uint64_t *armings;
  /// How many operations look for immediate watchers to call, and may run getters: clua_hear waits
  /// for their end.
  const int32_t *collectors;
  /// A lazy key that is invalid is read: brings it up to date; false with an error pushed.
  bool (*compute)(void *context, lua_State *L, clua_slot *slot);
  /// Takes the result of a getter that has computed; returns true with the next one in
  /// `evaluation`.
  bool (*evaluated)(struct clua_evaluation *evaluation);
  /// A lazy key is assigned, or made invalid: the value is popped.
  void (*assign)(void *context, lua_State *L, clua_slot *slot, bool invalid);
  /// The tracked getter that is running has read something of an opened table: the key, which may
  /// have a slot, is popped, nil where it is the whole.
  void (*read)(void *context, lua_State *L, clua_node *node, clua_slot *slot, int what);
  /// The number of that getter's run, 0 while none is running.
  const uint32_t *stamp;
} clua_observation;

/// Prepares a state: replaces the base functions that could distinguish an observed table from a
/// plain one. Call after luaL_openlibs, before any script runs, protected. [-0, +0, m]
void clua_observation_install(lua_State *L, const clua_observation *observation);

/// The node of the table at `index`, or NULL where it is not observed (or not a table). [-0, +0, -]
clua_node *clua_node_at(lua_State *L, int index);
/// As clua_node_at; the node of a table that was garbage, and came back without it, ends (L8).
/// [-0, +0, -]
clua_node *clua_node_livingat(lua_State *L, int index);
/// The node of the table at `index`, made if there is none yet. [-0, +0, m]
clua_node *clua_node_make(lua_State *L, int index);
/// Pushes the table of a node, nil when it is being collected. [-0, +1, -]
void clua_node_pushtable(lua_State *L, clua_node *node);
/// Ends the node of a table that is not there, unless its own finalizer may bring it back.
/// [-0, +0, -]
void clua_node_lose(lua_State *L, clua_node *node);
/// Whether the table of a node is there: from the moment in which the collector gives a table up it
/// is not, whenever finalizers run. [-0, +0, -]
bool clua_node_isthere(lua_State *L, clua_node *node);
/// Pushes the values that the node of the table at `index`, which must be observed, keeps
/// (clua_callbacks.h): a table of values by their keys, the only one of them where that is a
/// function, or nil. [-0, +1, -]
void clua_node_pushvalueat(lua_State *L, int index);
/// The engine's record of this node; NULL to begin with. Writes of a node without owner are not
/// reported.
void *clua_node_owner(const clua_node *node);
void clua_node_setowner(clua_node *node, void *owner);

/// The slot registered for the key at `key`, or NULL. [-0, +0, -]
clua_slot *clua_node_slot(lua_State *L, clua_node *node, int key);
/// Registers the slot of the key at `key` and moves the key into the store; a positive integer key
/// moves the whole table (as `*` does). The key is neither nil, NaN, nor a name beginning with
/// `__`. [-0, +0, m]
void clua_node_watch(lua_State *L, clua_node *node, int key, clua_slot *slot);
/// What is known of a key that is prepared.
enum {
  CLUA_PREPARE_DECLARED = 1,  // it is to be lazy: its name needs no check
  CLUA_PREPARE_WHOLE = 2,     // all keys are expected to move
  CLUA_PREPARE_HELD = 4,      // the collector is held already
  CLUA_PREPARE_STORED = 8,    // a stored property: its name needs no check
};

/// The node of the table at `table`, made if there is none. A key at `key` that is a plain name is
/// in the store afterwards, without a slot, which clua_node_setslot gives it. Both indices are
/// absolute. [-0, +0, m]
clua_node *clua_node_prepare(lua_State *L, int table, int key, int known);
/// Registers a slot for a key that is in the store already and has none; false where that is not
/// so, or would take memory. [-0, +0, -]
bool clua_node_setslot(lua_State *L, clua_node *node, int key, clua_slot *slot);
/// The address of the string at `index`, if it is a short one that is no name of a metamethod: Lua
/// has each of these once. NULL for other values. [-0, +0, -]
const void *clua_shortname(lua_State *L, int index);
/// The place of the record of a short name, by its address; 0 where a plain table has none, and
/// for other kinds. [-0, +0, -]
int clua_node_placeofname(const clua_node *node, const void *name);
/// The slot of the record at a place; NULL where it has none. [-0, +0, -]
clua_slot *clua_node_slotat(const clua_node *node, int place);
/// Whether clua_node_setslotat may be called: not where the name has to be checked, as a model may
/// not have it. [-0, +0, -]
bool clua_node_takesslot(const clua_node *node, int place);
/// Gives the record at a place, of a name, its slot. [-0, +0, -]
void clua_node_setslotat(clua_node *node, int place, clua_slot *slot);
/// Pushes the value of the name that has the record at a place; false, and nothing, where it is
/// lazy, inherited, nil, or hidden by a value in the table itself. [-0, +(0|1), -]
bool clua_node_pushvalueofname(lua_State *L, clua_node *node, int place);
/// Whether the table was a plain list with elements when a key was watched or prepared last.
bool clua_node_waslist(const clua_node *node);
/// Registers the slot of `*`; all keys move, O(n) the first time. [-0, +0, m]
void clua_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot);
/// Forgets a slot (of a key or of `*`). Keys stay in the store. [-0, +0, -]
void clua_node_unwatch(lua_State *L, clua_node *node, clua_slot *slot);
/// Sets the journaling of a node: while it is on, every write of the table is reported, also where
/// no slot wants it. All keys live in the store: `*` is watched. [-0, +0, -]
void clua_node_journal(lua_State *L, clua_node *node, bool on);
/// The number of keys that the table of a node has besides its first `length` elements; -1 if some
/// are not in its store, or if a value is a table or userdata. [-0, +0, -]
lua_Integer clua_node_countscalars(lua_State *L, clua_node *node, lua_Integer length);
/// The length of the list part, while the node journals.
lua_Integer clua_node_length(const clua_node *node);
/// Pushes the table of values that the node keeps for its journal, or nil. [-0, +1, -]
void clua_node_pushjournal(lua_State *L, clua_node *node);
/// Pops that table, or nil, and makes the node keep it. [-1, +0, -]
void clua_node_setjournal(lua_State *L, clua_node *node);
/// Pushes the key of a slot, nil for the one of `*`. [-0, +1, -]
void clua_node_pushkey(lua_State *L, clua_node *node, const clua_slot *slot);
/// At the end of a turn in which the node got or lost a slot: keys without a slot move back to the
/// table; with no slot left at all the table gets its own metatable back and the node is dropped
/// (owner must be NULL then; a metatable of observed tables keeps its node, since new metamethods
/// have to be noticed). What was kept for loops under way is forgotten, unless one is. [-0, +0, m]
void clua_node_unobserve(lua_State *L, clua_node *node);
/// At the end of a turn in which a node lost one of its slots: its key moves back, unless all keys
/// are in the store, and the node keeps nothing for it. [-0, +0, m]
void clua_node_tidy(lua_State *L, clua_node *node);

/// The state is about to close: tables go on working, but nothing is reported. [-0, +0, -]
void clua_observation_close(lua_State *L);
/// Pushes the first key behind `key` (or of all, if that is below) whose value an edit changed,
/// with the old and the new value; false and nothing if there is none. [-0, +(3|0), -]
bool clua_write_nextchange(lua_State *L, const clua_write *write, lua_Integer *key);
/// (table): moves values into the store that C code wrote raw into an observed table; such keys
/// hide what scripts write later. Each counts as a write. [-0, +0, e]
int clua_absorbtable(lua_State *L);
/// (table) -> the same table, which cannot be changed any more. [-0, +1, e]
int clua_freeze(lua_State *L);
/// The same for a table of a library, which scripts share.
int clua_freezeshared(lua_State *L);
/// Whether the value is a table that scripts share. [-0, +0, -]
bool clua_isshared(lua_State *L, int index);

/// As lua_rawget, on the table a script sees: never calls metamethods or Swift. [-1, +1, -]
int clua_rawget(lua_State *L, int index);
/// As lua_rawlen, on the table a script sees. [-0, +0, -]
lua_Unsigned clua_rawlen(lua_State *L, int index);
/// As lua_next without metamethods, on the table a script sees; list part first, in order.
/// [-1, +(2|0), v]
int clua_next(lua_State *L, int index);
/// `next` for loops in which no code of a script runs: places of keys are not kept for them.
int clua_closednext(lua_State *L);
/// As rawget, then through `__index` while that is a table; never calls a function. [-1, +1, -]
int clua_inheritedget(lua_State *L, int index);
/// Pushes the metatable a script would see with debug.getmetatable; false and nothing if none.
/// [-0, +(0|1), -]
bool clua_getmetatable(lua_State *L, int index);
/// As lua_setmetatable, for the metatable a script would see. [-1, +0, m]
void clua_setmetatable(lua_State *L, int index);
/// Whether two values are the same (T5): identity for tables, functions and objects, `==` for the
/// rest, NaN equals NaN. [-0, +0, -]
bool clua_same(lua_State *L, int a, int b);
/// Whether they are the same, and cannot be told apart: 1 and 1.0 can. [-0, +0, -]
bool clua_identical(lua_State *L, int a, int b);
/// A function for Lua: whether its two arguments are the same, and both integers or both floats.
int clua_areidentical(lua_State *L);
/// A function for Lua: whether its two arguments are the same by clua_same.
int clua_aresame(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// [-0, +(0|1), -]
int clua_try_observation_install(lua_State *L, const clua_observation *observation);
/// As clua_node_prepare, for a table and a key that are on top; the key may be nil. `known` has
/// flags of `CLUA_PREPARE_…`.
/// [-2, +(0|1), -]
int clua_try_node_prepare(lua_State *L, int known, clua_node **node);
/// As clua_node_watch; the key is on top. [-1, +(0|1), -]
int clua_try_node_watch(lua_State *L, clua_node *node, clua_slot *slot);
/// As clua_node_watchevery. [-0, +(0|1), -]
int clua_try_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot);
/// As clua_node_unobserve. [-0, +(0|1), -]
int clua_try_node_unobserve(lua_State *L, clua_node *node);
/// As clua_node_tidy. [-0, +(0|1), -]
int clua_try_node_tidy(lua_State *L, clua_node *node);
/// As clua_absorbtable for the table at `index`. [-0, +(0|1), -]
int clua_try_absorb(lua_State *L, int index);
/// As clua_setmetatable. [-1, +(0|1), -]
int clua_try_setmetatable(lua_State *L, int index);
/// As clua_next; at the end both results are nil. [-1, +(2|1), -]
int clua_try_next(lua_State *L, int index);
/// Pushes a list of the keys and values of the table at `index` as a script sees them, one after
/// the other, without its first `length` elements, and says how many pairs there are. No finalizer
/// runs while the list is made. Code that runs during a walk over it cannot change it. [-0, +1, -]
int clua_try_entries(lua_State *L, int index, lua_Integer length, lua_Integer *count);

/// Pushes a new table with the values that the store of a table had before a write under way, by
/// their keys. [-0, +1, -]
int clua_try_former(lua_State *L, const clua_write *write);

/* ---- What journals keep ---------------------------------------------------------------------- */

/// Pops a value and keeps it as `key` of the node's journal. [-1, +(0|1), -]
int clua_try_journal_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Keeps a copy of the list part, the first `length` elements of the table. [-0, +(0|1), -]
int clua_try_journal_keeplist(lua_State *L, clua_node *node, lua_Integer key, lua_Integer length);
/// Pushes the value that the journal keeps under `key`, nil where there is none. [-0, +1, -]
void clua_journal_push(lua_State *L, clua_node *node, lua_Integer key);
/// Forgets the values that are kept under `first` to `last`. [-0, +0, -]
void clua_journal_forget(lua_State *L, clua_node *node, lua_Integer first, lua_Integer last);

/* ---- Leaves for `**` ------------------------------------------------------------------------- */

/// Pops a table, and makes it a leaf for `**`. [-1, +(0|1), -]
int clua_try_markopaque(lua_State *L);
/// Whether the table is a leaf for `**`. [-0, +0, -]
bool clua_isopaque(lua_State *L, int index);

#endif
