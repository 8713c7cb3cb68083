#include "clua_bridge.h"
#include "clua_errors.h"
#include "observed_cells.h"

/* ---- Computing -------------------------------------------------------------------------------- */

/* What the getter of the cell at `cell` gave is on top; a loader has stored it. [-1, +0, -] */
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

/* What the tracked getter of the evaluator at `evaluator` can reach is opened: its table, and objects that
   are observed already and that it has at hand. [-0, +0, m] */
static void open_reachable(lua_State *L, int evaluator) {
  int top = lua_gettop(L);
  lua_getupvalue(L, evaluator, UP_TABLE);
  clua_track(L, top + 1);
  lua_getupvalue(L, evaluator, UP_GET);
  if (!lua_iscfunction(L, top + 2)) {
    for (int i = 1; lua_getupvalue(L, top + 2, i); i++) {
      if (lua_type(L, top + 3) == LUA_TTABLE && clua_node_at(L, top + 3)) clua_track(L, top + 3);
      lua_settop(L, top + 2);
    }
  }
  lua_settop(L, top);
}

typedef struct computation {
  int compare;
  clua_computation result;
} computation;

/* Protected, of a loader: (cell, light computation) */
static int run_loader(lua_State *L) {
  computation *data = lua_touserdata(L, 2);
  set_loading(L, 1, true);
  lua_rawgeti(L, 1, GETTER);
  lua_rawgeti(L, 1, TABLE);
  lua_rawgeti(L, 1, KEY);
  lua_call(L, 2, 1);
  lua_pushvalue(L, 3);
  data->result = take_result(L, 1, data->compare);
  clua_setstored(L, 1, 3);
  return 0;
}

/* Protected, of a tracked getter: (evaluator, mode) -> as the evaluator */
static int run_tracked(lua_State *L) {
  open_reachable(L, 1);
  lua_call(L, 1, 2);
  return 2;
}

clua_computation clua_lazy_evaluate(lua_State *L, int cells, lua_Integer number, int compare,
                                    bool tracked) {
  int top = lua_gettop(L);
  int mode = !(compare & CLUA_COMPARE_KNOWN) ? 0
             : compare & CLUA_COMPARE_BASED  ? 2
             : compare & CLUA_COMPARE_KEEP   ? 3
                                             : 1;
  lua_pushcfunction(L, clua_messagehandler);
  lua_rawgeti(L, LUA_REGISTRYINDEX, cells);
  if (tracked) lua_pushcfunction(L, run_tracked);
  lua_rawgeti(L, top + 2, number * CELL_PARTS + CELL_EVALUATOR);
  lua_pushinteger(L, mode);
  int status = clua_gettercall(L, tracked ? 2 : 1, 2, top + 1);
  clua_computation result = CLUA_COMPUTED_FAILED;
  if (status == LUA_OK) {
    result = (clua_computation)lua_tointeger(L, top + 3);
    int type = lua_type(L, top + 4);
    if ((type == LUA_TTABLE || type == LUA_TUSERDATA) && result != CLUA_COMPUTED_SAME) {
      lua_rawgeti(L, top + 2, number * CELL_PARTS + CELL_EVALUATOR);
      lua_pushboolean(L, true);
      lua_setupvalue(L, -2, UP_OBJECT);
    }
  } else if (lua_rawgeti(L, top + 2, number * CELL_PARTS + CELL) == LUA_TTABLE) {
    lua_pushvalue(L, top + 3);
    clua_keeperror(L, top + 4);
  }
  lua_settop(L, top);
  return result;
}

clua_computation clua_lazy_load(lua_State *L, lua_Integer number, int compare) {
  int cell = lua_gettop(L) + 1;
  computation data = {compare, CLUA_COMPUTED_FAILED};
  if (!clua_pushcell(L, number)) {
    lua_settop(L, cell - 1);
    return CLUA_COMPUTED_FAILED;
  }
  lua_pushcfunction(L, clua_messagehandler);
  lua_pushcfunction(L, run_loader);
  lua_pushvalue(L, cell);
  lua_pushlightuserdata(L, &data);
  int status = clua_gettercall(L, 2, 0, cell + 1);
  set_loading(L, cell, false);
  if (status != LUA_OK) {
    clua_keeperror(L, cell);
    // What it has stored before is not the value.
    clua_setstored(L, cell, 0);
    data.result = CLUA_COMPUTED_FAILED;
  }
  lua_settop(L, cell - 1);
  return data.result;
}

/* ---- In coroutines ---------------------------------------------------------------------------- */

/* Those of getters that are running are at 1…`running` of a table, spare ones behind them; their cells
   are at -1…-`running`. All of them are keys of it too. */
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
  lua_pushvalue(L, -1);
  lua_pushboolean(L, true);
  lua_rawset(L, -4);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, shared->running + 1);
  lua_pushboolean(L, false);
  lua_rawseti(L, -3, -(shared->running + 1));
  return 1;
}

/* The cell of the innermost getter is kept, whatever becomes of its declaration. There is room for it.
   [-0, +0, -] */
static void set_frame(lua_State *L, clua_shared *shared, int cell) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  if (cell) lua_pushvalue(L, cell);
  else lua_pushboolean(L, false);
  lua_rawseti(L, -2, -shared->running);
  lua_pop(L, 1);
}

static void finish_thread(lua_State *L, clua_shared *shared) {
  set_frame(L, shared, 0);
  if (shared->running > SPARE_THREADS) {
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
  int status = lua_resume(thread, L, nargs, &results);
  shared->getter = outer;
  if (status == LUA_YIELD) {
    *slot = shared->waits;
    lua_settop(L, cell - 1);
    return CLUA_COMPUTED_WAITING;
  }
  clua_computation result = CLUA_COMPUTED_FAILED;
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
    lua_resetthread(thread);
    lua_settop(thread, 0);
  }
  finish_thread(L, shared);
  lua_settop(L, cell - 1);
  return result;
}

/* Protected. (evaluator) */
static int open_protected(lua_State *L) {
  open_reachable(L, 1);
  return 0;
}

clua_computation clua_lazy_start(lua_State *L, lua_Integer number, int compare, clua_slot **slot) {
  int cell = lua_gettop(L) + 1;
  clua_shared *shared = clua_shared_of(L);
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
  set_loading(L, cell, true);
  if (clua_cellflags(L, cell) & CLUA_LAZY_TRACKED) {
    lua_rawgeti(L, cell, EVALUATOR);
    if (clua_protect(L, open_protected, 1, 0) != LUA_OK) {
      clua_keeperror(L, cell);
      lua_settop(L, cell - 1);
      return CLUA_COMPUTED_FAILED;
    }
  }
  shared->running++;
  set_frame(L, shared, cell);
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
