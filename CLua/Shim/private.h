/// Declarations shared by the parts of this target and private to it.
#ifndef CLUA_PRIVATE_H
#define CLUA_PRIVATE_H

#include "clua_allocator.h"
#include "clua_handles.h"

/// A reference held by Lua, in a full userdata: the claim releases it when Lua frees the userdata.
typedef struct clua_box {
  clua_function function;
  void *context;  // NULL until the box is filled
  clua_finalizer release;
  clua_claim claim;
} clua_box;

/// A handle that records its kind: with `debug` a script may give it another metatable.
typedef struct clua_kindhandle {
  clua_handle handle;
  clua_handle_kind kind;
} clua_kindhandle;

/// A handle of a kind whose objects Lua retains.
typedef struct clua_ownhandle {
  clua_kindhandle base;
  clua_claim claim;
} clua_ownhandle;

/// Makes the metatables of boxes. [-0, +0, m]
void clua_install_functions(lua_State *L);
/// Makes the metatable of error values and the places of tracebacks. [-0, +0, m]
void clua_install_errors(lua_State *L);
/// Pushes an empty box whose metatable is in the registry at `key`. [-0, +1, m]
clua_box *clua_newbox(lua_State *L, const void *key, int uservalues);
/// Copies the contents of a box to another one. [-0, +0, -]
void clua_fillbox(clua_box *box, const clua_box *source);

/// The body of a function that owns its context; the box is its first upvalue. [-any, +any, e]
int clua_call_box(lua_State *L);
/// Whether clua_outer made the function.
bool clua_isouter(lua_CFunction function);
/// Whether clua_try_accelerate made the function.
bool clua_isaccelerated(lua_CFunction function);

/// Checks the chunk on top, which was just compiled. Replaces it by a mended chunk if Lua has
/// compiled it wrongly, or by an error, with another status than LUA_OK, if it cannot be mended.
/// [-1, +1, m]
int clua_mend(lua_State *L, const char *name);

#endif
