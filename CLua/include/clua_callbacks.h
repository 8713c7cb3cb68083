/// Callbacks, which belong to what they observe: the node of that keeps them.
#ifndef CLUA_CALLBACKS_H
#define CLUA_CALLBACKS_H

#include "clua_handles.h"
#include "clua_observed.h"

/// Pops a value and keeps it as `key` of the node, alive as long as the observed table is.
/// [-1, +(0|1), -]
int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Pushes what was kept, nil where nothing was. [-0, +1, -]
void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key);
/// Forgets what was kept. [-0, +0, -]
void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key);

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

#endif
