/// Operations that may raise, each inside its own lua_pcall. All return the status of that call;
/// unless it is LUA_OK, the operands are popped and the error value is on top. Each needs four free
/// slots.
#ifndef CLUA_PROTECTED_H
#define CLUA_PROTECTED_H

#include "clua.h"

/* ---- Defining operations --------------------------------------------------------------------- */

/// Defines a protected operation on the top `operands` values: it finds them from index 1 on, and
/// leaves the results on top.
#define CLUA_OPERATION(name, operands, results, operation) \
  static int name##_body(lua_State *L) {                   \
    operation;                                             \
    return results;                                        \
  }                                                        \
  int name(lua_State *L) { return clua_protect(L, name##_body, operands, results); }

/// Defines a protected operation on the value at an index: it finds the value at 1 and the operands
/// after it.
#define CLUA_OPERATION_AT(name, operands, results, operation)     \
  static int name##_body(lua_State *L) {                          \
    lua_insert(L, 1);                                             \
    operation;                                                    \
    return results;                                               \
  }                                                               \
  int name(lua_State *L, int index) {                             \
    lua_pushvalue(L, index);                                      \
    return clua_protect(L, name##_body, (operands) + 1, results); \
  }

/* ---- The API --------------------------------------------------------------------------------- */

/// [-0, +1, -]
int clua_try_pushlstring(lua_State *L, const char *bytes, size_t length);
/// [-0, +1, -]
int clua_try_createtable(lua_State *L, int elements, int fields);

/// Like lua_gettable. [-1, +1, -]
int clua_try_gettable(lua_State *L, int index);
/// Like lua_settable. [-2, +(0|1), -]
int clua_try_settable(lua_State *L, int index);
/// Like lua_geti. [-0, +1, -]
int clua_try_geti(lua_State *L, int index, lua_Integer key);
/// Like lua_getfield. [-0, +1, -]
int clua_try_getfield(lua_State *L, int index, const char *name, size_t length);
/// Like lua_setfield. [-1, +(0|1), -]
int clua_try_setfield(lua_State *L, int index, const char *name, size_t length);
/// Like lua_rawset. [-2, +(0|1), -]
int clua_try_rawset(lua_State *L, int index);
/// Like luaL_len. [-0, +(0|1), -]
int clua_try_len(lua_State *L, int index, lua_Integer *length);

/// Like luaL_tolstring. [-0, +1, -]
int clua_try_tostring(lua_State *L, int index);

/// Like luaL_loadbufferx. [-0, +1, -]
int clua_try_load(lua_State *L, const char *bytes, size_t length, const char *name,
                  const char *mode);
/// Like luaL_loadbufferx, but raises if scripts have to stop. [-0, +1, m]
int clua_loadtext(lua_State *L, const char *bytes, size_t length, const char *name,
                  const char *mode);
/// Finds the start of the chunk in the text of a file: like Lua, skips a byte-order mark and a
/// first line that begins with `#`. Sets `length` to the rest. The end of the skipped line is kept,
/// so that lines keep their numbers.
const char *clua_skipheading(const char *text, size_t *length);
/// Like luaL_loadfilex; LUA_ERRFILE if the file cannot be read. [-0, +1, -]
int clua_try_loadfile(lua_State *L, const char *path, const char *mode);

/// One bit per standard library, in the order of luaL_openlibs.
enum {
  CLUA_LIB_BASE = 1 << 0,
  CLUA_LIB_PACKAGE = 1 << 1,
  CLUA_LIB_COROUTINE = 1 << 2,
  CLUA_LIB_TABLE = 1 << 3,
  CLUA_LIB_IO = 1 << 4,
  CLUA_LIB_OS = 1 << 5,
  CLUA_LIB_STRING = 1 << 6,
  CLUA_LIB_MATH = 1 << 7,
  CLUA_LIB_UTF8 = 1 << 8,
  CLUA_LIB_DEBUG = 1 << 9,
};
/// Opens the libraries of the mask. [-0, +(0|1), -]
int clua_try_openlibs(lua_State *L, uint32_t libraries);
/// Lets C modules stay loaded when the state is closed (M3): a thread that one has started may
/// still run its code. Call with the library `package` open. [-0, +0, m]
void clua_keepmodules(lua_State *L);

/// Removes open libraries from scripts: `withdrawn` has bits as in `clua_try_openlibs`. The
/// registry holds a table of the original globals at `reference`. [-0, +0, -]
int clua_try_withdrawlibs(lua_State *L, uint32_t withdrawn, int *reference);

#endif
