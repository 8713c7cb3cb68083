/// The C face of Lua: the API itself, what Swift cannot see of it (macros, variadics), and what must
/// be written in C because it may raise. A raise is a `longjmp`; it must never cross a Swift frame.
#ifndef CLUA_H
#define CLUA_H

#if __has_include(<lua5.4/lua.h>)
#include <lua5.4/lua.h>
#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#else
#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const int CLUA_REGISTRYINDEX = LUA_REGISTRYINDEX;
static const int CLUA_MULTRET = LUA_MULTRET;

/* ---- Macros of lua.h that cannot raise ------------------------------------------------------ */

/// [-n, +0, -]
static inline void clua_pop(lua_State *L, int n) { lua_settop(L, -n - 1); }
static inline int clua_upvalueindex(int i) { return lua_upvalueindex(i); }
/// Moves the top into `index`. [-1, +1, -]
static inline void clua_insert(lua_State *L, int index) { lua_rotate(L, index, 1); }
/// [-1, +0, -]
static inline void clua_remove(lua_State *L, int index) {
  lua_rotate(L, index, -1);
  lua_settop(L, -2);
}
/// [-1, +0, -]
static inline void clua_replace(lua_State *L, int index) {
  lua_copy(L, -1, index);
  lua_settop(L, -2);
}
/// Calls without a message handler. [-(nargs + 1), +(nresults|1), -]
static inline int clua_pcall(lua_State *L, int nargs, int nresults) {
  return lua_pcallk(L, nargs, nresults, 0, 0, NULL);
}

/* ---- Swift functions as Lua functions -------------------------------------------------------- */

/// A Swift function that Lua may call through a trampoline. It must not raise: it returns the number
/// of results, or `CLUA_RAISE` with the error value on top of the stack.
typedef int (*clua_function)(lua_State *L, void *context);

enum { CLUA_RAISE = -1 };

/// Pushes a C closure that calls `function` with `context` and raises what it reports, after Swift
/// has returned. At least LUA_MINSTACK free slots on entry. [-0, +1, m]
void clua_pushfunction(lua_State *L, clua_function function, void *context);

/* ---- Protected operations --------------------------------------------------------------------- */

/// Runs `function` (a C function) on the top `nargs` values, protected; status as lua_pcall.
/// Needs two free stack slots. [-nargs, +(nresults|1), -]
int clua_protect(lua_State *L, lua_CFunction function, int nargs, int nresults);

#endif
