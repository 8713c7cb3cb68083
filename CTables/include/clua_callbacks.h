/// Callbacks, which belong to the table that they observe: its node keeps them.
#ifndef CLUA_CALLBACKS_H
#define CLUA_CALLBACKS_H

#include "clua_handles.h"
#include "clua_observed.h"

/// Pops a value and keeps it as `key` of the node, alive as long as the observed table is.
/// [-1, +(0|1), -]
int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Keeps the node's values until `ended` is called. Without this Lua frees them with the table.
/// [-0, +(0|1), -]
int clua_try_node_noticeending(lua_State *L, clua_node *node);
/// Pushes the value that is kept under `key`, nil where there is none. [-0, +1, -]
void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key);
/// Forgets the value that is kept under `key`. [-0, +0, -]
void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key);

/* ---- Registering a watcher ------------------------------------------------------------------- */

/// The data that the Swift side of `observe` gets besides its arguments, which are at 1…4.
typedef struct clua_registration {
  clua_node *node;      // of the observed table, NULL where it is none
  lua_Integer key;      // under which the node keeps the callback already; free for other roots
  clua_handle *handle;  // the empty handle on top of the stack
} clua_registration;

/// As clua_function. The handle is its result.
typedef int (*clua_observe_function)(lua_State *L, void *context, const clua_registration *made);

/// Keys of callbacks lie this far apart: other parts of a watcher have the keys between.
enum { CLUA_KEY_STRIDE = 8 };

/// Pushes the function `observe(observed, paths, callback, options)`. All that may raise for lack
/// of memory is done before Swift is called: nothing has to be protected. `next` says which number
/// the next watcher will have; its callback's key follows from it. [-0, +1, -]
int clua_try_pushobserve(lua_State *L, clua_observe_function function, void *context,
                         const intptr_t *next);

#endif
