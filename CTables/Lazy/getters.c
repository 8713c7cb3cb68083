#include "cells.h"
#include "clua_coroutines.h"
#include "clua_errors.h"
#include "clua_guard.h"
#include "clua_interruption.h"

/* ---- Computing ------------------------------------------------------------------------------- */

/* Takes the result of the cell's getter, which is on top; a loader has stored it. The cell is at
   `cell`. [-1, +0, -] */
static clua_computation take_result(lua_State *L, int cell, int compare) {
  if (clua_cellflags(L, cell) & CLUA_LAZY_LOADED) {
    lua_rawgeti(L, cell, STORE);
    lua_rawgeti(L, cell, KEY);
    lua_rawget(L, -2);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  return clua_take(L, cell, compare);
}

static void set_loading(lua_State *L, int cell, bool loading) {
  if (!(clua_cellflags(L, cell) & CLUA_LAZY_LOADED)) return;
  int top = lua_gettop(L);
  lua_rawgeti(L, cell, TABLE);
  lua_rawgeti(L, cell, KEY);
  clua_node *node = clua_pushnodeat(L, top + 1);
  clua_record *record = node ? clua_record_of(L, node, top + 4, top + 2) : NULL;
  if (record) record->loading = loading;
  lua_settop(L, top);
}

/* Opens the tables that the tracked getter at `getter` can reach: its table, at `table`, and
   captured observed tables. [-0, +0, m] */
static void open_reachable(lua_State *L, int getter, int table) {
  clua_track(L, table);
  if (lua_iscfunction(L, getter)) return;
  int top = lua_gettop(L);
  for (int i = 1; lua_getupvalue(L, getter, i); i++) {
    if (lua_type(L, top + 1) == LUA_TTABLE && clua_node_at(L, top + 1)) clua_track(L, top + 1);
    lua_settop(L, top);
  }
}

/* Calls a loader, which stores the value. [-0, +0, e] */
static clua_computation run_loader(lua_State *L, int cells, const clua_evaluation *evaluation) {
  int cell = lua_gettop(L) + 1;
  // The declaration of the key may have been removed.
  if (lua_rawgeti(L, cells, evaluation->number) != LUA_TTABLE) {
    lua_pop(L, 1);
    return CLUA_COMPUTED_FAILED;
  }
  set_loading(L, cell, true);
  lua_rawgeti(L, cell, GETTER);
  lua_rawgeti(L, cell, TABLE);
  lua_rawgeti(L, cell, KEY);
  lua_call(L, 2, 1);
  lua_pushvalue(L, cell + 1);
  clua_computation result = take_result(L, cell, evaluation->compare);
  clua_setstored(L, cell, cell + 1);
  set_loading(L, cell, false);
  lua_settop(L, cell - 1);
  return result;
}

/* Calls a getter, which returns the value. [-0, +0, e] */
static clua_computation run_getter(lua_State *L, clua_shared *shared, int cells,
                                   const clua_evaluation *evaluation) {
  unsigned declaration = shared->values[evaluation->number].declaration;
  int cell = lua_gettop(L) + 1, getter = cell + 1, value = getter;
  clua_computation result = CLUA_COMPUTED_FAILED;
  // The declaration of the key may have been removed.
  if (lua_rawgeti(L, cells, evaluation->number) == LUA_TTABLE) {
    lua_rawgeti(L, cell, GETTER);
    lua_rawgeti(L, cell, TABLE);
    lua_rawgeti(L, cell, KEY);
    if (evaluation->tracked) open_reachable(L, getter, getter + 1);
    lua_call(L, 2, 1);
    result = CLUA_COMPUTED_CHANGED;
    // It may also have been removed while the getter was running.
    if (declaration == shared->values[evaluation->number].declaration) {
      lua_rawgeti(L, cell, STORE);
      lua_rawgeti(L, cell, KEY);
      lua_pushvalue(L, value);
      lua_rawset(L, value + 1);
      result = clua_compare(L, shared, evaluation->number, value, cell, evaluation->compare);
    }
  }
  lua_settop(L, cell - 1);
  return result;
}

/* Protected: (cells, light evaluation) */
static int run_getters(lua_State *L) {
  clua_evaluation *evaluation = lua_touserdata(L, 2);
  clua_shared *shared = clua_shared_of(L);
  clua_checkstack(L, 40, "no room to compute a property");
  do {
    evaluation->result = evaluation->loaded ? run_loader(L, 1, evaluation)
                                            : run_getter(L, shared, 1, evaluation);
  } while (shared->observation.evaluated(evaluation));
  return 0;
}

/* The traceback of a getter ends above `run_getters`: readers of the property have a separate
   traceback. */
static int handle_getter(lua_State *L) { return clua_handleabove(L, run_getters); }

/* Forgets an error that was raised before, which is unrelated to the next one. [-0, +0, -] */
static void forget_raised(lua_State *L, clua_shared *shared) {
  if (shared->raised) clua_forgetinner(L);
  shared->raised = false;
}

bool clua_lazy_evaluate(lua_State *L, clua_shared *shared, clua_evaluation *evaluation) {
  forget_raised(L, shared);
  int handler = lua_gettop(L) + 1;
  lua_pushcfunction(L, handle_getter);
  lua_pushcfunction(L, run_getters);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->cells);
  lua_pushlightuserdata(L, evaluation);
  int status = clua_gettercall(L, 2, 0, handler);
  if (status != LUA_OK) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, shared->cells);
    if (lua_rawgeti(L, -1, evaluation->number) == LUA_TTABLE) {
      lua_pushvalue(L, handler + 1);
      clua_keeperror(L, handler + 3);
      if (evaluation->loaded) {
        set_loading(L, handler + 3, false);
        // A value stored by a loader that then failed does not count.
        clua_setstored(L, handler + 3, 0);
      }
    }
  }
  lua_settop(L, handler - 1);
  return status == LUA_OK;
}

/* ---- In coroutines --------------------------------------------------------------------------- */

/* The coroutines of running getters are at 1…`running` of a table, followed by spare ones; the
   cells of the getters are at -1…-`running`. All coroutines are also keys of the table. */
enum { SPARE_THREADS = 64 };

static lua_State *thread_at(lua_State *L, clua_shared *shared, int place) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_rawgeti(L, -1, place);
  lua_State *thread = lua_tothread(L, -1);
  lua_pop(L, 2);
  return thread;
}

bool clua_isgetterthread(lua_State *L, int index) {
  clua_shared *shared = clua_shared_of(L);
  if (!shared || lua_type(L, index) != LUA_TTHREAD) return false;
  lua_pushvalue(L, index);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_insert(L, -2);
  bool found = lua_type(L, -2) == LUA_TTABLE && lua_rawget(L, -2) == LUA_TBOOLEAN;
  lua_pop(L, 2);
  return found;
}

/* Protected. () -> thread */
static int new_thread(lua_State *L) {
  clua_shared *shared = clua_shared_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_newthread(L);
  // A finalizer may have made and left a coroutine during the allocation.
  if (lua_rawgeti(L, -2, shared->running + 1) == LUA_TTHREAD) return 1;
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_pushboolean(L, true);
  lua_rawset(L, -4);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, shared->running + 1);
  lua_pushboolean(L, false);
  lua_rawseti(L, -3, -(shared->running + 1));
  return 1;
}

/* Keeps the cell of the innermost getter, even if its declaration is removed. Its field exists.
   [-0, +0, -] */
static void set_frame(lua_State *L, clua_shared *shared, int cell) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  if (cell) lua_pushvalue(L, cell);
  else lua_pushboolean(L, false);
  lua_rawseti(L, -2, -shared->running);
  lua_pop(L, 1);
}

/* Ends the use of the innermost coroutine; if it is `exhausted`, it is not reused. */
static void finish_thread(lua_State *L, clua_shared *shared, bool exhausted) {
  set_frame(L, shared, 0);
  if (exhausted || shared->running > SPARE_THREADS) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
    lua_rawgeti(L, -1, shared->running);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, shared->running);
    lua_pop(L, 1);
  }
  shared->running--;
}

/* Resumes the innermost getter with `nargs` values on its stack. */
static clua_computation step(lua_State *L, int cell, int compare, int nargs, clua_slot **slot) {
  clua_shared *shared = clua_shared_of(L);
  lua_State *thread = thread_at(L, shared, shared->running), *outer = shared->getter;
  int results;
  shared->getter = thread;
  clua_guard *guard = clua_guard_of(L);
  bool limited = clua_guard_limitmemory(guard);
  int status = clua_resume(thread, L, nargs, &results);
  clua_guard_lendmemory(guard, limited);
  shared->getter = outer;
  if (status == LUA_YIELD) {
    *slot = shared->waits;
    lua_settop(L, cell - 1);
    return CLUA_COMPUTED_WAITING;
  }
  clua_computation result = CLUA_COMPUTED_FAILED;
  bool exhausted = false;
  if (status == LUA_OK) {
    lua_settop(thread, results ? lua_gettop(thread) - results + 1 : 0);
    if (results) lua_xmove(thread, L, 1);
    else lua_pushnil(L);
    lua_settop(thread, 0);
    set_loading(L, cell, false);
    result = take_result(L, cell, compare);
  } else {
    set_loading(L, cell, false);
    lua_xmove(thread, L, 1);
    clua_tracethread(L, thread);
    clua_keeperror(L, cell);
    clua_setstored(L, cell, 0);
    // The memory of so many levels would be freed only gradually. A stopped coroutine must not run
    // its pending code.
    exhausted = clua_isdeep(thread) || clua_isstopped(thread);
    if (!clua_isstopped(thread)) {
      clua_resetthread(thread, L);
      lua_settop(thread, 0);
    }
  }
  finish_thread(L, shared, exhausted);
  lua_settop(L, cell - 1);
  return result;
}

/* Protected. (getter, table) */
static int open_protected(lua_State *L) {
  open_reachable(L, 1, 2);
  return 0;
}

clua_computation clua_lazy_start(lua_State *L, lua_Integer number, int compare, clua_slot **slot) {
  int cell = lua_gettop(L) + 1;
  clua_shared *shared = clua_shared_of(L);
  forget_raised(L, shared);
  if (!clua_pushcell(L, number)) {
    lua_settop(L, cell - 1);
    return CLUA_COMPUTED_FAILED;
  }
  lua_State *thread = thread_at(L, shared, shared->running + 1);
  if (!thread) {
    if (clua_protect(L, new_thread, 0, 1) != LUA_OK) {
      clua_keeperror(L, cell);
      lua_settop(L, cell - 1);
      return CLUA_COMPUTED_FAILED;
    }
    thread = lua_tothread(L, -1);
    lua_pop(L, 1);
  }
  // The coroutine is taken before any allocation: a finalizer may compute properties, which then
  // use the next coroutine.
  shared->running++;
  set_frame(L, shared, cell);
  set_loading(L, cell, true);
  if (clua_cellflags(L, cell) & CLUA_LAZY_TRACKED) {
    lua_rawgeti(L, cell, GETTER);
    lua_rawgeti(L, cell, TABLE);
    if (clua_protect(L, open_protected, 2, 0) != LUA_OK) {
      clua_keeperror(L, cell);
      finish_thread(L, shared, false);
      lua_settop(L, cell - 1);
      return CLUA_COMPUTED_FAILED;
    }
  }
  lua_rawgeti(L, cell, GETTER);
  lua_rawgeti(L, cell, TABLE);
  lua_rawgeti(L, cell, KEY);
  lua_xmove(L, thread, 3);
  return step(L, cell, compare, 2, slot);
}

clua_computation clua_lazy_resume(lua_State *L, int compare, bool ok, clua_slot **slot) {
  int cell = lua_gettop(L);
  clua_shared *shared = clua_shared_of(L);
  lua_State *thread = thread_at(L, shared, shared->running);
  lua_pushboolean(L, ok);
  lua_insert(L, cell);
  lua_xmove(L, thread, 2);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_rawgeti(L, -1, -shared->running);
  lua_replace(L, -2);
  return step(L, cell, compare, 2, slot);
}

bool clua_isgetter(lua_State *L) {
  clua_shared *shared = clua_shared_of(L);
  return shared && shared->getter == L;
}
