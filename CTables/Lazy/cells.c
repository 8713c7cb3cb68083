#include "cells.h"
#include "clua_errors.h"

#include <string.h>

/* ---- Cells ----------------------------------------------------------------------------------- */

bool clua_pushcell(lua_State *L, lua_Integer number) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, clua_shared_of(L)->cells);
  bool found = lua_rawgeti(L, -1, number) == LUA_TTABLE;
  lua_replace(L, -2);
  return found;
}

static lua_Integer number_of(lua_State *L, int cell) {
  lua_rawgeti(L, cell, NUMBER);
  lua_Integer number = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return number;
}

void clua_retirecell(lua_State *L, int cell) {
  clua_shared_of(L)->values[number_of(L, cell)].declaration++;
  // A getter that is still running ends by storing its value in STORE at KEY. From now on these
  // designate the field FAILURE of the cell itself, which is unused once the declaration is
  // removed: the value is dropped, and the table does not change.
  const lua_Integer fields[] = {KEY, NUMBER}, values[] = {FAILURE, 0};
  for (int i = 0; i < 2; i++) {
    lua_pushinteger(L, values[i]);
    lua_rawseti(L, cell, fields[i]);
  }
  lua_pushvalue(L, cell);
  lua_rawseti(L, cell, STORE);
}

clua_shared *clua_lazy_shared(lua_State *L) { return clua_shared_of(L); }

/* Makes room for the values of a lazy key. [-0, +0, m] */
static void reserve_values(lua_State *L, clua_shared *shared, lua_Integer number) {
  if (number < shared->capacity) return;
  lua_Integer capacity = number < 16 ? 32 : number * 2;
  clua_pushstate(L);
  struct clua_lazyvalues *values = lua_newuserdatauv(L, (size_t)capacity * sizeof *values, 0);
  memset(values, 0, (size_t)capacity * sizeof *values);
  if (shared->capacity) memcpy(values, shared->values, (size_t)shared->capacity * sizeof *values);
  lua_setiuservalue(L, -2, CLUA_SHARED_LAZYVALUES);
  lua_pop(L, 1);
  shared->values = values;
  shared->capacity = capacity;
}

void clua_listcell(lua_State *L, int cell, lua_Integer number) {
  clua_shared *shared = clua_shared_of(L);
  reserve_values(L, shared, number);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->cells);
  lua_pushvalue(L, cell);
  lua_rawseti(L, -2, number);
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

/* ---- Values ---------------------------------------------------------------------------------- */

/* The kept form of the value at `value`. [-0, +0, -] */
static clua_kept kept(lua_State *L, int value) {
  clua_kept kept = {.kind = KEPT_IN_CELL};
  switch (lua_type(L, value)) {
  case LUA_TNIL:
    kept.kind = KEPT_NIL;
    break;
  case LUA_TBOOLEAN:
    kept.kind = lua_toboolean(L, value) ? KEPT_TRUE : KEPT_FALSE;
    break;
  case LUA_TNUMBER:
    if (lua_isinteger(L, value)) {
      kept.kind = KEPT_INTEGER;
      kept.integer = lua_tointeger(L, value);
    } else {
      kept.kind = KEPT_NUMBER;
      kept.number = lua_tonumber(L, value);
    }
  }
  return kept;
}

static bool are_equal(lua_Integer integer, lua_Number number) {
  lua_Integer truncated;
  return lua_numbertointeger(number, &truncated) && (lua_Number)truncated == number
      && truncated == integer;
}

/* Compares like Lua's `==`, but NaN is the same as NaN (T5), and no metamethod is called. `old` may
   be in the field `field` of the cell at `cell`; the new value is at `value`. [-0, +0, -] */
static bool is_same(lua_State *L, clua_kept old, clua_kept new, int value, int cell, int field) {
  if (old.kind != new.kind) {
    if (old.kind == KEPT_INTEGER && new.kind == KEPT_NUMBER)
      return are_equal(old.integer, new.number);
    if (old.kind == KEPT_NUMBER && new.kind == KEPT_INTEGER)
      return are_equal(new.integer, old.number);
    return false;
  }
  switch (old.kind) {
  case KEPT_INTEGER:
    return old.integer == new.integer;
  case KEPT_NUMBER:
    return old.number == new.number || (old.number != old.number && new.number != new.number);
  case KEPT_IN_CELL:
    lua_rawgeti(L, cell, field);
    bool same = lua_rawequal(L, -1, value);
    lua_pop(L, 1);
    return same;
  default:
    return true;
  }
}

/* Keeps the value at `value`. [-0, +0, -] */
static void set_value(lua_State *L, struct clua_lazyvalues *values, clua_kept new, int value,
                      int cell) {
  if (new.kind == KEPT_IN_CELL) {
    lua_pushvalue(L, value);
    lua_rawseti(L, cell, VALUE);
  } else if (values->value.kind == KEPT_IN_CELL) {
    lua_pushboolean(L, false);
    lua_rawseti(L, cell, VALUE);
  }
  values->value = new;
}

clua_computation clua_compare(lua_State *L, clua_shared *shared, lua_Integer number, int value,
                              int cell, int compare) {
  struct clua_lazyvalues *values = shared->values + number;
  clua_kept new = kept(L, value);
  clua_computation result = CLUA_COMPUTED_CHANGED;
  if (compare & CLUA_COMPARE_KNOWN) {
    if (is_same(L, values->value, new, value, cell, VALUE)) return CLUA_COMPUTED_SAME;
    if (compare & CLUA_COMPARE_BASED) {
      if (is_same(L, values->base, new, value, cell, BASE)) result = CLUA_COMPUTED_RESTORED;
    } else if (compare & CLUA_COMPARE_KEEP) {
      if (values->value.kind == KEPT_IN_CELL) lua_rawgeti(L, cell, VALUE);
      else lua_pushboolean(L, false);
      if (values->value.kind == KEPT_IN_CELL || values->base.kind == KEPT_IN_CELL) {
        lua_rawseti(L, cell, BASE);
      } else {
        lua_pop(L, 1);
      }
      values->base = values->value;
    }
  }
  set_value(L, values, new, value, cell);
  return result;
}

/* Pushes a kept value, which may be in the field `field` of its cell. [-0, +1, -] */
static void push_kept(lua_State *L, clua_kept kept, int cell, int field) {
  switch (kept.kind) {
  case KEPT_NIL:
    lua_pushnil(L);
    break;
  case KEPT_FALSE:
  case KEPT_TRUE:
    lua_pushboolean(L, kept.kind == KEPT_TRUE);
    break;
  case KEPT_INTEGER:
    lua_pushinteger(L, kept.integer);
    break;
  case KEPT_NUMBER:
    lua_pushnumber(L, kept.number);
    break;
  case KEPT_IN_CELL:
    lua_rawgeti(L, cell, field);
  }
}

void clua_pushkept(lua_State *L, int cell, bool base) {
  const struct clua_lazyvalues *values = clua_shared_of(L)->values + number_of(L, cell);
  push_kept(L, base ? values->base : values->value, cell, base ? BASE : VALUE);
}

void clua_keep(lua_State *L, struct clua_lazyvalues *values, int cell) {
  int value = lua_gettop(L);
  set_value(L, values, kept(L, value), value, cell);
  lua_pop(L, 1);
}

clua_computation clua_take(lua_State *L, int cell, int compare) {
  clua_computation result =
      clua_compare(L, clua_shared_of(L), number_of(L, cell), lua_gettop(L), cell, compare);
  lua_pop(L, 1);
  return result;
}

void clua_lazy_drop(lua_State *L, clua_shared *shared, lua_Integer number, bool kept) {
  int cell = lua_gettop(L) + 2;
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->cells);
  if (lua_rawgeti(L, cell - 1, number) == LUA_TTABLE) {
    lua_rawgeti(L, cell, STORE);
    lua_rawgeti(L, cell, KEY);
    lua_pushnil(L);
    lua_rawset(L, cell + 1);
    if (!kept) {
      struct clua_lazyvalues *values = shared->values + number;
      if (values->value.kind == KEPT_IN_CELL) {
        lua_pushboolean(L, false);
        lua_rawseti(L, cell, VALUE);
      }
      values->value.kind = KEPT_NIL;
    }
  }
  lua_settop(L, cell - 2);
}

void clua_lazy_forgetbase(lua_State *L, clua_shared *shared, lua_Integer number) {
  struct clua_lazyvalues *values = shared->values + number;
  if (values->base.kind != KEPT_IN_CELL) return;
  values->base.kind = KEPT_NIL;
  if (clua_pushcell(L, number)) {
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, BASE);
  }
  lua_pop(L, 1);
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
  clua_pushkept(L, lua_gettop(L), base);
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

/* ---- Errors ---------------------------------------------------------------------------------- */

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

void clua_lazy_pusherror(lua_State *L, lua_Integer number, bool raised) {
  int top = lua_gettop(L);
  if (!clua_pushcell(L, number)) return;
  lua_rawgeti(L, top + 1, FAILURE);
  lua_rawgeti(L, top + 1, TRACE);
  if (raised) {
    clua_leaveinner(L, top + 2, top + 3);
    clua_shared_of(L)->raised = true;
  }
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
