/// Callbacks belong to the table that they observe: its node keeps them.
#ifndef CLUA_CALLBACKS_H
#define CLUA_CALLBACKS_H

#include "clua_handles.h"
#include "clua_observed.h"

/// Pops a value and keeps it in the node under `key`, alive as long as the observed table.
/// [-1, +(0|1), -]
int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key);
/// Keeps the node's values until `ended` is called. Otherwise Lua frees them with the table.
/// [-0, +(0|1), -]
int clua_try_node_noticeending(lua_State *L, clua_node *node);
/// Pushes the value kept under `key`, or nil. [-0, +1, -]
void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key);
/// Drops the value kept under `key`. [-0, +0, -]
void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key);

/// Pops path, key, old and new value, and pushes a table of them, a change. [-4, +1, -]
int clua_try_makechange(lua_State *L);

/* ---- Registering a watcher ------------------------------------------------------------------- */

/// Data for the Swift side of `observe`, whose arguments are at 1…4.
typedef struct clua_registration {
  clua_node *node;      // of the observed table; NULL for other objects
  lua_Integer key;      // the node already keeps the callback under this key; free for other roots
  clua_handle *handle;  // the empty handle on top of the stack
} clua_registration;

/// Like clua_function. The handle is its result.
typedef int (*clua_observe_function)(lua_State *L, void *context, const clua_registration *made);

/// The distance between keys of callbacks; the keys in between are for other parts of a watcher.
enum { CLUA_KEY_STRIDE = 8 };

/// Pushes the function `observe(observed, paths, callback, options)`. All steps that may raise for
/// lack of memory precede the call of Swift, so none needs protection. `next` points to the next
/// watcher's number, which determines its callback's key. [-0, +1, -]
int clua_try_pushobserve(lua_State *L, clua_observe_function function, void *context,
                         const intptr_t *next);

#endif
