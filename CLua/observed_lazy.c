#include "clua_bridge.h"
#include "clua_errors.h"
#include "clua_lazy.h"
#include "observed_internal.h"

/* ---- Cells ------------------------------------------------------------------------------------ */

/* The fields of a cell are there from the beginning: setting them takes no memory. */
enum { GETTER = 1, STORE, KEY, TABLE, DECLARATION, FAILURE, TRACE, FLAGS, EVALUATOR, NUMBER };

/* The evaluator of a cell calls its getter, compares what comes with the last value, keeps and stores it:
   one Lua function does that in a third of the time that it takes from C. The last value and the base are
   upvalues of it. */
static const char evaluator_source[] =
    "local rawequal = ...\n"
    "return function(get, table, key, store)\n"
    "  local object, value, base\n"
    "  return function(mode)\n"
    "    local new = get(table, key)\n"
    "    if mode > 0 then\n"
    "      local same\n"
    "      if object then same = rawequal(new, value)\n"
    "      else same = new == value or new ~= new and value ~= value end\n"
    "      if same then\n"
    "        store[key] = new\n"
    "        return 0, new\n"
    "      end\n"
    "      if mode == 3 then base = value\n"
    "      elseif mode == 2 and rawequal(new, base) then\n"
    "        value = new\n"
    "        store[key] = new\n"
    "        return 2, new\n"
    "      end\n"
    "    end\n"
    "    value = new\n"
    "    store[key] = new\n"
    "    return 1, new\n"
    "  end\n"
    "end\n";

/* Its upvalues, in the order in which it mentions them. `object` says that the value is one that `==`
   might ask a metamethod about. */
enum { UP_GET = 1, UP_TABLE, UP_KEY, UP_OBJECT, UP_RAWEQUAL, UP_VALUE, UP_STORE, UP_BASE };

void clua_install_lazy(lua_State *L, int shared) {
  if (luaL_loadbufferx(L, evaluator_source, sizeof evaluator_source - 1, "=(lazy)", "t") != LUA_OK) {
    lua_error(L);
  }
  lua_getglobal(L, "rawequal");
  lua_call(L, 1, 1);
  lua_setiuservalue(L, shared, CLUA_SHARED_EVALUATORS);
}

/* What belongs to one number in the list of the cells: what each computation and invalidation needs is
   there directly. */
enum { CELL_EVALUATOR, CELL, CELL_STORE, CELL_KEY, CELL_PARTS };

/* Pushes a cell; nil where it is gone. [-0, +1, -] */
static bool push_cell(lua_State *L, lua_Integer number) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->cells);
  bool found = lua_rawgeti(L, -1, number * CELL_PARTS + CELL) == LUA_TTABLE;
  lua_remove(L, -2);
  return found;
}

int clua_lazy_cells(lua_State *L) { return clua_shared_of(L)->cells; }

/* Makes the cell at `cell` known by its number. [-0, +0, m] */
static void list_cell(lua_State *L, int cell, lua_Integer number) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->cells);
  static const int fields[CELL_PARTS] = {EVALUATOR, 0, STORE, KEY};
  for (int i = 0; i < CELL_PARTS; i++) {
    if (fields[i]) lua_rawgeti(L, cell, fields[i]);
    else lua_pushvalue(L, cell);
    lua_rawseti(L, -2, number * CELL_PARTS + i);
  }
  lua_pop(L, 1);
}

/* Pushes an upvalue of the evaluator of the cell at `cell`. [-0, +1, -] */
static void push_kept(lua_State *L, int cell, int upvalue) {
  lua_rawgeti(L, cell, EVALUATOR);
  lua_getupvalue(L, -1, upvalue);
  lua_replace(L, -2);
}

/* Pops a value into one. [-1, +0, -] */
static void keep(lua_State *L, int cell, int upvalue) {
  lua_rawgeti(L, cell, EVALUATOR);
  if (upvalue == UP_VALUE) {
    int type = lua_type(L, -2);
    lua_pushboolean(L, type == LUA_TTABLE || type == LUA_TUSERDATA);
    lua_setupvalue(L, -2, UP_OBJECT);
  }
  lua_insert(L, -2);
  lua_setupvalue(L, -2, upvalue);
  lua_pop(L, 1);
}

static int flags_of(lua_State *L, int cell) {
  lua_rawgeti(L, cell, FLAGS);
  int flags = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return flags;
}

/* store[key] of the cell at `cell` = the value at `value`, or nil for 0, which takes no memory.
   [-0, +0, m] */
static void set_stored(lua_State *L, int cell, int value) {
  lua_rawgeti(L, cell, STORE);
  lua_rawgeti(L, cell, KEY);
  if (value) lua_pushvalue(L, value);
  else lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Takes the value on top for the present one; the store gets it when it is read next. [-1, +0, -] */
static clua_computation take(lua_State *L, int cell, int compare) {
  int value = lua_gettop(L);
  clua_computation result = CLUA_COMPUTED_CHANGED;
  push_kept(L, cell, UP_VALUE);
  if ((compare & CLUA_COMPARE_KNOWN) && clua_same(L, value + 1, value)) {
    result = CLUA_COMPUTED_SAME;
  } else {
    if (compare & CLUA_COMPARE_BASED) {
      push_kept(L, cell, UP_BASE);
      if (clua_same(L, value + 2, value)) result = CLUA_COMPUTED_RESTORED;
      lua_pop(L, 1);
    } else if (compare & CLUA_COMPARE_KEEP) {
      lua_pushvalue(L, value + 1);
      keep(L, cell, UP_BASE);
    }
    lua_pushvalue(L, value);
    keep(L, cell, UP_VALUE);
  }
  lua_settop(L, value - 1);
  return result;
}

void clua_lazy_drop(lua_State *L, int cells, lua_Integer number, bool kept) {
  int top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, cells);
  if (lua_rawgeti(L, top + 1, number * CELL_PARTS + CELL_STORE) == LUA_TTABLE) {
    lua_rawgeti(L, top + 1, number * CELL_PARTS + CELL_KEY);
    lua_pushnil(L);
    lua_rawset(L, top + 2);
    if (!kept && lua_rawgeti(L, top + 1, number * CELL_PARTS + CELL) == LUA_TTABLE) {
      lua_pushnil(L);
      keep(L, top + 3, UP_VALUE);
    }
  }
  lua_settop(L, top);
}

static void push_field(lua_State *L, lua_Integer number, int field) {
  if (!push_cell(L, number)) return;
  lua_rawgeti(L, -1, field);
  lua_remove(L, -2);
}

void clua_lazy_pushdeclaration(lua_State *L, lua_Integer number) {
  push_field(L, number, DECLARATION);
}

void clua_lazy_pushvalue(lua_State *L, lua_Integer number, bool base) {
  if (!push_cell(L, number)) return;
  push_kept(L, lua_gettop(L), base ? UP_BASE : UP_VALUE);
  lua_remove(L, -2);
}

clua_computation clua_lazy_assign(lua_State *L, lua_Integer number, int compare) {
  int value = lua_gettop(L);
  clua_computation result = CLUA_COMPUTED_SAME;
  if (push_cell(L, number)) {
    lua_insert(L, value);
    result = take(L, value, compare);
  }
  lua_settop(L, value - 1);
  return result;
}

/* ---- Errors ----------------------------------------------------------------------------------- */

/* Keeps the error on top, and the traceback that was left. [-1, +0, -] */
static void keep_error(lua_State *L, int cell) {
  lua_rawseti(L, cell, FAILURE);
  bool swift;
  clua_pushtraceback(L, &swift);
  lua_rawseti(L, cell, TRACE);
}

void clua_lazy_fail(lua_State *L, lua_Integer number) {
  int error = lua_gettop(L);
  if (push_cell(L, number)) {
    lua_insert(L, error);
    keep_error(L, error);
  }
  lua_settop(L, error - 1);
}

void clua_lazy_pusherror(lua_State *L, lua_Integer number) {
  int top = lua_gettop(L);
  if (!push_cell(L, number)) return;
  lua_rawgeti(L, top + 1, FAILURE);
  lua_rawgeti(L, top + 1, TRACE);
  clua_leavetraceback(L);
  lua_replace(L, top + 1);
}

void clua_lazy_forgeterror(lua_State *L, lua_Integer number) {
  int top = lua_gettop(L);
  if (push_cell(L, number)) {
    lua_pushnil(L);
    lua_rawseti(L, top + 1, FAILURE);
    lua_pushnil(L);
    lua_rawseti(L, top + 1, TRACE);
  }
  lua_settop(L, top);
}

/* ---- Computing -------------------------------------------------------------------------------- */

/* What the getter of the cell at `cell` gave is on top; a loader has stored it. [-1, +0, -] */
static clua_computation take_result(lua_State *L, int cell, int compare) {
  if (flags_of(L, cell) & CLUA_LAZY_LOADED) {
    lua_rawgeti(L, cell, STORE);
    lua_rawgeti(L, cell, KEY);
    lua_rawget(L, -2);
    lua_replace(L, -3);
    lua_pop(L, 1);
  }
  return take(L, cell, compare);
}

static void set_loading(lua_State *L, int cell, bool loading) {
  if (!(flags_of(L, cell) & CLUA_LAZY_LOADED)) return;
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
  set_stored(L, 1, 3);
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
    keep_error(L, top + 4);
  }
  lua_settop(L, top);
  return result;
}

clua_computation clua_lazy_load(lua_State *L, lua_Integer number, int compare) {
  int cell = lua_gettop(L) + 1;
  computation data = {compare, CLUA_COMPUTED_FAILED};
  if (!push_cell(L, number)) {
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
    keep_error(L, cell);
    data.result = CLUA_COMPUTED_FAILED;
  }
  lua_settop(L, cell - 1);
  return data.result;
}

/* ---- In coroutines ---------------------------------------------------------------------------- */

/* Those of getters that are running are at 1…`running` of a table, spare ones behind them; their cells
   are at -1…-`running`. */
enum { SPARE_THREADS = 64 };

static lua_State *thread_at(lua_State *L, clua_shared *shared, int place) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_rawgeti(L, -1, place);
  lua_State *thread = lua_tothread(L, -1);
  lua_pop(L, 2);
  return thread;
}

/* Protected. () -> thread */
static int new_thread(lua_State *L) {
  clua_shared *shared = clua_shared_of(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->threads);
  lua_newthread(L);
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
    keep_error(L, cell);
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
  if (!push_cell(L, number)) {
    lua_settop(L, cell - 1);
    return CLUA_COMPUTED_FAILED;
  }
  lua_State *thread = thread_at(L, shared, shared->running + 1);
  if (!thread) {
    if (clua_protect(L, new_thread, 0, 1) != LUA_OK) {
      keep_error(L, cell);
      lua_settop(L, cell - 1);
      return CLUA_COMPUTED_FAILED;
    }
    thread = lua_tothread(L, -1);
    lua_pop(L, 1);
  }
  set_loading(L, cell, true);
  if (flags_of(L, cell) & CLUA_LAZY_TRACKED) {
    lua_rawgeti(L, cell, EVALUATOR);
    if (clua_protect(L, open_protected, 1, 0) != LUA_OK) {
      keep_error(L, cell);
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

/* ---- Reading ---------------------------------------------------------------------------------- */

/* The table and the key are at 1 and 2. Pushes the value and opens it where reads are told.
   [-0, +1, e] */
static int hand_out(lua_State *L, int value) {
  lua_settop(L, value);
  if (clua_istracking(L)) clua_track(L, value);
  return 1;
}

static int resumed(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  // …, whether it went well, the value or the error
  if (!lua_toboolean(L, -2)) return lua_error(L);
  return hand_out(L, lua_gettop(L));
}

static int called(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return hand_out(L, lua_gettop(L));
}

/* Of a table that is being finalized the cells are listed no more. [-0, +0, m] */
static void find_cell(lua_State *L, clua_node *node, int userdata, int key) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  lua_pushvalue(L, key);
  if (lua_rawget(L, top + 1) == LUA_TTABLE) {
    lua_rawgeti(L, top + 2, NUMBER);
    lua_Integer number = lua_tointeger(L, -1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, node->shared->cells);
    if (lua_rawgeti(L, -1, number * CELL_PARTS + CELL) == LUA_TNIL) list_cell(L, top + 2, number);
  }
  lua_settop(L, top);
}

static bool slot_is_of(lua_State *L, clua_node *node, int userdata, int key, clua_slot *slot) {
  clua_record *record = clua_record_of(L, node, userdata, key);
  return record && record->lazy && record->slot == slot;
}

int clua_readlazy(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                  int key) {
  luaL_checkstack(L, 16, NULL);
  clua_slot *slot = record->slot;
  if (record->flags & CLUA_LAZY_UNCACHED) {
    lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
    lua_pushvalue(L, key);
    lua_rawget(L, -2);
    lua_rawgeti(L, -1, GETTER);
    lua_pushvalue(L, table);
    lua_pushvalue(L, key);
    lua_callk(L, 2, 1, 0, called);
    return called(L, LUA_OK, 0);
  }
  clua_shared *shared = node->shared;
  if (!slot || !shared->observation.compute) return 0;
  if (!slot->valid && shared->getter == L && lua_isyieldable(L)) {
    // The getter of another one is running: the engine brings this one up to date and comes back.
    shared->waits = slot;
    return lua_yieldk(L, 0, 0, resumed);
  }
  int top = lua_gettop(L), cell = top + 1;
  if (!slot->valid) {
    find_cell(L, node, userdata, key);
    if (!shared->observation.compute(shared->observation.context, L, slot)) return lua_error(L);
    lua_settop(L, top);
    // The getter may have taken the declaration back.
    if (!slot_is_of(L, node, userdata, key, slot)) return 0;
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  lua_pushvalue(L, key);
  lua_rawget(L, cell);
  lua_replace(L, cell);
  push_kept(L, cell, UP_VALUE);
  set_stored(L, cell, cell + 1);
  lua_replace(L, cell);
  return hand_out(L, cell);
}

int clua_lazycompute(lua_State *L) {
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  clua_record *record = node ? clua_record_of(L, node, 4, 2) : NULL;
  if (!record || !record->lazy) return 0;
  return clua_readlazy(L, node, record, 1, 4, 2);
}

/* `__index` of a store with lazy keys, or below a function of a host. Upvalue: the node's userdata. */
static int store_index(lua_State *L) {
  lua_settop(L, 2);
  int userdata = lua_upvalueindex(1);
  clua_node *node = (clua_node *)lua_touserdata(L, userdata);
  if (node->lazies) {
    clua_record *record = clua_record_of(L, node, userdata, 2);
    if (record && record->lazy) {
      clua_node_pushtable(L, node);
      lua_replace(L, 1);
      if (lua_isnil(L, 1)) return 0;
      return clua_readlazy(L, node, record, 1, userdata, 2);
    }
  }
  return clua_indexbehind(L, node, userdata);
}

/* Goes on where neither the table nor its store has the key: (anything, key). [-0, +any, e] */
int clua_indexbehind(lua_State *L, clua_node *node, int userdata) {
  switch (clua_pushfield(L, userdata, "__index")) {
  case LUA_TNIL:
    return 1;
  case LUA_TFUNCTION:
    if (clua_pushmethod(L)) {
      if (lua_type(L, -1) != LUA_TTABLE) return 1;
      break;
    }
    clua_node_pushtable(L, node);
    lua_pushvalue(L, 2);
    lua_callk(L, 2, 1, 0, called);
    break;
  default:
    lua_pushvalue(L, 2);
    lua_gettable(L, -2);
  }
  return called(L, LUA_OK, 0);
}

bool clua_pushlazy(lua_State *L, int table, int key) {
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return false;
  clua_record *record = node->lazies ? clua_record_of(L, node, lua_gettop(L), key) : NULL;
  lua_pop(L, 2);
  if (!record || !record->lazy) return false;
  lua_pushcfunction(L, clua_lazycompute);
  lua_pushvalue(L, table);
  return true;
}

int clua_lazyinherited(lua_State *L) {
  lua_settop(L, 2);
  if (!clua_getmetatable(L, 1)) return 0;
  lua_pushliteral(L, "__index");
  switch (lua_rawget(L, 3)) {
  case LUA_TNIL:
    return 0;
  case LUA_TFUNCTION:
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
  default:
    lua_pushvalue(L, 2);
    lua_gettable(L, -2);
    return 1;
  }
}

/* ---- Assigning -------------------------------------------------------------------------------- */

/* [-0, +0, e] */
static void write_through(lua_State *L, int userdata, int key, int value) {
  int top = lua_gettop(L), cell = top + 2;
  luaL_checkstack(L, 12, NULL);
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
  lua_pushvalue(L, key);
  lua_rawget(L, top + 1);
  lua_rawgeti(L, cell, DECLARATION);
  lua_getfield(L, -1, "write");
  lua_rawgeti(L, cell, TABLE);
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_call(L, 3, 0);
  lua_settop(L, top);
}

void clua_assignlazy(lua_State *L, clua_node *node, clua_record *record, int userdata, int key,
                     int value) {
  if (record->flags & CLUA_LAZY_WRITTEN) {
    write_through(L, userdata, key, value);
    return;
  }
  if (record->flags & (CLUA_LAZY_READONLY | CLUA_LAZY_UNCACHED) && !record->loading) {
    const char *why = record->flags & CLUA_LAZY_READONLY ? "is read-only" : "keeps no value (cached = false)";
    lua_pushvalue(L, key);
    if (lua_type(L, -1) == LUA_TSTRING) luaL_error(L, "'%s' %s", lua_tostring(L, -1), why);
    luaL_error(L, "the key %s", why);
  }
  clua_shared *shared = node->shared;
  if (record->loading || !record->slot || !shared->observation.assign) {
    lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_pushvalue(L, value);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return;
  }
  bool armed = (record->flags & CLUA_LAZY_ARMED) && lua_isnil(L, value);
  clua_slot *slot = record->slot;
  // What is there already is replaced when it is read next.
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushvalue(L, key);
  lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  lua_pushvalue(L, value);
  shared->observation.assign(shared->observation.context, L, slot, armed);
}

/* ---- Declaring -------------------------------------------------------------------------------- */

void clua_setstoremetatable(lua_State *L, clua_node *node, int userdata, int store) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  if (node->lazies || node->nativeindex) {
    lua_getiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
    // A weak table has a weak store.
    lua_pushstring(L, clua_events[CLUA_EVENT_MODE]);
    clua_pushfield(L, userdata, clua_events[CLUA_EVENT_MODE]);
    lua_rawset(L, -3);
  }
  clua_setunmarked(L, store);
  lua_settop(L, top);
}

void clua_makestoremetatable(lua_State *L, int userdata) {
  if (lua_getiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE) == LUA_TTABLE) {
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  lua_createtable(L, 0, 2);
  lua_pushstring(L, clua_events[CLUA_EVENT_MODE]);
  lua_pushboolean(L, false);
  lua_rawset(L, -3);
  lua_pushliteral(L, "__index");
  lua_pushvalue(L, userdata);
  lua_pushcclosure(L, store_index, 1);
  lua_rawset(L, -3);
  lua_setiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
}

void clua_storereplaced(lua_State *L, clua_node *node, int userdata, int store) {
  if (!node->lazies || lua_getiuservalue(L, userdata, CLUA_NODE_LAZY) != LUA_TTABLE) return;
  int cells = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, cells)) {
    lua_pushvalue(L, store);
    lua_rawseti(L, -2, STORE);
    lua_rawgeti(L, -1, EVALUATOR);
    lua_pushvalue(L, store);
    lua_setupvalue(L, -2, UP_STORE);
    lua_rawgeti(L, -2, NUMBER);
    lua_rawgeti(L, LUA_REGISTRYINDEX, node->shared->cells);
    lua_pushvalue(L, store);
    lua_rawseti(L, -2, lua_tointeger(L, -3) * CELL_PARTS + CELL_STORE);
    lua_settop(L, cells + 1);
  }
  lua_settop(L, cells - 1);
}

void clua_node_lazy(lua_State *L, clua_node *node, int key, int getter, int declaration, int flags,
                    lua_Integer number) {
  key = lua_absindex(L, key);
  getter = lua_absindex(L, getter);
  declaration = lua_absindex(L, declaration);
  int top = lua_gettop(L), table = top + 1, userdata = top + 3;
  luaL_checkstack(L, 24, NULL);
  if (clua_isstorefixed(node)) luaL_error(L, "arrays and sets have no lazy fields");
  if (!clua_pushnode(L, node)) return;
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (!record) luaL_error(L, "the key has no slot");
  // All that takes memory first: where that runs out nothing is declared.
  clua_makestoremetatable(L, userdata);
  if (lua_getiuservalue(L, userdata, CLUA_NODE_LAZY) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
  }
  int cells = top + 4, cell = top + 5, store = top + 6;
  lua_createtable(L, NUMBER, 0);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushboolean(L, false);
  for (int i = 1; i <= NUMBER; i++) {
    lua_pushvalue(L, -1);
    lua_rawseti(L, cell, i);
  }
  lua_pop(L, 1);
  const int fields[] = {GETTER, STORE, KEY, TABLE, DECLARATION};
  const int values[] = {getter, store, key, table, declaration};
  for (int i = 0; i < 5; i++) {
    lua_pushvalue(L, values[i]);
    lua_rawseti(L, cell, fields[i]);
  }
  lua_pushinteger(L, flags);
  lua_rawseti(L, cell, FLAGS);
  lua_pushinteger(L, number);
  lua_rawseti(L, cell, NUMBER);
  clua_pushshared(L, CLUA_SHARED_EVALUATORS);
  lua_pushvalue(L, getter);
  lua_pushvalue(L, table);
  lua_pushvalue(L, key);
  lua_pushvalue(L, store);
  lua_call(L, 4, 1);
  lua_rawseti(L, cell, EVALUATOR);
  lua_pushvalue(L, key);
  lua_rawget(L, store);
  keep(L, cell, UP_VALUE);
  list_cell(L, cell, number);
  lua_pushvalue(L, key);
  lua_pushvalue(L, cell);
  lua_rawset(L, cells);
  if (!record->lazy) node->lazies++;
  record->lazy = true;
  record->flags = (uint8_t)flags;
  record->loading = false;
  clua_setstoremetatable(L, node, userdata, store);
  lua_pushvalue(L, key);
  lua_pushnil(L);
  lua_rawset(L, store);
  lua_settop(L, top);
}

void clua_node_unlazy(lua_State *L, clua_node *node, int key) {
  key = lua_absindex(L, key);
  int top = lua_gettop(L), userdata = top + 3;
  if (!clua_pushnode(L, node)) return;
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (record && record->lazy) {
    record->lazy = false;
    node->lazies--;
    lua_getiuservalue(L, userdata, CLUA_NODE_LAZY);
    lua_pushvalue(L, key);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_pushnil(L);
    lua_rawset(L, -3);
    clua_setstoremetatable(L, node, userdata, lua_gettop(L));
  }
  lua_settop(L, top);
}

bool clua_node_islazy(lua_State *L, clua_node *node, int key) {
  if (node->lazies == 0) return false;
  key = lua_absindex(L, key);
  int top = lua_gettop(L);
  if (!clua_pushnode(L, node)) return false;
  clua_record *record = clua_record_of(L, node, top + 3, key);
  lua_settop(L, top);
  return record && record->lazy;
}
