/// What the bridge between scripts and the engine needs from C: handles, callbacks that belong to
/// what they observe, and the protected forms of the operations on observed tables.
#ifndef CLUA_BRIDGE_H
#define CLUA_BRIDGE_H

#include "clua.h"
#include "clua_observed.h"

/* ---- Observed tables, protected: status as lua_pcall ----------------------------------------- */

/// [-0, +(0|1), -]
int clua_try_observation_install(lua_State *L, const clua_observation *observation);
/// As clua_node_make. [-0, +(0|1), -]
int clua_try_node_make(lua_State *L, int index, clua_node **node);
/// As clua_node_watch; the key is on top. [-1, +(0|1), -]
int clua_try_node_watch(lua_State *L, clua_node *node, clua_slot *slot);
/// As clua_node_watchevery. [-0, +(0|1), -]
int clua_try_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot);
/// As clua_node_settle. [-0, +(0|1), -]
int clua_try_node_settle(lua_State *L, clua_node *node);
/// As clua_healtable for the table at `index`. [-0, +(0|1), -]
int clua_try_heal(lua_State *L, int index);
/// Pops a value and keeps it as `key` of the node, alive as long as the observed table is.
/// [-1, +(0|1), -]
int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Pushes what was kept, nil where nothing was. [-0, +1, -]
void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key);
/// Forgets what was kept. [-0, +0, -]
void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key);

/// Pushes a list of the keys and values of the table at `index` as a script sees them, one after
/// the other, and says how many pairs there are. No finalizer runs meanwhile, and nothing that runs
/// while the list is gone through can disturb that. [-0, +1, -]
int clua_try_entries(lua_State *L, int index, lua_Integer *count);

/// Pops a value and keeps it as `key` of the node's journal. [-1, +(0|1), -]
int clua_try_journal_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Keeps a copy of the list part, the first `length` elements of the table. [-0, +(0|1), -]
int clua_try_journal_keeplist(lua_State *L, clua_node *node, lua_Integer key, lua_Integer length);
/// Pushes what the journal keeps, nil where there is nothing. [-0, +1, -]
void clua_journal_push(lua_State *L, clua_node *node, lua_Integer key);
/// Forgets what is kept from `first` to `last`. [-0, +0, -]
void clua_journal_forget(lua_State *L, clua_node *node, lua_Integer first, lua_Integer last);

/* ---- Handles: what scripts hold of things that live in Swift --------------------------------- */

typedef enum clua_handle_kind {
  CLUA_HANDLE_WATCHER,
  CLUA_HANDLE_TIMER,
  CLUA_HANDLE_PATH,
  CLUA_HANDLE_OBJECT,
  CLUA_HANDLE_KINDS,
} clua_handle_kind;

typedef struct clua_handle {
  void *object;             // retained for Lua, if `release` is given
  clua_finalizer release;
  intptr_t index;
  uint64_t id;
} clua_handle;

/// Pops a table: the metatable of the handles of this kind. [-1, +(0|1), -]
int clua_try_sethandlekind(lua_State *L, clua_handle_kind kind);
/// Pops a table of methods and a function, which is called with the handle and the key for what is
/// no method; they become the `__index` of this kind. [-2, +(0|1), -]
int clua_try_sethandleindex(lua_State *L, clua_handle_kind kind);
/// Pushes a new handle with one user value. Lua owns its object from success on. [-0, +1, -]
int clua_try_pushhandle(lua_State *L, clua_handle_kind kind, clua_handle handle);
/// The handle at `index`, or NULL if there is none of this kind. [-0, +0, -]
clua_handle *clua_tohandle(lua_State *L, int index, clua_handle_kind kind);

/* ---- Registering a watcher ------------------------------------------------------------------- */

/// What the Swift side of `observe` is given besides its arguments, which are at 1…4.
typedef struct clua_registration {
  clua_node *node;      // of the observed table, NULL where it is none
  lua_Integer key;      // under which the node keeps the callback already; free for other roots
  clua_handle *handle;  // the empty handle on top of the stack
} clua_registration;

/// As clua_function. The handle is its result.
typedef int (*clua_observe_function)(lua_State *L, void *context, const clua_registration *made);

/// Keys of callbacks lie this far apart: what else belongs to a watcher goes between.
enum { CLUA_KEY_STRIDE = 8 };

/// Pushes the function `observe(observed, paths, callback, options)`. What may raise for lack of
/// memory is done here before Swift is called: nothing has to be protected. `next` says which
/// number the next watcher will have; its callback's key follows from it. [-0, +1, -]
int clua_try_pushobserve(lua_State *L, clua_observe_function function, void *context,
                         const intptr_t *next);

/* ---- Tables of the host ---------------------------------------------------------------------- */

/// Makes a table that the registry holds under `reference`. [-0, +(0|1), -]
int clua_try_maketable(lua_State *L, int *reference);
/// The same, holding its values weakly. [-0, +(0|1), -]
int clua_try_makeweak(lua_State *L, int *reference);
/// Lets the registry forget a table. [-0, +0, -]
void clua_dropreference(lua_State *L, int reference);
/// Pushes the innermost Lua function that is running and returns the line it is at; 0 and nothing
/// pushed where there is none. [-0, +(0|1), -]
int clua_currentfunction(lua_State *L);
/// Has `function` called whenever a cycle of the collector ends, from a finalizer: it must not run
/// Lua code. [-0, +(0|1), -]
int clua_try_watchcollector(lua_State *L, clua_finalizer function, void *context);
/// Whether two C strings are equal.
bool clua_equaltext(const char *a, const char *b);

/* ---- Calls ----------------------------------------------------------------------------------- */

/// As lua_pcall, with the message handler that keeps a traceback. [-(nargs + 1), +(nresults|1), -]
int clua_tracedcall(lua_State *L, int nargs, int nresults);
/// The same for a watcher's callback, in which a yield is an error that says so (T12).
int clua_watchercall(lua_State *L, int nargs, int nresults);
/// As lua_pcall for the getter of a lazy property, where the same holds.
int clua_gettercall(lua_State *L, int nargs, int nresults, int handler);
/// A function for scripts: calls its first argument with the others, without letting it yield.
int clua_callplainly(lua_State *L);
/// (function) -> a C function, which calls it if it is none itself. A tail call of that keeps the
/// frame of the code that makes it, whose line errors name.
int clua_outer(lua_State *L);
/// Replaces functions of `coroutine`: `yield` by one that knows watchers, those that run a
/// coroutine by ones that know getters and interruptions. [-0, +(0|1), -]
int clua_try_watchyields(lua_State *L);
/// Calls what the node of the table in `slot` of the table of anchors keeps under `key` with that
/// table and nil; as clua_tracedcall. Needs eight free slots. [-0, +(0|1), -]
int clua_callkept(lua_State *L, int anchors, int slot, lua_Integer key);
/// The position of the value at `value` in the list at `list` (absolute), looked for outwards from
/// `hint`; 0 where it is not. [-0, +0, -]
lua_Integer clua_find(lua_State *L, int list, int value, lua_Integer hint);
/// Pushes the name of the first upvalue of the function at `function` that is the value at `value`;
/// nothing where there is none. [-0, +0, -]
const char *clua_capturename(lua_State *L, int function, int value);
/// The place where the function at `index` is defined; returns the line, 0 for a main chunk, -1 for
/// C. [-0, +0, -]
int clua_definition(lua_State *L, int index, char *source);
/// Pushes a traceback of the running coroutine, protected. [-0, +1, -]
int clua_try_traceback(lua_State *L, int level);

#endif
