#include "sandbox.h"

#include <limits.h>

/* The functions of `table` that loop over a range. A script can make the range as large as it
   likes, by arguments or by the `__len` of a metatable. */

/* ---- Valid lists ----------------------------------------------------------------------------- */

enum { READ = 1, WRITE = 2, LENGTH = 4 };

/* Checks that the argument is a table, or has the metamethods for this use. */
static void check_list(lua_State *L, int argument, int use) {
  static const char *const events[] = {"__index", "__newindex", "__len"};
  if (lua_type(L, argument) == LUA_TTABLE) return;
  bool has_all = lua_getmetatable(L, argument);
  int metatable = lua_gettop(L);
  for (int i = 0; i < 3 && has_all; i++) {
    if (!(use & 1 << i)) continue;
    lua_pushstring(L, events[i]);
    has_all = lua_rawget(L, metatable) != LUA_TNIL;
  }
  if (!has_all) luaL_checktype(L, argument, LUA_TTABLE);
  lua_settop(L, metatable - 1);
}

static lua_Integer length_of(lua_State *L, int argument, int use) {
  check_list(L, argument, use | LENGTH);
  return luaL_len(L, argument);
}

/* ---- insert, remove, move -------------------------------------------------------------------- */

static int table_insert(lua_State *L) {
  clua_steps steps = {L, 0};
  lua_Integer end = (lua_Integer)((lua_Unsigned)length_of(L, 1, READ | WRITE) + 1), position = end;
  switch (lua_gettop(L)) {
    case 2: break;
    case 3:
      position = luaL_checkinteger(L, 2);
      luaL_argcheck(L, (lua_Unsigned)position - 1u < (lua_Unsigned)end, 2,
                    "position out of bounds");
      for (lua_Integer i = end; i > position; i--) {
        clua_step(&steps);
        lua_geti(L, 1, i - 1);
        lua_seti(L, 1, i);
      }
      break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_seti(L, 1, position);
  return 0;
}

static int table_remove(lua_State *L) {
  clua_steps steps = {L, 0};
  lua_Integer length = length_of(L, 1, READ | WRITE), position = luaL_optinteger(L, 2, length);
  if (position != length) {
    luaL_argcheck(L, (lua_Unsigned)position - 1u <= (lua_Unsigned)length, 1,
                  "position out of bounds");
  }
  lua_geti(L, 1, position);
  for (; position < length; position++) {
    clua_step(&steps);
    lua_geti(L, 1, position + 1);
    lua_seti(L, 1, position);
  }
  lua_pushnil(L);
  lua_seti(L, 1, position);
  return 1;
}

static int table_move(lua_State *L) {
  clua_steps steps = {L, 0};
  lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
  lua_Integer target = luaL_checkinteger(L, 4);
  int to = lua_isnoneornil(L, 5) ? 1 : 5;
  check_list(L, 1, READ);
  check_list(L, to, WRITE);
  if (last >= first) {
    luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
    lua_Integer count = last - first + 1;
    luaL_argcheck(L, target <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
    // A range that moves up within itself is copied from its end.
    bool overlaps =
        target > first && target <= last && (to == 1 || lua_compare(L, 1, to, LUA_OPEQ));
    for (lua_Integer i = 0; i < count; i++) {
      lua_Integer offset = overlaps ? count - 1 - i : i;
      clua_step(&steps);
      lua_geti(L, 1, first + offset);
      lua_seti(L, to, target + offset);
    }
  }
  lua_pushvalue(L, to);
  return 1;
}

/* ---- concat and unpack ----------------------------------------------------------------------- */

static void add_element(lua_State *L, luaL_Buffer *b, lua_Integer i) {
  lua_geti(L, 1, i);
  if (!lua_isstring(L, -1)) {
    luaL_error(L, "invalid value (%s) at index %I in table for 'concat'", luaL_typename(L, -1),
               (LUAI_UACINT)i);
  }
  luaL_addvalue(b);
}

static int table_concat(lua_State *L) {
  clua_steps steps = {L, 0};
  lua_Integer last = length_of(L, 1, READ);
  size_t length;
  const char *separator = luaL_optlstring(L, 2, "", &length);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  last = luaL_optinteger(L, 4, last);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (; i < last; i++) {
    clua_step(&steps);
    add_element(L, &b, i);
    luaL_addlstring(&b, separator, length);
  }
  if (i == last) add_element(L, &b, i);
  luaL_pushresult(&b);
  return 1;
}

static int table_unpack(lua_State *L) {
  clua_steps steps = {L, 0};
  lua_Integer first = luaL_optinteger(L, 2, 1);
  lua_Integer last = luaL_opt(L, luaL_checkinteger, 3, luaL_len(L, 1));
  if (first > last) return 0;
  lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)first;
  if (count >= (unsigned)INT_MAX || !lua_checkstack(L, (int)(++count)))
    return luaL_error(L, "too many results to unpack");
  for (; first < last; first++) {
    clua_step(&steps);
    lua_geti(L, 1, first);
  }
  lua_geti(L, 1, last);
  return (int)count;
}

/* ---- sort ------------------------------------------------------------------------------------ */

/* Sorts by partition. Elements are referenced only by indices on the C stack, so a comparison that
   contradicts itself cannot lead outside of the list. The larger of two parts is sorted in the
   loop, so that calls are nested O(log n) deep. */

typedef struct sorting {
  clua_steps steps;
  bool has_function;
} sorting;

/* Whether the value at `a` belongs before the value at `b`; both are negative indices. */
static bool is_less(sorting *sort, int a, int b) {
  lua_State *L = sort->steps.L;
  clua_step(&sort->steps);
  if (!sort->has_function) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, a - 1);
  lua_pushvalue(L, b - 2);
  lua_call(L, 2, 1);
  bool result = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return result;
}

/* Pops two values into the list: the top into `i`, the value below into `j`. */
static void set_both(lua_State *L, lua_Unsigned i, lua_Unsigned j) {
  lua_seti(L, 1, (lua_Integer)i);
  lua_seti(L, 1, (lua_Integer)j);
}

/* Puts two elements in order. Returns whether they were out of order. */
static bool order(sorting *sort, lua_Unsigned low, lua_Unsigned high) {
  lua_State *L = sort->steps.L;
  lua_geti(L, 1, (lua_Integer)low);
  lua_geti(L, 1, (lua_Integer)high);
  bool changes = is_less(sort, -1, -2);
  if (changes) set_both(L, low, high);
  else lua_pop(L, 2);
  return changes;
}

/* Partitions low...high. The pivot is the element at high - 1, also on top of the stack; low must
   not come after it nor high before it. Returns the final place of the pivot. [-1, +0, e] */
static lua_Unsigned divide(sorting *sort, lua_Unsigned low, lua_Unsigned high) {
  lua_State *L = sort->steps.L;
  lua_Unsigned i = low, j = high - 1;
  for (;;) {
    while (lua_geti(L, 1, (lua_Integer)++i), is_less(sort, -1, -2)) {
      if (i == high - 1) luaL_error(L, "invalid order function for sorting");
      lua_pop(L, 1);
    }
    while (lua_geti(L, 1, (lua_Integer)--j), is_less(sort, -3, -1)) {
      if (j < i) luaL_error(L, "invalid order function for sorting");
      lua_pop(L, 1);
    }
    if (j < i) {
      lua_pop(L, 1);
      // The pivot replaces the first element that is not before it.
      set_both(L, high - 1, i);
      return i;
    }
    set_both(L, i, j);
  }
}

static void sort_range(sorting *sort, lua_Unsigned low, lua_Unsigned high) {
  lua_State *L = sort->steps.L;
  while (low < high) {
    order(sort, low, high);
    if (high - low == 1) return;
    lua_Unsigned middle = low + (high - low) / 2;
    if (!order(sort, low, middle)) order(sort, middle, high);
    if (high - low == 2) return;
    lua_geti(L, 1, (lua_Integer)middle);
    lua_pushvalue(L, -1);
    lua_geti(L, 1, (lua_Integer)high - 1);
    set_both(L, middle, high - 1);
    lua_Unsigned pivot = divide(sort, low, high);
    clua_checkstack(L, 8, "");
    if (pivot - low < high - pivot) {
      sort_range(sort, low, pivot - 1);
      low = pivot + 1;
    } else {
      sort_range(sort, pivot + 1, high);
      high = pivot - 1;
    }
  }
}

static int table_sort(lua_State *L) {
  lua_Integer length = length_of(L, 1, READ | WRITE);
  if (length > 1) {
    luaL_argcheck(L, length < INT_MAX, 1, "array too big");
    sorting sort = {{L, 0}, !lua_isnoneornil(L, 2)};
    if (sort.has_function) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    sort_range(&sort, 1, (lua_Unsigned)length);
  }
  return 0;
}

void clua_stoppable_tables(lua_State *L, int table) {
  static const luaL_Reg functions[] = {
      {"insert", table_insert}, {"remove", table_remove}, {"move", table_move},
      {"concat", table_concat}, {"unpack", table_unpack}, {"sort", table_sort}, {0}};
  lua_pushvalue(L, table);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
