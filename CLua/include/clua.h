/// The C interface to Lua: the API itself, its parts that Swift cannot see (macros, variadics), and
/// code that must be written in C because it may raise. A raise is a `longjmp`, which must never
/// cross a Swift frame.
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

#include "clua_plain.h"

static const int CLUA_REGISTRYINDEX = LUA_REGISTRYINDEX;
static const int CLUA_MULTRET = LUA_MULTRET;
static const int CLUA_ERRFILE = LUA_ERRFILE;

/* ---- Macros of lua.h that cannot raise ------------------------------------------------------ */

/// [-n, +0, -]
static inline void clua_pop(lua_State *L, int n) { lua_settop(L, -n - 1); }
/// Moves the top to `index`. [-1, +1, -]
static inline void clua_insert(lua_State *L, int index) { lua_rotate(L, index, 1); }
/// [-1, +0, -]
static inline void clua_remove(lua_State *L, int index) {
  lua_rotate(L, index, -1);
  lua_settop(L, -2);
}
/// Calls without a message handler. [-(nargs + 1), +(nresults|1), -]
static inline int clua_pcall(lua_State *L, int nargs, int nresults) {
  return lua_pcallk(L, nargs, nresults, 0, 0, NULL);
}
/// Pushes a C function without upvalues, which allocates nothing. [-0, +1, -]
static inline void clua_pushlightfunction(lua_State *L, lua_CFunction function) {
  lua_pushcfunction(L, function);
}

/// Raises the error of a stack that could not grow: too many values, or out of memory. [-0, +0, v]
int clua_raisestack(lua_State *L, const char *purpose);
/// Like luaL_checkstack, but the error is not "stack overflow" if memory was refused. [-0, +0, v]
static inline void clua_checkstack(lua_State *L, int slots, const char *purpose) {
  if (__builtin_expect(!lua_checkstack(L, slots), 0)) clua_raisestack(L, purpose);
}

/// Whether a Lua or C function is running in the thread. [-0, +0, -]
static inline bool clua_isrunning(lua_State *L) {
  lua_Debug activation;
  return lua_getstack(L, 0, &activation) != 0;
}

/* ---- The host of a state --------------------------------------------------------------------- */

typedef struct clua_guard clua_guard;
typedef struct clua_allocator clua_allocator;

/// The data of a state, reachable from each of its coroutines.
typedef struct clua_home {
  void *host;         // a pointer that the host attached
  clua_guard *guard;  // NULL if nothing stops scripts
  clua_allocator *allocator;  // NULL if another allocator manages the memory of the state
  void *tables;       // state of the target CTables; NULL if it is not used
  bool restricted;    // scripts have only the safe libraries
} clua_home;

/// The home of a state; coroutines inherit it. [-0, +0, -]
static inline clua_home *clua_home_of(lua_State *L) { return *(clua_home **)lua_getextraspace(L); }
/// Gives a state its home, which must outlive it. Call this with the main thread, before any
/// coroutine exists. [-0, +0, -]
static inline void clua_sethome(lua_State *L, clua_home *home) {
  *(clua_home **)lua_getextraspace(L) = home;
}
/// The pointer that the host attached to the state. [-0, +0, -]
static inline void *clua_host(lua_State *L) { return clua_home_of(L)->host; }

/// Prepares a new state for the functions below and makes the table of pins, whose registry index
/// is stored in `pins`. [-0, +(0|1), -]
int clua_try_install(lua_State *L, int *pins);

/// Pushes the value in `slot` of the table of pins. Needs two free slots. [-0, +1, -]
static inline void clua_pushpin(lua_State *L, int pins, int slot) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, pins);
  lua_rawgeti(L, -1, slot);
  clua_remove(L, -2);
}
/// Moves the top into `slot`, which must exist, so that nothing is allocated. [-1, +0, -]
static inline void clua_setpin(lua_State *L, int pins, int slot) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, pins);
  lua_rotate(L, -2, 1);
  lua_rawseti(L, -2, slot);
  lua_settop(L, -2);
}
/// Makes the slots first...last, which hold false. [-0, +(0|1), -]
int clua_try_growpins(lua_State *L, int pins, int first, int last);

/* ---- Finalizers of scripts ------------------------------------------------------------------- */

/// Raises if scripts have only the safe libraries and the argument is a metatable with `__gc`:
/// nothing could stop its finalizers. [-0, +0, v]
void clua_checkfinalizer(lua_State *L, int argument);
/// Does the same for a metatable at any index that is not an argument of the script. [-0, +0, v]
void clua_refusefinalizer(lua_State *L, int index);

/* ---- Swift functions as Lua functions -------------------------------------------------------- */

/// A Swift function that Lua may call through a trampoline. It must not raise: it returns the
/// number of results, or `CLUA_RAISE` with the error value on top of the stack.
typedef int (*clua_function)(lua_State *L, void *context);
/// Takes over a reference that Lua held. The collector calls it: it must not use Lua.
typedef void (*clua_finalizer)(void *context);

enum { CLUA_RAISE = -1 };

/// Pushes a C closure that calls `function` with `context`. If it returns `CLUA_RAISE`, the closure
/// raises the error after Swift has returned. At least LUA_MINSTACK free slots on entry.
/// [-0, +1, m]
void clua_pushfunction(lua_State *L, clua_function function, void *context);
/// Does the same protected. On success Lua owns `context`, and releases it once, when the function
/// is collected or the state is closed. [-0, +1, -]
int clua_try_pushfunction(lua_State *L, clua_function function, void *context,
                          clua_finalizer release);
/// C functions of other targets that call Swift.
enum { CLUA_FUNCTION_DECLARE, CLUA_FUNCTION_DECLARE_USUAL, CLUA_FUNCTION_OBSERVE, CLUA_FUNCTIONS };
/// Sets one of these functions, so that clua_isfunction recognizes it. Callable on any thread.
void clua_notefunction(int which, lua_CFunction function);
/// Whether the value is one of these functions. [-0, +0, -]
bool clua_isfunction(lua_State *L, int index);

/* ---- Protected operations -------------------------------------------------------------------- */

/// Calls `function` (a C function) with the top `nargs` values, protected; returns the status of
/// lua_pcall. Needs two free stack slots. [-nargs, +(nresults|1), -]
int clua_protect(lua_State *L, lua_CFunction function, int nargs, int nresults);

#endif
