#include "clua_errors.h"
#include "observed_cells.h"

/* ---- Cells ------------------------------------------------------------------------------------ */

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
    "      object = false\n"
    "      if mode == 3 then base = value\n"
    "      elseif mode == 2 and (rawequal(new, base) or new ~= new and base ~= base) then\n"
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

/* As `rawequal`, whatever libraries are open. */
static int raw_equal(lua_State *L) {
  lua_pushboolean(L, lua_rawequal(L, 1, 2));
  return 1;
}

void clua_install_lazy(lua_State *L, int shared) {
  if (luaL_loadbufferx(L, evaluator_source, sizeof evaluator_source - 1, "=(lazy)", "t") != LUA_OK) {
    lua_error(L);
  }
  lua_pushcfunction(L, raw_equal);
  lua_call(L, 1, 1);
  lua_setiuservalue(L, shared, CLUA_SHARED_EVALUATORS);
}

bool clua_pushcell(lua_State *L, lua_Integer number) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->cells);
  bool found = lua_rawgeti(L, -1, number * CELL_PARTS + CELL) == LUA_TTABLE;
  lua_remove(L, -2);
  return found;
}

void clua_retirecell(lua_State *L, int cell) {
  static const int fields[] = {STORE, KEY};
  static const int upvalues[] = {UP_STORE, UP_KEY};
  for (int i = 0; i < 2; i++) {
    if (fields[i] == STORE) lua_pushvalue(L, cell);
    else lua_pushinteger(L, FAILURE);
    lua_pushvalue(L, -1);
    clua_keep(L, cell, upvalues[i]);
    lua_rawseti(L, cell, fields[i]);
  }
}

int clua_lazy_cells(lua_State *L) { return clua_shared_of(L)->cells; }

void clua_listcell(lua_State *L, int cell, lua_Integer number) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->cells);
  static const int fields[CELL_PARTS] = {EVALUATOR, 0, STORE, KEY};
  for (int i = 0; i < CELL_PARTS; i++) {
    if (fields[i]) lua_rawgeti(L, cell, fields[i]);
    else lua_pushvalue(L, cell);
    lua_rawseti(L, -2, number * CELL_PARTS + i);
  }
  lua_pop(L, 1);
}

void clua_pushkept(lua_State *L, int cell, int upvalue) {
  lua_rawgeti(L, cell, EVALUATOR);
  lua_getupvalue(L, -1, upvalue);
  lua_replace(L, -2);
}

void clua_keep(lua_State *L, int cell, int upvalue) {
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

int clua_cellflags(lua_State *L, int cell) {
  lua_rawgeti(L, cell, FLAGS);
  int flags = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return flags;
}

void clua_setstored(lua_State *L, int cell, int value) {
  lua_rawgeti(L, cell, STORE);
  lua_rawgeti(L, cell, KEY);
  if (value) lua_pushvalue(L, value);
  else lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

clua_computation clua_take(lua_State *L, int cell, int compare) {
  int value = lua_gettop(L);
  clua_computation result = CLUA_COMPUTED_CHANGED;
  clua_pushkept(L, cell, UP_VALUE);
  if ((compare & CLUA_COMPARE_KNOWN) && clua_same(L, value + 1, value)) {
    result = CLUA_COMPUTED_SAME;
  } else {
    if (compare & CLUA_COMPARE_BASED) {
      clua_pushkept(L, cell, UP_BASE);
      if (clua_same(L, value + 2, value)) result = CLUA_COMPUTED_RESTORED;
      lua_pop(L, 1);
    } else if (compare & CLUA_COMPARE_KEEP) {
      lua_pushvalue(L, value + 1);
      clua_keep(L, cell, UP_BASE);
    }
    lua_pushvalue(L, value);
    clua_keep(L, cell, UP_VALUE);
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
      clua_keep(L, top + 3, UP_VALUE);
    }
  }
  lua_settop(L, top);
}

static void push_field(lua_State *L, lua_Integer number, int field) {
  if (!clua_pushcell(L, number)) return;
  lua_rawgeti(L, -1, field);
  lua_remove(L, -2);
}

void clua_lazy_pushdeclaration(lua_State *L, lua_Integer number) {
  push_field(L, number, DECLARATION);
}

void clua_lazy_pushvalue(lua_State *L, lua_Integer number, bool base) {
  if (!clua_pushcell(L, number)) return;
  clua_pushkept(L, lua_gettop(L), base ? UP_BASE : UP_VALUE);
  lua_remove(L, -2);
}

clua_computation clua_lazy_assign(lua_State *L, lua_Integer number, int compare) {
  int value = lua_gettop(L);
  clua_computation result = CLUA_COMPUTED_SAME;
  if (clua_pushcell(L, number)) {
    lua_insert(L, value);
    result = clua_take(L, value, compare);
  }
  lua_settop(L, value - 1);
  return result;
}

/* ---- Errors ----------------------------------------------------------------------------------- */

void clua_keeperror(lua_State *L, int cell) {
  lua_rawseti(L, cell, FAILURE);
  bool swift;
  clua_pushtraceback(L, &swift);
  lua_rawseti(L, cell, TRACE);
}

void clua_lazy_fail(lua_State *L, lua_Integer number) {
  int error = lua_gettop(L);
  if (clua_pushcell(L, number)) {
    lua_insert(L, error);
    clua_keeperror(L, error);
  }
  lua_settop(L, error - 1);
}

void clua_lazy_pusherror(lua_State *L, lua_Integer number) {
  int top = lua_gettop(L);
  if (!clua_pushcell(L, number)) return;
  lua_rawgeti(L, top + 1, FAILURE);
  lua_rawgeti(L, top + 1, TRACE);
  clua_leavetraceback(L);
  lua_replace(L, top + 1);
}

void clua_lazy_forgeterror(lua_State *L, lua_Integer number) {
  int top = lua_gettop(L);
  if (clua_pushcell(L, number)) {
    lua_pushnil(L);
    lua_rawseti(L, top + 1, FAILURE);
    lua_pushnil(L);
    lua_rawseti(L, top + 1, TRACE);
  }
  lua_settop(L, top);
}
