#include "observed_internal.h"

/* Each of these has one upvalue, the state's shared record, and starts with one test: where no table
   was ever observed, or the table at hand is not, the stock function does the work in this very call,
   so that its messages name the function as ever. */

static inline clua_shared *shared_of(lua_State *L) {
  return (clua_shared *)lua_touserdata(L, lua_upvalueindex(1));
}

/* [-0, +(0|2), -] */
static inline clua_node *observed_at(lua_State *L, clua_shared *shared, int index) {
  if (!shared->active || lua_type(L, index) != LUA_TTABLE) return NULL;
  return clua_pushnodeat(L, index);
}

/* ---- Metatables ----------------------------------------------------------------------------- */

static int base_getmetatable(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!observed_at(L, shared, 1)) return shared->getmetatable(L);
  int userdata = lua_gettop(L);
  if (clua_pushfield(L, userdata, "__metatable") == LUA_TNIL) {
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  }
  return 1;
}

static int debug_getmetatable(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!observed_at(L, shared, 1)) return shared->debug_getmetatable(L);
  lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  return 1;
}

/* Gives the observed table at 1 the metatable or nil at 2. Stack: table, new one, M, userdata. */
static void change_metatable(lua_State *L, clua_node *node) {
  clua_unwatchmetatable(node);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 4, CLUA_NODE_METATABLE);
  clua_fill(L, node, 1, 3, 4, true);
  if (!node->ended) clua_watchmetatable(L, node, 4);
}

/* (observed table, metatable or nil) */
static int visible_setmetatable(lua_State *L) {
  change_metatable(L, clua_pushnodeat(L, 1));
  return 0;
}

void clua_setmetatable(lua_State *L, int index) {
  int table = lua_absindex(L, index), top = lua_gettop(L);
  if (lua_type(L, table) != LUA_TTABLE || !clua_pushnodeat(L, table)) {
    lua_setmetatable(L, table);
    return;
  }
  lua_settop(L, top);
  lua_pushcfunction(L, visible_setmetatable);
  lua_pushvalue(L, table);
  lua_rotate(L, top, -1);
  lua_call(L, 2, 0);
}

static int base_setmetatable(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->setmetatable(L);
  int type = lua_type(L, 2);
  if (type != LUA_TNIL && type != LUA_TTABLE) return shared->setmetatable(L);
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node) return shared->setmetatable(L);
  if (clua_pushfield(L, 4, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "cannot change a protected metatable");
  }
  lua_settop(L, 4);
  change_metatable(L, node);
  lua_settop(L, 1);
  return 1;
}

static int debug_setmetatable(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->debug_setmetatable(L);
  int type = lua_type(L, 2);
  if (type != LUA_TNIL && type != LUA_TTABLE) return shared->debug_setmetatable(L);
  lua_settop(L, 2);
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node) return shared->debug_setmetatable(L);
  change_metatable(L, node);
  lua_settop(L, 1);
  return 1;
}

/* ---- Traversal ------------------------------------------------------------------------------ */

static int base_next(lua_State *L) {
  clua_shared *shared = shared_of(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  int found;
  clua_node *node = shared->active ? clua_pushnodeat(L, 1) : NULL;
  if (node) {
    lua_pushvalue(L, 2);
    found = clua_nodenext(L, node, 1, 4);
  } else {
    found = lua_next(L, 1);
  }
  if (found) {
    shared->traversed = true;
    return 2;
  }
  lua_pushnil(L);
  return 1;
}

static int pairs_continue(lua_State *L, int status, lua_KContext context) {
  (void)L, (void)status, (void)context;
  return 3;
}

/* Upvalue 2: `next`. */
static int base_pairs(lua_State *L) {
  clua_shared *shared = shared_of(L);
  luaL_checkany(L, 1);
  clua_node *node = observed_at(L, shared, 1);
  int type = node ? clua_pushfield(L, lua_gettop(L), "__pairs")
                  : luaL_getmetafield(L, 1, "__pairs");
  if (type == LUA_TNIL) {
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, 1);
    lua_callk(L, 1, 3, 0, pairs_continue);
  }
  return 3;
}

/* ---- Raw access ----------------------------------------------------------------------------- */

static int base_rawget(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE || lua_gettop(L) < 2) {
    return shared->rawget(L);
  }
  lua_settop(L, 2);
  clua_rawget(L, 1);
  return 1;
}

static int base_rawset(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE || lua_gettop(L) < 3) {
    return shared->rawset(L);
  }
  lua_settop(L, 3);
  clua_scriptrawset(L, 1, 2, 3, true);
  lua_settop(L, 1);
  return 1;
}

static int base_rawlen(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active || lua_type(L, 1) != LUA_TTABLE) return shared->rawlen(L);
  lua_pushinteger(L, (lua_Integer)clua_rawlen(L, 1));
  return 1;
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* The node of the table at `index` if a list function may work in its store: it moved as a whole,
   nobody watches single elements, and no metamethod would have been asked. Pushes the store.
   [-0, +(0|1), -] */
static clua_node *list_at(lua_State *L, clua_shared *shared, int index) {
  clua_node *node = observed_at(L, shared, index);
  if (!node) return NULL;
  int metatable = lua_gettop(L) - 1, userdata = metatable + 1;
  bool plain = node->all && node->positives == 0;
  if (plain && lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE) == LUA_TTABLE) {
    static const char *const names[] = {"__index", "__newindex", "__len"};
    for (int i = 0; i < 3 && plain; i++) {
      plain = clua_pushfield(L, userdata, names[i]) == LUA_TNIL;
      lua_pop(L, 1);
    }
  }
  if (!plain) {
    lua_settop(L, metatable - 1);
    return NULL;
  }
  lua_settop(L, userdata);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_replace(L, metatable);
  lua_settop(L, metatable);
  return node;
}

static bool is_heard(const clua_node *node) {
  return node->owner && node->every && node->every->wants;
}

/* Lets the stock function read the store. */
static int read_list(lua_State *L, lua_CFunction stock) {
  clua_shared *shared = shared_of(L);
  if (shared->active && list_at(L, shared, 1)) lua_replace(L, 1);
  return stock(L);
}

static int table_concat(lua_State *L) { return read_list(L, shared_of(L)->concat); }
static int table_unpack(lua_State *L) { return read_list(L, shared_of(L)->unpack); }

static int table_insert(lua_State *L) {
  clua_shared *shared = shared_of(L);
  clua_node *node = shared->active ? list_at(L, shared, 1) : NULL;
  if (!node) return shared->insert(L);
  int arguments = lua_gettop(L) - 1, store = arguments + 1;
  lua_Integer length = (lua_Integer)lua_rawlen(L, store), position = length + 1;
  int exact = 1;
  if (arguments == 3) position = lua_tointegerx(L, 2, &exact);
  bool valid = (arguments == 2 || arguments == 3) && exact && position >= 1 &&
               position <= length + 1;
  if (!valid || !is_heard(node)) {
    lua_replace(L, 1);
    return shared->insert(L);
  }
  // The first element that changes is the one told.
  lua_pushvalue(L, arguments);
  lua_rawgeti(L, store, position);
  while (position <= length && clua_same(L, -1, -2)) {
    lua_replace(L, -2);
    lua_rawgeti(L, store, ++position);
  }
  // table, …, store, new, old -> key, old, new, table, arguments of the stock function
  lua_pushinteger(L, position);
  lua_pushvalue(L, 1);
  for (int i = 1; i <= arguments; i++) {
    lua_pushvalue(L, i == 1 ? store : i);
  }
  int first = store + 4;
  lua_pushcfunction(L, shared->insert);
  lua_insert(L, first + 1);
  lua_call(L, arguments, 0);
  clua_report(L, node, NULL, first, store + 3, store + 2, store + 1);
  return 0;
}

static int table_remove(lua_State *L) {
  clua_shared *shared = shared_of(L);
  clua_node *node = shared->active ? list_at(L, shared, 1) : NULL;
  if (!node) return shared->remove(L);
  int arguments = lua_gettop(L) - 1, store = arguments + 1;
  lua_Integer length = (lua_Integer)lua_rawlen(L, store), position = length;
  int exact = 1;
  if (arguments >= 2 && !lua_isnil(L, 2)) position = lua_tointegerx(L, 2, &exact);
  bool valid = exact && (position == length ||
                         (position >= 0 && position <= length + 1 && (position > 0 || !length)));
  if (!valid || !is_heard(node)) {
    lua_replace(L, 1);
    return shared->remove(L);
  }
  lua_rawgeti(L, store, position);
  for (;;) {
    if (position < length) lua_rawgeti(L, store, position + 1);
    else lua_pushnil(L);
    if (position >= length || !clua_same(L, -1, -2)) break;
    lua_replace(L, -2);
    position++;
  }
  lua_pushinteger(L, position);
  lua_pushcfunction(L, shared->remove);
  lua_pushvalue(L, store);
  for (int i = 2; i <= arguments; i++) lua_pushvalue(L, i);
  lua_call(L, arguments, 1);
  clua_report(L, node, NULL, 1, store + 3, store + 1, store + 2);
  lua_settop(L, store + 4);
  return 1;
}

static int table_move(lua_State *L) {
  clua_shared *shared = shared_of(L);
  if (!shared->active) return shared->move(L);
  int top = lua_gettop(L);
  if (top < 4) return shared->move(L);
  int target = top >= 5 && !lua_isnil(L, 5) ? 5 : 1;
  clua_node *node = list_at(L, shared, target);
  bool other = target == 5 && !lua_rawequal(L, 1, 5);
  // Reading from anything but plain tables may run code: then element by element.
  bool plain = !other || (lua_type(L, 1) == LUA_TTABLE && !lua_getmetatable(L, 1));
  int exact[3];
  lua_Integer from = lua_tointegerx(L, 2, &exact[0]), end = lua_tointegerx(L, 3, &exact[1]),
              to = lua_tointegerx(L, 4, &exact[2]);
  if (!node || !plain || !exact[0] || !exact[1] || !exact[2] || from > end ||
      (from <= 0 && end >= LUA_MAXINTEGER + from) ||
      to > LUA_MAXINTEGER - (end - from + 1) + 1) {
    lua_settop(L, top);
    return shared->move(L);
  }
  int store = top + 1, source = other ? 1 : store;
  lua_settop(L, store);
  bool changed = false;
  lua_Integer count = end - from + 1;
  if (is_heard(node)) {
    for (lua_Integer i = 0; i < count; i++) {
      lua_rawgeti(L, store, to + i);
      lua_rawgeti(L, source, from + i);
      if (!clua_same(L, -1, -2) || (node->every->wants & CLUA_WANTS_WRITES)) {
        lua_pushinteger(L, to + i);
        changed = true;
        break;
      }
      lua_pop(L, 2);
    }
  }
  lua_pushcfunction(L, shared->move);
  lua_pushvalue(L, source);
  for (int i = 2; i <= 4; i++) lua_pushvalue(L, i);
  lua_pushvalue(L, store);
  lua_call(L, 5, 0);
  if (changed) clua_report(L, node, NULL, target, store + 3, store + 1, store + 2);
  lua_pushvalue(L, target);
  return 1;
}

/* Ends a sort, also one that raised: tells the first element that changed. The guard's user values:
   table, store, copy of the list or nil. Its block: the node. */
static int end_sort(lua_State *L) {
  clua_node *node = *(clua_node **)lua_touserdata(L, 1);
  if (!node) return 0;
  *(clua_node **)lua_touserdata(L, 1) = NULL;
  node->busy--;
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, 1, 2);
  if (lua_getiuservalue(L, 1, 3) != LUA_TTABLE || !is_heard(node)) return 0;
  lua_Integer length = (lua_Integer)lua_rawlen(L, 4);
  for (lua_Integer i = 1; i <= length; i++) {
    lua_rawgeti(L, 4, i);
    lua_rawgeti(L, 3, i);
    if (!clua_same(L, -1, -2) || (node->every->wants & CLUA_WANTS_WRITES)) {
      lua_pushinteger(L, i);
      clua_report(L, node, NULL, 2, 7, 5, 6);
      return 0;
    }
    lua_pop(L, 2);
  }
  return 0;
}

/* Whether the value at `a` belongs before that at `b`. [-0, +0, e] */
static bool is_less(lua_State *L, int a, int b) {
  a = lua_absindex(L, a);
  b = lua_absindex(L, b);
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

/* Partitions low…up around the pivot on top, which is also at up - 1, and pops it. Raises where the
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

/* The quicksort of Lua's own library, which asks for the same comparisons in the same order: a
   comparison with side effects can't tell. Not that function itself, because called from here it
   would say neither its name nor the place of its call in errors. [-0, +0, e] */
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
    // The smaller half first, so that the C stack stays low.
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
    // Very unequal halves: another pivot, so that no list is slow throughout.
    if ((up - low) / 128 > smaller) random = random * 1664525u + 1013904223u;
  }
}

static int table_sort(lua_State *L) {
  clua_shared *shared = shared_of(L);
  clua_node *node = shared->active ? list_at(L, shared, 1) : NULL;
  if (!node) return shared->sort(L);
  int store = lua_gettop(L);
  lua_Unsigned length = lua_rawlen(L, store);
  bool wrong = store > 2 && !lua_isnil(L, 2) && !lua_isfunction(L, 2);
  if (length < 2 || length >= INT32_MAX || wrong) {
    lua_replace(L, 1);
    return shared->sort(L);
  }
  if (store == 2) {
    lua_pushnil(L);
    lua_insert(L, 2);
    store = 3;
  }
  luaL_checkstack(L, 40, "");
  int guard = store + 1;
  *(clua_node **)lua_newuserdatauv(L, sizeof(clua_node *), 3) = node;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, guard, 1);
  lua_pushvalue(L, store);
  lua_setiuservalue(L, guard, 2);
  if (is_heard(node)) {
    lua_createtable(L, (int)length, 0);
    for (lua_Integer i = 1; i <= (lua_Integer)length; i++) {
      lua_rawgeti(L, store, i);
      lua_rawseti(L, -2, i);
    }
    lua_setiuservalue(L, guard, 3);
  }
  clua_pushshared(L, CLUA_SHARED_GUARD);
  lua_setmetatable(L, guard);
  node->busy++;
  lua_toclose(L, guard);
  sort(L, store, 1, length, 0);
  lua_closeslot(L, guard);
  return 0;
}

/* ---- Installing ----------------------------------------------------------------------------- */

/* Replaces the field of the table on top; returns what was there. [-0, +0, m] */
static lua_CFunction replace(lua_State *L, clua_shared *shared, const char *name,
                             lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_CFunction stock = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  if (!stock) return NULL;
  lua_pushlightuserdata(L, shared);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
  return stock;
}

void clua_install_base(lua_State *L, clua_shared *shared) {
  int top = lua_gettop(L);
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, end_sort);
  lua_setfield(L, -2, "__close");
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_shared_key);
  lua_insert(L, -2);
  lua_setiuservalue(L, -2, CLUA_SHARED_GUARD);
  lua_pushglobaltable(L);
  shared->getmetatable = replace(L, shared, "getmetatable", base_getmetatable);
  shared->setmetatable = replace(L, shared, "setmetatable", base_setmetatable);
  shared->rawget = replace(L, shared, "rawget", base_rawget);
  shared->rawset = replace(L, shared, "rawset", base_rawset);
  shared->rawlen = replace(L, shared, "rawlen", base_rawlen);
  replace(L, shared, "next", base_next);
  lua_pushlightuserdata(L, shared);
  lua_getfield(L, -2, "next");
  lua_pushcclosure(L, base_pairs, 2);
  lua_setfield(L, -2, "pairs");
  if (lua_getfield(L, -1, "table") == LUA_TTABLE) {
    shared->insert = replace(L, shared, "insert", table_insert);
    shared->remove = replace(L, shared, "remove", table_remove);
    shared->move = replace(L, shared, "move", table_move);
    shared->sort = replace(L, shared, "sort", table_sort);
    shared->concat = replace(L, shared, "concat", table_concat);
    shared->unpack = replace(L, shared, "unpack", table_unpack);
  }
  lua_pop(L, 1);
  if (lua_getfield(L, -1, "debug") == LUA_TTABLE) {
    shared->debug_getmetatable = replace(L, shared, "getmetatable", debug_getmetatable);
    shared->debug_setmetatable = replace(L, shared, "setmetatable", debug_setmetatable);
  }
  lua_settop(L, top);
}
