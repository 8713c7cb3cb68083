/// Lazy keys of observed tables, and the reads of tracked getters.
///
/// The home of a lazy key is the store. A valid value is in the store, and reading it costs as much
/// as reading any observed key. An invalid value is not in the store, so the read calls C, which
/// makes the engine bring it up to date. The data of a lazy key is in its cell, a table that the
/// node keeps; cells are found by number in a weak table.
#ifndef CLUA_LAZY_H
#define CLUA_LAZY_H

#include "clua_observed.h"

/// How a lazy key gets its value, as flags with the same names in the prelude.
#define CLUA_LAZY_FLAGS(flag)                                                              \
  flag(LOADED, 1)      /* the getter stores the value itself */                            \
  flag(READONLY, 2)    /* assigning raises */                                              \
  flag(ARMED, 4)       /* assigning nil makes it invalid */                                \
  flag(UNCACHED, 8)    /* the getter is called at each read */                             \
  flag(TRACKED, 16)    /* what the getter reads is noted */                                \
  flag(WRITTEN, 32)    /* assigning calls the function `write` of the declaration */       \
  flag(COPY, 64)       /* lazy keys of its dependencies are no part of these */            \
  flag(ONSTORED, 256)  /* all dependencies in its table are stored ones of the model */    \
  flag(OFMODEL, 512)   /* the instances of a model share the declaration */

enum {
#define CLUA_LAZY_FLAG(name, bit) CLUA_LAZY_##name = bit,
  CLUA_LAZY_FLAGS(CLUA_LAZY_FLAG)
#undef CLUA_LAZY_FLAG
  CLUA_LAZY_KEPT = 255,  // the flags kept in the record
};

/// The uses for which the prelude has checked a text, as bits.
enum { CLUA_CHECKED_NAME = 1, CLUA_CHECKED_PATH = 2 };

/// The result of a computation.
typedef enum clua_computation {
  CLUA_COMPUTED_SAME,      // the same value as before
  CLUA_COMPUTED_CHANGED,   // another value
  CLUA_COMPUTED_RESTORED,  // the base, which had been replaced
  CLUA_COMPUTED_FAILED,    // an error, which is kept in the cell
  CLUA_COMPUTED_WAITING,   // waits for another lazy key
} clua_computation;

/// How to compare a new value.
enum {
  CLUA_COMPARE_KNOWN = 1,  // with the last value
  CLUA_COMPARE_BASED = 2,  // with the base
  CLUA_COMPARE_KEEP = 4,   // the last value becomes the base if the new one differs
};

/// A getter or loader to run, and its result.
typedef struct clua_evaluation {
  void *context;  // of the bridge
  lua_Integer number;
  int compare;
  bool tracked;
  bool loaded;  // a loader stores the value
  clua_computation result;
} clua_evaluation;

/// The part of a table that was read.
typedef enum clua_reading { CLUA_READ_KEY, CLUA_READ_EVERY, CLUA_READ_COUNT } clua_reading;

/// Declares the key at `key` lazy, with a registered slot and a cell with this number. `getter` is
/// the index of the getter, which is called with the table and the key; `declaration` is an index
/// for the bridge only. The key's current value becomes the last value. [-0, +0, e]
void clua_node_lazy(lua_State *L, clua_node *node, int key, int getter, int declaration, int flags,
                    lua_Integer number);
/// Removes the declaration: the key becomes an ordinary key without a value. [-0, +0, -]
void clua_node_unlazy(lua_State *L, clua_node *node, int key);
/// Whether the key at `key` is lazy. [-0, +0, -]
bool clua_node_islazy(lua_State *L, clua_node *node, int key);
/// (table, key) -> the value of the key through the table's metatable.
int clua_lazyinherited(lua_State *L);
/// (table) -> a set of its lazy keys, or nil if it has none.
int clua_lazykeys(lua_State *L);

/// Invalidates the value of a lazy key: removes it from the store, and from the cell unless `kept`.
/// [-0, +0, -]
void clua_lazy_drop(lua_State *L, struct clua_shared *shared, lua_Integer number, bool kept);
/// Forgets the base of a lazy key. [-0, +0, -]
void clua_lazy_forgetbase(lua_State *L, struct clua_shared *shared, lua_Integer number);
/// The shared data of a state, for callers that need it often. [-0, +0, -]
struct clua_shared *clua_lazy_shared(lua_State *L);
/// Pushes the bridge's declaration from a cell, or nil if the cell is gone. [-0, +1, -]
void clua_lazy_pushdeclaration(lua_State *L, lua_Integer number);
/// Pushes the last value or the base of a lazy key. [-0, +1, -]
void clua_lazy_pushvalue(lua_State *L, lua_Integer number, bool base);
/// Pops a value and assigns it to a lazy key. [-1, +0, -]
clua_computation clua_lazy_assign(lua_State *L, lua_Integer number, int compare);
/// Runs the getter or loader of `evaluation`, and further ones that `evaluated` of the observation
/// then puts there, all in one protected call. No getter may be running. False if one failed:
/// `evaluation` describes it, and its cell has the error. [-0, +0, -]
bool clua_lazy_evaluate(lua_State *L, struct clua_shared *shared, clua_evaluation *evaluation);
/// Starts a getter while another one is running: it runs in a coroutine, and may wait for another
/// lazy key, whose slot is then in `slot`. [-0, +0, -]
clua_computation clua_lazy_start(lua_State *L, lua_Integer number, int compare, clua_slot **slot);
/// Pops the value or the error for which the innermost getter in a coroutine waited, and resumes
/// it. [-1, +0, -]
clua_computation clua_lazy_resume(lua_State *L, int compare, bool ok, clua_slot **slot);
/// Whether `L` is the coroutine of the running getter. [-0, +0, -]
bool clua_isgetter(lua_State *L);
/// Whether the value at `index` is a coroutine for getters: only the engine resumes it. [-0, +0, -]
bool clua_isgetterthread(lua_State *L, int index);
/// Pops an error and keeps it in a cell. [-1, +0, -]
void clua_lazy_fail(lua_State *L, lua_Integer number);
/// Pushes the error of the last computation, or nil. Its traceback is left for clua_pushtraceback
/// or, if the error is `raised` in a reader of the property, for the reader's traceback.
/// [-0, +1, -]
void clua_lazy_pusherror(lua_State *L, lua_Integer number, bool raised);
/// Forgets the error of the last computation. [-0, +0, -]
void clua_lazy_forgeterror(lua_State *L, lua_Integer number);

/// Opens the table at `index` for the running tracked getter: each read is noted. [-0, +0, m]
void clua_track(lua_State *L, int index);
/// Closes all opened tables: no getter is running any more. [-0, +0, -]
void clua_untrack(lua_State *L);
/// Like clua_track, protected; only opens a table. Returns the status. [-0, +(0|1), -]
int clua_try_track(lua_State *L, int index);

/// Sets functions and flags in the table on top: `declare(table, key, declaration, getter, flags)`;
/// `declare_usual(checked, table, key, [paths,] getter)`, which makes the declaration itself and
/// returns whether it could; and the flags by name. Both functions prepare the key, then call
/// Swift. Returns the status. [-0, +(0|1), -]
int clua_try_setdeclaring(lua_State *L, clua_function function, void *context);
/// Like clua_node_lazy; key, getter and declaration are on top. [-3, +(0|1), -]
int clua_try_node_lazy(lua_State *L, clua_node *node, int flags, lua_Integer number);

#endif
