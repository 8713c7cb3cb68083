#include "lists.h"
#include "clua_modules.h"

#include "clua_guard.h"

/* Whether the value at `a` belongs before the value at `b`. [-0, +0, e] */
static bool is_less(lua_State *L, int a, int b) {
  a = lua_absindex(L, a);
  b = lua_absindex(L, b);
  clua_poll(L);
  if (lua_isnil(L, 2)) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, a);
  lua_pushvalue(L, b);
  lua_call(L, 2, 1);
  bool less = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return less;
}

/* Pops two values into store[i] (the top) and store[j]. [-2, +0, -] */
static void put(lua_State *L, int store, lua_Unsigned i, lua_Unsigned j) {
  lua_rawseti(L, store, (lua_Integer)i);
  lua_rawseti(L, store, (lua_Integer)j);
}

/* Partitions low…up around the pivot on top, which is also at up - 1, and pops it. Raises if the
   comparison contradicts itself. [-1, +0, e] */
static lua_Unsigned partition(lua_State *L, int store, lua_Unsigned low, lua_Unsigned up) {
  lua_Unsigned i = low, j = up - 1;
  for (;;) {
    while (lua_rawgeti(L, store, (lua_Integer)++i), is_less(L, -1, -2)) {
      if (i == up - 1) luaL_error(L, "invalid order function for sorting");
      lua_pop(L, 1);
    }
    while (lua_rawgeti(L, store, (lua_Integer)--j), is_less(L, -3, -1)) {
      if (j < i) luaL_error(L, "invalid order function for sorting");
      lua_pop(L, 1);
    }
    if (j < i) {
      lua_pop(L, 1);
      put(L, store, up - 1, i);
      return i;
    }
    put(L, store, i, j);
  }
}

/* The quicksort of Lua's library, with the same comparisons in the same order: a comparison with
   side effects sees no difference. The library's function is not used, because its errors would
   name neither the function nor the place of the call. [-0, +0, e] */
static void sort(lua_State *L, int store, lua_Unsigned low, lua_Unsigned up, unsigned random) {
  while (low < up) {
    lua_rawgeti(L, store, (lua_Integer)low);
    lua_rawgeti(L, store, (lua_Integer)up);
    if (is_less(L, -1, -2)) put(L, store, low, up);
    else lua_pop(L, 2);
    if (up - low == 1) return;
    lua_Unsigned quarter = (up - low) / 4;
    lua_Unsigned middle = (low + up) / 2;
    if (up - low >= 100 && random) middle = random % (quarter * 2) + low + quarter;
    lua_rawgeti(L, store, (lua_Integer)middle);
    lua_rawgeti(L, store, (lua_Integer)low);
    if (is_less(L, -2, -1)) {
      put(L, store, middle, low);
    } else {
      lua_pop(L, 1);
      lua_rawgeti(L, store, (lua_Integer)up);
      if (is_less(L, -1, -2)) put(L, store, middle, up);
      else lua_pop(L, 2);
    }
    if (up - low == 2) return;
    lua_rawgeti(L, store, (lua_Integer)middle);
    lua_pushvalue(L, -1);
    lua_rawgeti(L, store, (lua_Integer)up - 1);
    put(L, store, middle, up - 1);
    lua_Unsigned pivot = partition(L, store, low, up);
    // The smaller half is sorted first, which limits the C stack.
    lua_Unsigned smaller;
    if (pivot - low < up - pivot) {
      sort(L, store, low, pivot - 1, random);
      smaller = pivot - low;
      low = pivot + 1;
    } else {
      sort(L, store, pivot + 1, up, random);
      smaller = up - pivot;
      up = pivot - 1;
    }
    // After very unequal halves another pivot is used, so that no list is slow throughout.
    if ((up - low) / 128 > smaller) random = random * 1664525u + 1013904223u;
  }
}

void clua_sortlist(lua_State *L, int list, lua_Unsigned length) {
  clua_checkstack(L, 40, "");
  if (length > 1) sort(L, list, 1, length, 0);
}

/* ---- table.sort ----------------------------------------------------------------------------- */

typedef struct sorting {
  clua_node *node;
  lua_Integer length;
  bool copied;  // a copy is sorted: the list has not changed yet
} sorting;

/* Ends a sort, even if it raised: reports the change of the list. User values of the guard: table,
   store, copy of the list. */
static int end_sort(lua_State *L) {
  sorting *state = (sorting *)lua_touserdata(L, 1);
  clua_node *node = state->node;
  if (!node) return 0;
  state->node = NULL;
  if (state->copied) {
    node->access = CLUA_ACCESS_OPEN;
    return 0;
  }
  node->sorts--;
  bool disturbed = node->disturbed;
  if (node->sorts == 0) node->disturbed = false;
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, 1, 2);
  lua_getiuservalue(L, 1, 3);
  lua_Integer length = state->length, now = length;
  if (disturbed) now = clua_listlength(L, node, 3);
  clua_edit edit = {
    .kind = CLUA_EDIT_WHOLE, .count = length, .length = length, .list = 4,
    .permutation = !disturbed, .low = 1, .high = now > length ? now : length,
  };
  clua_reportedit(L, node, 2, 3, &edit);
  return 0;
}

void clua_pushsortguard(lua_State *L, clua_node *node) {
  sorting *state = (sorting *)lua_newuserdatauv(L, sizeof *state, 0);
  *state = (sorting){.node = node, .copied = true};
  clua_pushshared(L, CLUA_SHARED_GUARD);
  lua_setmetatable(L, -2);
}

int clua_tablesort(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (clua_isunheard()) clua_hear(L);
  clua_node *node = shared->active ? clua_listat(L, shared, 1) : NULL;
  if (!node) return shared->sort(L);
  clua_absorblist(L, 1);
  if (node->kind == CLUA_KIND_ARRAY) {
    lua_pop(L, 1);
    return clua_arraysort(L);
  }
  clua_checkaccess(L, node);
  int store = lua_gettop(L);
  lua_Unsigned length = (lua_Unsigned)clua_listlength(L, node, store);
  if (length < 2) return 0;
  luaL_argcheck(L, length < INT32_MAX, 1, "array too big");
  if (store > 2 && !lua_isnil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  if (store == 2) {
    lua_pushnil(L);
    lua_insert(L, 2);
    store = 3;
  }
  clua_checkstack(L, 40, "");
  int guard = store + 1;
  sorting *state = (sorting *)lua_newuserdatauv(L, sizeof *state, 3);
  *state = (sorting){.node = node, .length = (lua_Integer)length};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, guard, 1);
  lua_pushvalue(L, store);
  lua_setiuservalue(L, guard, 2);
  // The list is copied even if nothing is observed: a comparison may register a watcher.
  clua_copyrange(L, store, 1, (lua_Integer)length);
  lua_setiuservalue(L, guard, 3);
  clua_pushshared(L, CLUA_SHARED_GUARD);
  lua_setmetatable(L, guard);
  clua_announceedit(L, node);
  node->sorts++;
  lua_toclose(L, guard);
  sort(L, store, 1, length, 0);
  lua_closeslot(L, guard);
  return 0;
}

void clua_install_sort(lua_State *L) {
  int top = lua_gettop(L);
  clua_pushstate(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, end_sort);
  lua_setfield(L, -2, "__close");
  lua_setiuservalue(L, -2, CLUA_SHARED_GUARD);
  lua_settop(L, top);
}
