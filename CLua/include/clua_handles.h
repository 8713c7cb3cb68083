/// Handles, by which scripts refer to Swift objects.
#ifndef CLUA_HANDLES_H
#define CLUA_HANDLES_H

#include "clua.h"

typedef enum clua_handle_kind {
  CLUA_HANDLE_WATCHER,
  CLUA_HANDLE_TIMER,
  CLUA_HANDLE_DESCRIPTOR,
  CLUA_HANDLE_PATH,
  CLUA_HANDLE_OBJECT,
  CLUA_HANDLE_KINDS,
} clua_handle_kind;

typedef struct clua_handle {
  void *object;             // retained for Lua until it frees the handle, for paths and objects
  clua_finalizer release;
  intptr_t index;
  uint64_t id;              // for a path, the share that pays for its `index` bytes; or 0
} clua_handle;

/// Pops a table: the metatable of handles of this kind. [-1, +(0|1), -]
int clua_try_sethandlekind(lua_State *L, clua_handle_kind kind);
/// Pops a table of methods and a function, which is called with the handle and any key that is not
/// a method; together they become the `__index` of this kind. [-2, +(0|1), -]
int clua_try_sethandleindex(lua_State *L, clua_handle_kind kind);
/// Pushes a new handle without an object, with one user value. [-0, +1, m]
void clua_newhandle(lua_State *L, clua_handle_kind kind);
/// Pushes a new handle with one user value. On success Lua owns its object. [-0, +1, -]
int clua_try_pushhandle(lua_State *L, clua_handle_kind kind, clua_handle handle);
/// The handle at `index`, or NULL if it is not a handle of this kind. [-0, +0, -]
clua_handle *clua_tohandle(lua_State *L, int index, clua_handle_kind kind);

#endif
