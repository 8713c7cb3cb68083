/// Declarations that the parts of this target share and no other code sees.
#ifndef CLUA_PRIVATE_H
#define CLUA_PRIVATE_H

#include "clua_allocator.h"
#include "clua_handles.h"

/// A reference held by Lua, in a full userdata: when Lua frees that, the claim releases it.
typedef struct clua_box {
  clua_function function;
  void *context;  // NULL until the box is filled
  clua_finalizer release;
  clua_claim claim;
} clua_box;

/// A handle that says of which kind it is: with `debug` a script may give it another metatable.
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
/// Pushes a box that holds nothing yet, and whose metatable is in the registry at `key`.
/// [-0, +1, m]
clua_box *clua_newbox(lua_State *L, const void *key, int uservalues);
/// Makes a box hold what another one does. [-0, +0, -]
void clua_fillbox(clua_box *box, const clua_box *source);

/// The body of a function that owns its context; the box is its first upvalue. [-any, +any, e]
int clua_call_box(lua_State *L);
/// Whether a function is one that clua_outer made.
bool clua_isouter(lua_CFunction function);
/// Whether a function is one that clua_try_accelerate made.
bool clua_isaccelerated(lua_CFunction function);

/// Replaces the chunk on top, which was just compiled: by a mended one where Lua has compiled it
/// wrongly; by an error, with another status than LUA_OK, where it cannot be mended. [-1, +1, m]
int clua_mend(lua_State *L, const char *name);

#endif
