#include "lists.h"
#include "clua_collections.h"
#include "clua_guard.h"
#include "clua_modules.h"

/* ---- Checks --------------------------------------------------------------------------------- */

/* The node of the array at 1, which is about to change; pushes its store. [-0, +1, v] */
static clua_node *check_array(lua_State *L, int *store) {
  clua_node *node = lua_type(L, 1) == LUA_TTABLE ? clua_pushnodeat(L, 1) : NULL;
  if (!node || node->kind != CLUA_KIND_ARRAY) {
    clua_selferror(L, 1, "obs.Array");
    return NULL;
  }
  if (clua_isunheard()) clua_hear(L);
  clua_absorblist(L, 1);
  lua_getiuservalue(L, -1, CLUA_NODE_STORE);
  lua_replace(L, -3);
  lua_pop(L, 1);
  *store = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  return node;
}

static const char *plural(lua_Integer count) { return count == 1 ? "" : "s"; }

static int raise_range(lua_State *L, lua_Integer index, lua_Integer count, bool append) {
  if (append) {
    return luaL_error(L, "index %I is out of range (the array has %I element%s; %I would append)",
                      (LUAI_UACINT)index, (LUAI_UACINT)count, plural(count),
                      (LUAI_UACINT)(count + 1));
  }
  return luaL_error(L, "index %I is out of range (the array has %I element%s)",
                    (LUAI_UACINT)index, (LUAI_UACINT)count, plural(count));
}

/* Checks a position in the arguments. [-0, +0, v] */
static lua_Integer check_position(lua_State *L, int argument, lua_Integer count, bool append) {
  lua_Integer position = luaL_checkinteger(L, argument);
  if (position < 1 || position > count + append) raise_range(L, position, count, append);
  return position;
}

static void check_value(lua_State *L, int argument) {
  luaL_checkany(L, argument);
  luaL_argcheck(L, !lua_isnil(L, argument), argument, "an array has no place for nil");
}

void clua_checkelement(lua_State *L, clua_node *node, int value) {
  clua_checkaccess(L, node);
  if (value && lua_isnil(L, value)) luaL_error(L, "an array has no place for nil");
}

void clua_checkelements(lua_State *L, clua_node *node, int store, lua_Integer position, int source,
                        lua_Integer first, lua_Integer count) {
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  if (position < 1 || position > length + 1) raise_range(L, position, length, true);
  for (lua_Integer i = first; i - first < count; i++) {
    bool missing = lua_rawgeti(L, source, i) == LUA_TNIL;
    lua_pop(L, 1);
    if (missing) luaL_error(L, "an array has no place for nil");
  }
}

/* ---- Assignment ----------------------------------------------------------------------------- */

lua_Integer clua_arraycheck(lua_State *L, clua_node *node, int userdata, int key, int value) {
  clua_checkaccess(L, node);
  int exact = 0;
  lua_Integer index = 0;
  if (lua_type(L, key) == LUA_TNUMBER) index = lua_tointegerx(L, key, &exact);
  if (!exact) {
    bool spelled = lua_type(L, key) == LUA_TSTRING || lua_type(L, key) == LUA_TNUMBER;
    lua_pushvalue(L, key);
    const char *text = spelled ? lua_tostring(L, -1) : NULL;
    if (lua_type(L, key) == LUA_TSTRING) {
      luaL_error(L, "an array has integer indices, got string '%s'", text);
    }
    luaL_error(L, "an array has integer indices, got %s%s%s", luaL_typename(L, key),
               text ? " " : "", text ? text : "");
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_Integer count = clua_listlength(L, node, lua_gettop(L));
  lua_pop(L, 1);
  if (index < 1 || index > count + 1) raise_range(L, index, count, true);
  if (index < count && lua_isnil(L, value)) {
    luaL_error(L, "nil would leave a hole at %I of %I; use remove", (LUAI_UACINT)index,
               (LUAI_UACINT)count);
  }
  return index > count && lua_isnil(L, value) ? 0 : index;
}

void clua_arrayassign(lua_State *L, clua_node *node, int table, int userdata, int key, int value) {
  lua_Integer index = clua_arraycheck(L, node, userdata, key, value);
  if (!index) return;
  lua_pushinteger(L, index);
  int integer = lua_gettop(L);
  clua_record *record = clua_record_of(L, node, userdata, integer);
  clua_store(L, node, record, table, userdata, integer, value);
  lua_pop(L, 1);
}

int clua_arraynewindex(lua_State *L) {
  int userdata = lua_upvalueindex(1);
  clua_node *node = (clua_node *)lua_touserdata(L, userdata);
  lua_settop(L, 3);
  if (clua_isunheard()) clua_hear(L);
  // Most assignments replace an element that is not watched.
  if (lua_isinteger(L, 2) && !lua_isnil(L, 3) && node->access == CLUA_ACCESS_OPEN) {
    clua_record *record = clua_record_of(L, node, userdata, 2);
    bool present = lua_rawgeti(L, lua_upvalueindex(2), lua_tointeger(L, 2)) != LUA_TNIL;
    lua_pop(L, 1);
    if (present && !clua_iswanted(node, record)) {
      lua_rawseti(L, lua_upvalueindex(2), lua_tointeger(L, 2));
      return 0;
    }
  }
  clua_checkstack(L, 24, NULL);
  clua_arrayassign(L, node, 1, userdata, 2, 3);
  return 0;
}

/* ---- Single elements ------------------------------------------------------------------------ */

/* The most values that are appended at once. Reporting a value takes about a microsecond, so a stop
   waits for 10 ms at most. */
enum { PIECE = 10000 };

static int array_append(lua_State *L) {
  int arguments = lua_gettop(L) - 1, store;
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  for (int i = 0; i < arguments; i++) check_value(L, i + 2);
  for (int done = 0; done < arguments;) {
    if (done > 0) {
      clua_poll(L);
      // An immediate watcher may have closed the array for writes.
      clua_checkaccess(L, node);
    }
    lua_Integer length = clua_listlength(L, node, store);
    int count = arguments - done < PIECE ? arguments - done : PIECE;
    for (int i = 0; i < count; i++) {
      lua_pushvalue(L, done + i + 2);
      lua_rawseti(L, store, length + 1 + i);
    }
    done += count;
    clua_setlength(L, node, store, length + count);
    if (clua_islistheard(node)) {
      clua_edit edit = {
        .kind = CLUA_EDIT_APPEND, .at = length + 1, .count = count, .length = length,
        .low = length + 1, .high = length + count,
      };
      clua_reportedit(L, node, 1, store, &edit);
    }
  }
  return 0;
}

static int array_insert(lua_State *L) {
  int store;
  lua_settop(L, 3);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  lua_Integer position = check_position(L, 2, length, true);
  check_value(L, 3);
  clua_listinsert(L, node, 1, store, length, position, 3);
  return 0;
}

static int array_remove(lua_State *L) {
  int store;
  lua_settop(L, 2);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store), position = length;
  if (!lua_isnil(L, 2)) position = check_position(L, 2, length, false);
  if (position == 0) {
    lua_pushnil(L);
    return 1;
  }
  clua_listremove(L, node, 1, store, length, position);
  return 1;
}

static lua_Integer find(lua_State *L, int store, lua_Integer length, int value) {
  clua_steps steps = {L, 0};
  for (lua_Integer i = 1; i <= length; i++) {
    clua_step(&steps);
    lua_rawgeti(L, store, i);
    bool same = clua_same(L, -1, value);
    lua_pop(L, 1);
    if (same) return i;
  }
  return 0;
}

static int array_index_of(lua_State *L) {
  int store;
  bool is_missing = lua_gettop(L) < 2;
  lua_settop(L, 2);
  clua_node *node = check_array(L, &store);
  luaL_argcheck(L, !is_missing, 2, "value expected");
  lua_Integer position = find(L, store, clua_listlength(L, node, store), 2);
  if (position) {
    lua_pushinteger(L, position);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int array_remove_value(lua_State *L) {
  int store;
  bool is_missing = lua_gettop(L) < 2;
  lua_settop(L, 2);
  clua_node *node = check_array(L, &store);
  luaL_argcheck(L, !is_missing, 2, "value expected");
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  lua_Integer position = find(L, store, length, 2);
  if (position) clua_listremove(L, node, 1, store, length, position);
  lua_pushboolean(L, position != 0);
  return 1;
}

static int array_replace(lua_State *L) {
  int store;
  lua_settop(L, 3);
  clua_node *node = check_array(L, &store);
  check_position(L, 2, clua_listlength(L, node, store), false);
  check_value(L, 3);
  lua_pushinteger(L, lua_tointeger(L, 2));
  clua_pushnodeat(L, 1);
  clua_arrayassign(L, node, 1, lua_gettop(L), store + 1, 3);
  return 0;
}

/* ---- Several elements ----------------------------------------------------------------------- */

static int array_move(lua_State *L) {
  int store;
  lua_settop(L, 3);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  lua_Integer from = check_position(L, 2, length, false), to = check_position(L, 3, length, false);
  if (from == to) return 0;
  lua_rawgeti(L, store, from);
  int element = store + 1;
  lua_Integer step = from < to ? 1 : -1;
  for (lua_Integer i = from; i != to; i += step) {
    lua_rawgeti(L, store, i + step);
    lua_rawseti(L, store, i);
  }
  lua_pushvalue(L, element);
  lua_rawseti(L, store, to);
  if (clua_islistheard(node)) {
    clua_edit edit = {
      .kind = CLUA_EDIT_MOVE, .at = to, .from = from, .count = 1, .element = element,
      .length = length, .low = from < to ? from : to, .high = from < to ? to : from,
    };
    clua_reportedit(L, node, 1, store, &edit);
  }
  return 0;
}

static int array_swap(lua_State *L) {
  int store;
  lua_settop(L, 3);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  lua_Integer a = check_position(L, 2, length, false), b = check_position(L, 3, length, false);
  if (a == b) return 0;
  lua_rawgeti(L, store, a);
  lua_rawgeti(L, store, b);
  lua_rawseti(L, store, a);
  lua_rawseti(L, store, b);
  if (clua_islistheard(node)) {
    clua_edit edit = {
      .kind = CLUA_EDIT_SWAP, .at = a < b ? b : a, .from = a < b ? a : b, .count = 2,
      .length = length, .low = a < b ? a : b, .high = a < b ? b : a,
    };
    clua_reportedit(L, node, 1, store, &edit);
  }
  return 0;
}

static int array_clear(lua_State *L) {
  int store;
  lua_settop(L, 1);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  bool heard = clua_islistheard(node);
  if (heard) clua_copyrange(L, store, 1, clua_listlength(L, node, store));
  lua_Integer length = clua_listlength(L, node, store);
  for (lua_Integer i = length; i >= 1; i--) {
    lua_pushnil(L);
    lua_rawseti(L, store, i);
  }
  clua_setlength(L, node, store, 0);
  if (heard) {
    clua_edit edit = {
      .kind = CLUA_EDIT_CLEAR, .count = length, .length = length, .low = 1, .high = length,
      .list = store + 1,
    };
    clua_reportedit(L, node, 1, store, &edit);
  }
  return 0;
}

/* Replaces the contents of the array by the list at `source`, which has no holes, and reports the
   whole edit with the old contents. [-0, +0, m] */
static void become(lua_State *L, clua_node *node, int store, int source, lua_Integer count,
                   bool permutation) {
  bool heard = clua_islistheard(node);
  lua_Integer length = clua_listlength(L, node, store);
  int list = lua_gettop(L) + 1;
  if (heard) {
    clua_copyrange(L, store, 1, length);
    // A finalizer may have changed the array.
    length = clua_listlength(L, node, store);
  }
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, source, i);
    lua_rawseti(L, store, i);
  }
  for (lua_Integer i = length; i > count; i--) {
    lua_pushnil(L);
    lua_rawseti(L, store, i);
  }
  clua_setlength(L, node, store, count);
  if (!heard) return;
  clua_edit edit = {
    .kind = CLUA_EDIT_WHOLE, .count = length, .length = length, .list = list,
    .permutation = permutation, .low = 1, .high = length > count ? length : count,
  };
  clua_reportedit(L, node, 1, store, &edit);
  lua_settop(L, list - 1);
}

static int array_reverse(lua_State *L) {
  int store;
  lua_settop(L, 1);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  lua_Integer length = clua_listlength(L, node, store);
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  length = clua_listlength(L, node, store);
  clua_steps steps = {L, 0};
  for (lua_Integer i = 1; i <= length; i++) {
    clua_step(&steps);
    lua_rawgeti(L, store, length + 1 - i);
    lua_rawseti(L, store + 1, i);
  }
  become(L, node, store, store + 1, length, true);
  return 0;
}

static int array_set(lua_State *L) {
  int store;
  lua_settop(L, 2);
  clua_node *node = check_array(L, &store);
  clua_checklist(L, 2);
  // Reading may run code; the array changes only when no error can be raised any more.
  lua_Integer count = luaL_len(L, 2);
  clua_steps steps = {L, 0};
  lua_newtable(L);
  for (lua_Integer i = 1; i <= count; i++) {
    clua_step(&steps);
    if (lua_geti(L, 2, i) == LUA_TNIL) {
      return luaL_error(L, "the list has a hole at %I of %I", (LUAI_UACINT)i, (LUAI_UACINT)count);
    }
    lua_rawseti(L, store + 1, i);
  }
  clua_checkaccess(L, node);
  become(L, node, store, store + 1, count < 0 ? 0 : count, false);
  return 0;
}

int clua_arraysort(lua_State *L) {
  int store;
  lua_settop(L, 2);
  clua_node *node = check_array(L, &store);
  clua_checkaccess(L, node);
  if (!lua_isnil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  int guard = store + 1, list = store + 2;
  clua_pushsortguard(L, node);
  node->access = CLUA_ACCESS_SORTING;
  lua_toclose(L, guard);
  lua_Integer length = clua_listlength(L, node, store);
  luaL_argcheck(L, length < INT32_MAX, 1, "array too big");
  // A copy of the elements is sorted, so that a comparison that raises or contradicts itself loses
  // nothing.
  clua_copyrange(L, store, 1, length);
  clua_sortlist(L, list, (lua_Unsigned)length);
  lua_closeslot(L, guard);
  become(L, node, store, list, length, true);
  return 0;
}

const luaL_Reg clua_array_methods[] = {
  {"append", array_append}, {"insert", array_insert}, {"remove", array_remove},
  {"remove_value", array_remove_value}, {"replace", array_replace}, {"move", array_move},
  {"swap", array_swap}, {"sort", clua_arraysort}, {"reverse", array_reverse},
  {"clear", array_clear}, {"set", array_set}, {"index_of", array_index_of},
  {NULL, NULL},
};
