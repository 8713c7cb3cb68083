/// Lua tables observed in place.
///
/// Observing key k of table t gives t a private metatable M and a private store S, moves t[k] into
/// S, and lets reads fall through to S (`M.__index = S`) and writes reach C (`M.__newindex`). Every
/// other key of t stays in place. Lookups reach the original metatable of t, U, through S. Scripts
/// still see U and all keys in t, because the base functions that could show the difference are
/// replaced (L7).
#ifndef CLUA_OBSERVED_H
#define CLUA_OBSERVED_H

#include "clua.h"

/// The head of the engine's record of one observed key: C reads it on each write of that key.
typedef struct clua_slot {
  uint8_t wants;  // CLUA_WANTS_… bits, 0 while all its watchers are already pending
  uint8_t valid;  // for a lazy key: its value is in the store, or is nil
  uint8_t reserved[2];
  uint32_t stamp;  // the tracked getter that has already read it
} clua_slot;

enum {
  CLUA_WANTS_CHANGES = 1,  // report a write that changes the value (T5)
  CLUA_WANTS_WRITES = 2,   // report writes of the same value, too
  CLUA_WANTS_VALUES = 4,   // report the old and the new value, too
  CLUA_WANTS_OBJECTS = 8,  // report a write that adds or removes a table or an object
};

/// One observed table. Lives in a userdata that only M holds, so it dies with the table.
typedef struct clua_node clua_node;

/// The kind of collection that a table is by type.
typedef enum clua_kind {
  CLUA_KIND_PLAIN, CLUA_KIND_ARRAY, CLUA_KIND_SET, CLUA_KIND_DICTIONARY,
} clua_kind;

/// The kind of change that one operation made to a list.
typedef enum clua_edit_kind {
  CLUA_EDIT_NONE,     // one key of any kind was written
  CLUA_EDIT_INSERT,   // `element` was inserted at `at`
  CLUA_EDIT_REMOVE,   // `element` was removed at `at`
  CLUA_EDIT_MOVE,     // moved from `from` to `at`
  CLUA_EDIT_SWAP,     // the elements at `from` and `at` were swapped
  CLUA_EDIT_APPEND,   // `count` elements were appended from `at` on
  CLUA_EDIT_CLEAR,    // all `count` elements, now in `list`, were removed
  CLUA_EDIT_RANGE,    // `count` keys from `at` on were written; `list` has the old values
  CLUA_EDIT_WHOLE,    // `list` has the `count` elements from before
} clua_edit_kind;

/// A write reported to the engine. The indices are absolute stack positions.
typedef struct clua_write {
  clua_node *node;
  clua_slot *slot;   // of the key, or NULL if only `*` is observed
  clua_slot *every;  // of `*`, or NULL
  int key;
  int old, new_;     // the values that scripts read before and after, including inherited ones (T5)
  bool same;         // by T5: nothing changed
  bool uncompared;   // a change, but the old value is unknown
  bool triggered;    // made by the program for the present value: nothing was stored
  bool was, is;      // the key itself had a value before, and has one now
  /// The kind of edit. The key and the values above then belong to the first changed element.
  clua_edit_kind edit;
  lua_Integer at, from, count;
  int element, list;
  lua_Integer length;  // the list's new length, while the node journals
  bool permutation;  // the elements are the same, in another order
  /// True during a sort of the list, whose end reports all changes.
  bool unsettled;
  /// Other observed elements that changed: `slot`, and key and values if `slot` wants them.
  const struct clua_write *others;
  int othercount;
  /// All changes of an edit, and the index of the list; see clua_write_nextchange.
  const struct clua_edit *details;
  int store;
} clua_write;

struct clua_shared;
struct clua_evaluation;

typedef struct clua_observation {
  void *context;
  /// Called after a write of a key whose slot (or whose table's `*` slot) wants it, or of any key
  /// of a node that journals; the value is already stored. One call per operation on a list. May
  /// run Lua code, protected; never raises; leaves the stack as it was.
  void (*written)(void *context, lua_State *L, const clua_write *write);
  /// Called after a write of a key that `written` reports later: invalidates values computed from
  /// it at once. Runs no Lua code, and leaves the stack as it was.
  void (*outdated)(void *context, lua_State *L, const clua_write *write);
  /// Called when the writes of one operation begin, and when they are complete, which is when
  /// immediate watchers are called. May run Lua code, protected; never raises; leaves the stack as
  /// it was.
  void (*batch)(void *context, lua_State *L, bool begins);
  /// Called when the table of `node` was collected. On top of the stack are the values that the
  /// node keeps, or nil if Lua has freed them. Called from clua_recover, from the finalizer of a
  /// sentinel, or when a table that is back is used again, also while the state closes: must not
  /// run Lua code. L is NULL when the state is closed. The node's memory may be freed afterwards.
  void (*ended)(void *context, lua_State *L, clua_node *node, void *owner);
  /// Called when the table of `node` was garbage and is back: its own finalizer, which runs next,
  /// may keep it. Called from a finalizer: must not run Lua code.
  void (*revived)(void *context, lua_State *L, clua_node *node);
  /// Counts how often a slot began to want something again; NULL if not counted.
  const uint64_t *armings;
  /// The number of active operations that look for immediate watchers to call, and may run getters:
  /// clua_hear waits until there are none.
  const int32_t *collectors;
  /// Brings an invalid lazy key that is read up to date; false with an error pushed.
  bool (*compute)(void *context, lua_State *L, clua_slot *slot);
  /// Takes the result of a getter; returns true with the next getter in `evaluation`.
  bool (*evaluated)(struct clua_evaluation *evaluation);
  /// Called before an invalid lazy key is assigned: may run getters.
  void (*prepare)(void *context, lua_State *L, clua_slot *slot);
  /// Called when a lazy key is assigned or invalidated: pops the value.
  void (*assign)(void *context, lua_State *L, clua_slot *slot, bool invalid);
  /// Called when the running tracked getter has read from an opened table: pops the key, which may
  /// have a slot, or nil for a read of the whole table.
  void (*read)(void *context, lua_State *L, clua_node *node, clua_slot *slot, int what);
  /// The number of that getter's run; 0 while none is running.
  const uint32_t *stamp;
} clua_observation;

/// Prepares a state: replaces the base functions that could distinguish an observed table from a
/// plain one. Call after luaL_openlibs, before any script runs, protected. [-0, +0, m]
void clua_observation_install(lua_State *L, const clua_observation *observation);

/// The node of the table at `index`, or NULL if it is not observed (or not a table). [-0, +0, -]
clua_node *clua_node_at(lua_State *L, int index);
/// Like clua_node_at, but ends the node of a table that was garbage and came back without it (L8).
/// [-0, +0, -]
clua_node *clua_node_livingat(lua_State *L, int index);
/// The node of the table at `index`, made if it does not exist yet. [-0, +0, m]
clua_node *clua_node_make(lua_State *L, int index);
/// Pushes the table of a node, or nil while it is being collected. [-0, +1, -]
void clua_node_pushtable(lua_State *L, clua_node *node);
/// Ends the node of a table that is gone, unless its own finalizer may bring it back. [-0, +0, -]
void clua_node_lose(lua_State *L, clua_node *node);
/// Whether the table of a node exists. Once it is garbage it does not, no matter when finalizers
/// run. [-0, +0, -]
bool clua_node_isthere(lua_State *L, clua_node *node);
/// Pushes the values kept by the node of the table at `index`, which must be observed
/// (clua_callbacks.h): a table of values by key, or the only value if that is a function, or nil.
/// [-0, +1, -]
void clua_node_pushvalueat(lua_State *L, int index);
/// The engine's record of this node; initially NULL. Writes of a node without an owner are not
/// reported.
void *clua_node_owner(const clua_node *node);
void clua_node_setowner(clua_node *node, void *owner);

/// The slot registered for the key at `key`, or NULL. [-0, +0, -]
clua_slot *clua_node_slot(lua_State *L, clua_node *node, int key);
/// Registers the slot of the key at `key` and moves the key into the store; a positive integer key
/// moves the whole table (like `*`). The key is neither nil, NaN, nor a name beginning with `__`.
/// [-0, +0, m]
void clua_node_watch(lua_State *L, clua_node *node, int key, clua_slot *slot);
/// Facts about a key to prepare.
enum {
  CLUA_PREPARE_DECLARED = 1,  // it will be lazy: its name needs no check
  CLUA_PREPARE_WHOLE = 2,     // all keys are expected to move
  CLUA_PREPARE_HELD = 4,      // the collector is held already
  CLUA_PREPARE_STORED = 8,    // a stored property: its name needs no check
};

/// The node of the table at `table`, made if it does not exist yet. If the key at `key` is a plain
/// name, it is in the store afterwards, without a slot, which clua_node_setslot adds. Both indices
/// are absolute. [-0, +0, m]
clua_node *clua_node_prepare(lua_State *L, int table, int key, int known);
/// Registers a slot for a key in the store that has none; false if there is no such key, or if this
/// would need memory. [-0, +0, -]
bool clua_node_setslot(lua_State *L, clua_node *node, int key, clua_slot *slot);
/// The address of the string at `index`, if it is short and not the name of a metamethod: Lua has
/// only one copy of each. NULL for other values. [-0, +0, -]
const void *clua_shortname(lua_State *L, int index);
/// The place of a short name's record, by the address of the name; 0 if a plain table has no such
/// record, and for other kinds. [-0, +0, -]
int clua_node_placeofname(const clua_node *node, const void *name);
/// The slot of the record at a place; NULL if it has none. [-0, +0, -]
clua_slot *clua_node_slotat(const clua_node *node, int place);
/// Whether clua_node_setslotat may be called: not if the name has to be checked, as a model may not
/// have it. [-0, +0, -]
bool clua_node_takesslot(const clua_node *node, int place);
/// Sets the slot of the record at a place, which belongs to a name. [-0, +0, -]
void clua_node_setslotat(clua_node *node, int place, clua_slot *slot);
/// Pushes the value of the name whose record is at a place; returns false and pushes nothing if it
/// is lazy, inherited, nil, or hidden by a value in the table itself. [-0, +(0|1), -]
bool clua_node_pushvalueofname(lua_State *L, clua_node *node, int place);
/// Whether the table was a plain list with elements when a key was last watched or prepared.
bool clua_node_waslist(const clua_node *node);
/// Registers the slot of `*`; all keys move, O(n) the first time. [-0, +0, m]
void clua_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot);
/// Forgets a slot (of a key or of `*`). Keys stay in the store. [-0, +0, -]
void clua_node_unwatch(lua_State *L, clua_node *node, clua_slot *slot);
/// Sets the journaling of a node: while it is on, every write of the table is reported, even if no
/// slot wants it. All keys are in the store, as `*` is watched. [-0, +0, -]
void clua_node_journal(lua_State *L, clua_node *node, bool on);
/// The number of keys of a node's table besides its first `length` elements; -1 if some are not in
/// its store, or if a value is a table or userdata. [-0, +0, -]
lua_Integer clua_node_countscalars(lua_State *L, clua_node *node, lua_Integer length);
/// The length of the list part, while the node journals.
lua_Integer clua_node_length(const clua_node *node);
/// Pushes the table of values that the node keeps for its journal, or nil. [-0, +1, -]
void clua_node_pushjournal(lua_State *L, clua_node *node);
/// Pops that table, or nil, and makes the node keep it. [-1, +0, -]
void clua_node_setjournal(lua_State *L, clua_node *node);
/// Pushes the key of a slot, or nil for the slot of `*`. [-0, +1, -]
void clua_node_pushkey(lua_State *L, clua_node *node, const clua_slot *slot);
/// At the end of a turn in which the node got or lost a slot: keys without a slot move back to the
/// table. Without any slots the table gets its own metatable back and the node is dropped (owner
/// must be NULL then; a metatable of observed tables keeps its node, since new metamethods have to
/// be noticed). Places kept for active loops are dropped, unless a loop is unfinished. [-0, +0, m]
void clua_node_unobserve(lua_State *L, clua_node *node);
/// At the end of a turn in which a node lost one slot: its key moves back, and the node keeps
/// nothing for it, unless all keys are in the store. [-0, +0, m]
void clua_node_tidy(lua_State *L, clua_node *node);

/// Called before the state closes: tables continue to work, but nothing is reported. [-0, +0, -]
void clua_observation_close(lua_State *L);
/// Pushes the first key after `key` (or of all, if `key` is below) whose value an edit changed,
/// with the old and the new value; returns false and pushes nothing if there is no such key.
/// [-0, +(3|0), -]
bool clua_write_nextchange(lua_State *L, const clua_write *write, lua_Integer *key);
/// (table, key): moves raw values that C code wrote to an observed table into the store; otherwise
/// they hide later writes by scripts. Each counts as a write. With a key, only this key is moved.
/// [-0, +0, e]
int clua_absorbtable(lua_State *L);
/// (table) -> the same table, which cannot change any more. [-0, +1, e]
int clua_freeze(lua_State *L);
/// Does the same for a table of a library that scripts share.
int clua_freezeshared(lua_State *L);
/// Whether the value is a table that `clua_freeze` or `clua_freezeshared` has frozen. [-0, +0, -]
bool clua_isreadonly(lua_State *L, int index);
/// Whether the value is a table that scripts share. [-0, +0, -]
bool clua_isshared(lua_State *L, int index);

/// Like lua_rawget, on the table visible to scripts: never calls metamethods or Swift. [-1, +1, -]
int clua_rawget(lua_State *L, int index);
/// Like lua_rawlen, on the table visible to scripts. [-0, +0, -]
lua_Unsigned clua_rawlen(lua_State *L, int index);
/// Like lua_next without metamethods, on the table visible to scripts; list part first, in order.
/// [-1, +(2|0), v]
int clua_next(lua_State *L, int index);
/// `next` for loops that run no code of scripts: places of keys are not kept for them.
int clua_closednext(lua_State *L);
/// Like rawget, then through `__index` while it is a table; never calls a function. [-1, +1, -]
int clua_inheritedget(lua_State *L, int index);
/// Pushes the result of debug.getmetatable for scripts; returns false and pushes nothing if there
/// is no metatable. [-0, +(0|1), -]
bool clua_getmetatable(lua_State *L, int index);
/// Like lua_setmetatable, for the metatable visible to scripts. [-1, +0, m]
void clua_setmetatable(lua_State *L, int index);
/// Whether two values are the same (T5): identity for tables, functions and objects, `==` for the
/// rest, NaN equals NaN. [-0, +0, -]
bool clua_same(lua_State *L, int a, int b);
/// Whether two values are the same and indistinguishable; 1 and 1.0 are not. [-0, +0, -]
bool clua_identical(lua_State *L, int a, int b);
/// A function for Lua: whether its two arguments are the same, and both integers or both floats.
int clua_areidentical(lua_State *L);
/// A function for Lua: whether its two arguments are the same by clua_same.
int clua_aresame(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// [-0, +(0|1), -]
int clua_try_observation_install(lua_State *L, const clua_observation *observation);
/// Like clua_node_prepare, for the table and the key on top; the key may be nil. `known` has flags
/// of `CLUA_PREPARE_…`. [-2, +(0|1), -]
int clua_try_node_prepare(lua_State *L, int known, clua_node **node);
/// Like clua_node_watch; the key is on top. [-1, +(0|1), -]
int clua_try_node_watch(lua_State *L, clua_node *node, clua_slot *slot);
/// Like clua_node_watchevery. [-0, +(0|1), -]
int clua_try_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot);
/// Like clua_node_unobserve. [-0, +(0|1), -]
int clua_try_node_unobserve(lua_State *L, clua_node *node);
/// Like clua_node_tidy. [-0, +(0|1), -]
int clua_try_node_tidy(lua_State *L, clua_node *node);
/// Like clua_absorbtable for the table at `index`, and all its keys. [-0, +(0|1), -]
int clua_try_absorb(lua_State *L, int index);
/// Like clua_absorbtable for the table at `index`, and the key on top. [-1, +(0|1), -]
int clua_try_absorbkey(lua_State *L, int index);
/// Like clua_setmetatable. [-1, +(0|1), -]
int clua_try_setmetatable(lua_State *L, int index);
/// Like clua_next; at the end both results are nil. [-1, +(2|1), -]
int clua_try_next(lua_State *L, int index);
/// Pushes a key of the table at `index`, as visible to scripts, that is no position up to `length`;
/// nil if there is none, or if the table has the metamethod `__len`. [-0, +1, -]
int clua_try_keybeyond(lua_State *L, int index, lua_Integer length);
/// Pushes a list of alternating keys and values of the table at `index`, as visible to scripts,
/// without its first `length` elements, and sets `count` to the number of pairs. No finalizer runs
/// while the list is made. Code that runs during a loop over the list cannot change it. [-0, +1, -]
int clua_try_entries(lua_State *L, int index, lua_Integer length, lua_Integer *count);

/// Pushes a new table with the values, by key, that a table's store had before the current write.
/// [-0, +1, -]
int clua_try_former(lua_State *L, const clua_write *write);

/* ---- Values kept by journals ----------------------------------------------------------------- */

/// Pops a value and keeps it in the node's journal under `key`. [-1, +(0|1), -]
int clua_try_journal_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Keeps a copy of the list part, the first `length` elements of the table. [-0, +(0|1), -]
int clua_try_journal_keeplist(lua_State *L, clua_node *node, lua_Integer key, lua_Integer length);
/// Pushes the value that the journal keeps under `key`, or nil. [-0, +1, -]
void clua_journal_push(lua_State *L, clua_node *node, lua_Integer key);
/// Drops the values kept under `first` to `last`. [-0, +0, -]
void clua_journal_forget(lua_State *L, clua_node *node, lua_Integer first, lua_Integer last);
/// Pops a value and returns its number in the table at `seen`; values that are the same (T5) have
/// the same number. A new value gets `next`, which is above 1, and needs room in the table.
/// [-1, +0, -]
lua_Integer clua_journal_number(lua_State *L, int seen, lua_Integer next);
/// Pops the fields `at`, `from`, `old` and `new` of an edit, nil for none, and pushes the edit.
/// [-4, +1, -]
int clua_try_pushedit(lua_State *L, const char *kind);

/* ---- Leaves for `**` ------------------------------------------------------------------------- */

/// Pops a table and makes it a leaf for `**`. [-1, +(0|1), -]
int clua_try_markopaque(lua_State *L);
/// Whether the table is a leaf for `**`. [-0, +0, -]
bool clua_isopaque(lua_State *L, int index);

#endif
