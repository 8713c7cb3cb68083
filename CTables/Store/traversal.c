#include "store.h"

/* The keys of an observed table are in two places, and an active loop must not notice when its
   current key moves. Iterators have no state, so places are kept per table.

   A chain (keys moved singly) is one weak table. For a moved key k it holds the successor of k:
   another moved key, a key of the table, or the end. For a key x of the table, or the end, it holds
   the first of the moved keys that stand directly before x. A traversal then has the order of the
   table, with the moved keys at their old places, followed by the rest of the store. A chain of one
   key is a pair of user values, and becomes a table when a loop follows it.

   An order (the whole table moved at once): the list part 1…prefix came first, then the keys as
   recorded; newer keys come last. */

static const char chain_end = 0;

int clua_looping = 0;

/* In chains of this length or more, steps no longer check for keys that were removed raw. */
enum { CHAIN_CHECKED = 32 };

/* ---- Keys of the table itself --------------------------------------------------------------- */

static int protected_next(lua_State *L) {
  if (lua_next(L, 1)) return 2;
  lua_pushlightuserdata(L, (void *)&chain_end);
  return 1;
}

bool clua_successor(lua_State *L, int table, int key) {
  lua_pushvalue(L, key);
  if (lua_rawget(L, table) != LUA_TNIL || lua_type(L, key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, key);
    if (lua_next(L, table)) lua_pop(L, 1);
    else lua_pushlightuserdata(L, (void *)&chain_end);
    return true;
  }
  lua_pop(L, 1);
  lua_pushcfunction(L, protected_next);
  lua_pushvalue(L, table);
  lua_pushvalue(L, key);
  if (lua_pcall(L, 2, 1, 0) == LUA_OK) return true;
  lua_pop(L, 1);
  return false;
}

static inline bool is_end(lua_State *L, int key) {
  return lua_touserdata(L, key) == (void *)&chain_end;
}

/* ---- Chains --------------------------------------------------------------------------------- */

/* Pushes chain[key]. [-0, +1, -] */
static int follow(lua_State *L, int chain, int key) {
  lua_pushvalue(L, key);
  return lua_rawget(L, chain);
}

/* Moves the moved keys that stand before `from` to before `to`, ahead of the keys that already
   stand there. [-0, +0, m] */
static void rehang(lua_State *L, clua_node *node, int chain, int from, int to) {
  int top = lua_gettop(L);
  if (follow(L, chain, from) == LUA_TNIL) {
    lua_settop(L, top);
    return;
  }
  node->order.hangs--;
  lua_pushvalue(L, top + 1);
  while (follow(L, chain, top + 2) != LUA_TNIL && !lua_rawequal(L, -1, from)) {
    lua_replace(L, top + 2);
  }
  lua_settop(L, top + 2);
  // top + 1 is the first moved key and top + 2 the last one.
  lua_pushvalue(L, top + 2);
  if (follow(L, chain, to) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, to);
    if (!is_end(L, to)) node->order.hangs++;
  }
  lua_rawset(L, chain);
  lua_pushvalue(L, to);
  lua_pushvalue(L, top + 1);
  lua_rawset(L, chain);
  lua_pushvalue(L, from);
  lua_pushnil(L);
  lua_rawset(L, chain);
  lua_settop(L, top);
}

/* Keys of a chain hang at keys of the table, which a script may remove raw. Then they are hung at
   the next existing key. But if the loop stands at a removed key (`current`), nothing changes: Lua
   does not say which key follows it, so a key might be hung at a place that the loop has already
   passed, and be skipped. [-0, +0, m] */
static void repair_chain(lua_State *L, clua_node *node, int table, int userdata, int chain,
                         int current) {
  if (node->order.hangs == 0) return;
  int top = lua_gettop(L);
  bool removed = false;
  lua_pushvalue(L, current);
  if (lua_type(L, current) != LUA_TNIL && lua_rawget(L, table) == LUA_TNIL) removed = true;
  lua_settop(L, top);
  if (removed && clua_isstored(L, node, userdata, current)) removed = false;
  if (removed) return;
  for (int guard = (int)node->order.links; guard >= 0; guard--) {
    bool found = false;
    lua_pushnil(L);
    while (lua_next(L, chain)) {
      lua_pop(L, 1);
      int key = top + 1;
      if (is_end(L, key) || clua_isstored(L, node, userdata, key)) continue;
      if (lua_pushvalue(L, key), lua_rawget(L, table) != LUA_TNIL) {
        lua_pop(L, 1);
        continue;
      }
      lua_pop(L, 1);
      if (!clua_successor(L, table, key)) lua_pushlightuserdata(L, (void *)&chain_end);
      rehang(L, node, chain, key, top + 2);
      found = true;
      break;
    }
    lua_settop(L, top);
    if (!found) return;
  }
}

/* Whether a key does not need a weak table. */
static inline bool is_plain(lua_State *L, int key) {
  int type = lua_type(L, key);
  return type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN || is_end(L, key);
}

/* Pushes an empty chain. [-0, +1, m] */
static void push_empty_chain(lua_State *L) {
  lua_createtable(L, 0, 2);
  clua_pushshared(L, CLUA_SHARED_WEAK);
  lua_setmetatable(L, -2);
}

/* Puts the key at `key` before the key at `next`, in the chain on top; absolute. [-0, +0, m] */
static void begin_chain(lua_State *L, int key, int next) {
  lua_pushvalue(L, key);
  lua_pushvalue(L, next);
  lua_rawset(L, -3);
  lua_pushvalue(L, next);
  lua_pushvalue(L, key);
  lua_rawset(L, -3);
}

/* Turns a pair into a chain table. The collector may take a step, whose finalizers change the node.
   [-0, +0, m] */
static void lengthen_chain(lua_State *L, clua_node *node, int userdata) {
  int top = lua_gettop(L), key = top + 2, next = top + 3;
  push_empty_chain(L);
  if (node->order.kind == CLUA_ORDER_PAIR) {
    lua_getiuservalue(L, userdata, CLUA_NODE_POSITIONS);
    lua_getiuservalue(L, userdata, CLUA_NODE_ORDER);
    lua_pushvalue(L, top + 1);
    begin_chain(L, key, next);
    lua_setiuservalue(L, userdata, CLUA_NODE_ORDER);
    node->order.kind = CLUA_ORDER_CHAIN;
    lua_pushnil(L);
    lua_setiuservalue(L, userdata, CLUA_NODE_POSITIONS);
  }
  lua_settop(L, top);
}

/* Pushes the chain of a node. [-0, +1, m] */
static void push_chain_of(lua_State *L, clua_node *node, int userdata) {
  if (node->order.kind == CLUA_ORDER_PAIR) lengthen_chain(L, node, userdata);
  lua_getiuservalue(L, userdata, CLUA_NODE_ORDER);
}

bool clua_follower(lua_State *L, clua_node *node, int table, int userdata, int key) {
  if (!clua_successor(L, table, key)) return false;
  if (!clua_ischained(node)) return true;
  int next = lua_gettop(L), chain = next + 1;
  push_chain_of(L, node, userdata);
  if (follow(L, chain, next) != LUA_TNIL) lua_replace(L, next);
  lua_settop(L, next);
  return true;
}

void clua_keepplace(lua_State *L, clua_node *node, int table, int userdata, int key) {
  int top = lua_gettop(L), next = top + 1, chain = top + 2;
  // An absent key that still has a place in the table may be the current key of a loop that removed
  // it.
  if (!clua_successor(L, table, key)) {
    if (clua_ischained(node)) {
      // Keys that stood before it while it was in the table must not be taken for its successors in
      // the store.
      lua_pushlightuserdata(L, (void *)&chain_end);
      push_chain_of(L, node, userdata);
      rehang(L, node, chain, key, next);
      lua_settop(L, top);
    }
    return;
  }
  if (clua_ischained(node)) {
    push_chain_of(L, node, userdata);
    // The order is now: the keys before `key`, `key`, the keys before `next`, `next`.
    lua_pushvalue(L, key);
    if (follow(L, chain, next) == LUA_TNIL) {
      lua_pop(L, 1);
      lua_pushvalue(L, next);
      if (!is_end(L, next)) node->order.hangs++;
    }
    lua_pushvalue(L, next);
    if (follow(L, chain, key) == LUA_TNIL) {
      lua_pop(L, 1);
      lua_pushvalue(L, key);
    } else {
      node->order.hangs--;
    }
    lua_rawset(L, chain);
    lua_rawset(L, chain);
  } else {
    bool pair = is_plain(L, key) && is_plain(L, next);
    if (pair) {
      lua_pushvalue(L, key);
      lua_setiuservalue(L, userdata, CLUA_NODE_POSITIONS);
      lua_pushvalue(L, next);
    } else {
      push_empty_chain(L);
      begin_chain(L, key, next);
    }
    lua_setiuservalue(L, userdata, CLUA_NODE_ORDER);
    node->order.kind = pair ? CLUA_ORDER_PAIR : CLUA_ORDER_CHAIN;
    node->order.links = 0;
    node->order.hangs = !is_end(L, next);
  }
  node->order.links++;
  node->order.unfinished = true;
  lua_settop(L, top);
}

void clua_forgetplaces(lua_State *L, clua_node *node, int userdata) {
  if (node->order.kind == CLUA_ORDER_NONE) return;
  lua_pushnil(L);
  lua_setiuservalue(L, userdata, CLUA_NODE_ORDER);
  lua_pushnil(L);
  lua_setiuservalue(L, userdata, CLUA_NODE_POSITIONS);
  node->order = (clua_order){.kind = CLUA_ORDER_NONE};
}

/* ---- One step ------------------------------------------------------------------------------- */

/* The end of a step: the key is on top, its value has to be pushed. */
enum { FOUND = 1, NOTFOUND = 0 };

/* Steps through the store from the key on top (nil: from its start), past keys that have a place
   elsewhere. [-1, +(2|0), v] */
static int next_stored(lua_State *L, clua_node *node, int store, int places) {
  while (lua_next(L, store)) {
    if (places) {
      bool placed = node->order.kind == CLUA_ORDER_RECORDED && lua_isinteger(L, -2) &&
                    lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= node->order.prefix;
      if (!placed) {
        placed = follow(L, places, lua_gettop(L) - 1) != LUA_TNIL;
        lua_pop(L, 1);
      }
      if (placed) {
        lua_pop(L, 1);
        continue;
      }
    }
    return FOUND;
  }
  return NOTFOUND;
}

/* Moves from the key on top, which is in the chain, in the table, or the end, to the first key with
   a value. [-1, +(2|0), m] */
static int resolve(lua_State *L, clua_node *node, int table, int userdata, int store, int chain) {
  int key = lua_gettop(L);
  for (;;) {
    if (is_end(L, key)) {
      lua_pushnil(L);
      lua_replace(L, key);
      return next_stored(L, node, store, chain);
    }
    if (clua_isstored(L, node, userdata, key)) {
      lua_pushvalue(L, key);
      if (lua_rawget(L, store) != LUA_TNIL) return FOUND;
      lua_pop(L, 1);
      if (follow(L, chain, key) == LUA_TNIL) {
        // The key's place was lost with a collected key.
        lua_replace(L, key);
        return next_stored(L, node, store, chain);
      }
      lua_replace(L, key);
      continue;
    }
    lua_pushvalue(L, key);
    if (lua_rawget(L, table) != LUA_TNIL) return FOUND;
    lua_pop(L, 1);
    // The key was removed after the step began: continue from its former place.
    if (!clua_successor(L, table, key)) lua_pushlightuserdata(L, (void *)&chain_end);
    lua_replace(L, key);
    if (follow(L, chain, key) != LUA_TNIL) lua_replace(L, key);
    else lua_pop(L, 1);
  }
}

static int next_chained(lua_State *L, clua_node *node, int table, int userdata, int store) {
  int key = lua_gettop(L), chain = key + 1;
  lua_getiuservalue(L, userdata, CLUA_NODE_ORDER);
  bool start = lua_type(L, key) == LUA_TNIL;
  bool checked = start || node->order.links <= CHAIN_CHECKED;
  if (checked) repair_chain(L, node, table, userdata, chain, key);
  if (!start && clua_isstored(L, node, userdata, key)) {
    if (follow(L, chain, key) == LUA_TNIL) {
      lua_pushvalue(L, key);
      lua_replace(L, -2);
      return next_stored(L, node, store, chain);
    }
    return resolve(L, node, table, userdata, store, chain);
  }
  bool removed = false;
  if (!start) {
    lua_pushvalue(L, key);
    removed = lua_rawget(L, table) == LUA_TNIL;
    lua_pop(L, 1);
  }
  lua_pushvalue(L, key);
  if (lua_next(L, table)) lua_pop(L, 1);
  else lua_pushlightuserdata(L, (void *)&chain_end);
  int next = lua_gettop(L);
  if (follow(L, chain, next) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, next);
  }
  // Keys before a removed key have been passed, and must stay so when the next key is removed, too.
  if (removed) rehang(L, node, chain, key, next);
  return resolve(L, node, table, userdata, store, chain);
}

/* Pushes the value of a key from the table or the store. [-0, +1, -] */
static int value_of(lua_State *L, int table, int store, int key) {
  lua_pushvalue(L, key);
  if (clua_ismetakey(L, key)) return lua_rawget(L, table);
  return lua_rawget(L, store);
}

static int next_ordered(lua_State *L, clua_node *node, int table, int store, int userdata) {
  int key = lua_gettop(L), order = key + 1, positions = key + 2;
  lua_getiuservalue(L, userdata, CLUA_NODE_ORDER);
  lua_getiuservalue(L, userdata, CLUA_NODE_POSITIONS);
  int exact = 0;
  lua_Integer index = 0, position = -1;
  if (lua_type(L, key) == LUA_TNIL) exact = 1;
  else if (lua_type(L, key) == LUA_TNUMBER) index = lua_tointegerx(L, key, &exact);
  if (exact && index >= 0 && index <= node->order.prefix &&
      (index > 0 || lua_type(L, key) == LUA_TNIL)) {
    while (index < node->order.prefix) {
      index++;
      if (lua_rawgeti(L, store, index) != LUA_TNIL) {
        lua_pushinteger(L, index);
        lua_insert(L, -2);
        return FOUND;
      }
      lua_pop(L, 1);
    }
    position = 0;
  } else {
    if (follow(L, positions, key) == LUA_TNUMBER) position = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  if (position >= 0) {
    while (position < node->order.length) {
      lua_rawgeti(L, order, ++position);
      if (value_of(L, table, store, lua_gettop(L)) != LUA_TNIL) return FOUND;
      lua_pop(L, 2);
    }
    lua_pushnil(L);
    if (next_stored(L, node, store, positions)) return FOUND;
    lua_pushnil(L);
  } else if (!clua_ismetakey(L, key)) {
    if (node->order.restarts) {
      if (!clua_successor(L, store, key)) {
        node->order.restarts = false;
        lua_settop(L, key - 1);
        lua_pushnil(L);
        return next_ordered(L, node, table, store, userdata);
      }
      lua_pop(L, 1);
    }
    lua_pushvalue(L, key);
    if (next_stored(L, node, store, positions)) return FOUND;
    lua_pushnil(L);
  } else {
    lua_pushvalue(L, key);
  }
  while (lua_next(L, table)) {
    bool placed = follow(L, positions, lua_gettop(L) - 1) != LUA_TNIL;
    lua_pop(L, 1);
    if (!placed) return FOUND;
    lua_pop(L, 1);
  }
  return NOTFOUND;
}

static int next_unplaced(lua_State *L, clua_node *node, int table, int userdata, int store) {
  int key = lua_gettop(L);
  bool start = lua_type(L, key) == LUA_TNIL;
  bool stored = !start && clua_isstored(L, node, userdata, key);
  lua_pushvalue(L, key);
  // Whole tables show the store first, because the list part is there.
  int first = node->all ? store : table, second = node->all ? table : store;
  if (start || stored == node->all) {
    if (lua_next(L, first)) return FOUND;
    lua_pushnil(L);
  }
  return lua_next(L, second) ? FOUND : NOTFOUND;
}

/* Steps through elements in order. [-1, +(2|0), v] */
static int next_element(lua_State *L, int store) {
  int exact = 1;
  lua_Integer index = 0;
  if (!lua_isnil(L, -1)) index = lua_tointegerx(L, -1, &exact);
  if (!exact || index < 0) return luaL_error(L, "invalid key to 'next'");
  lua_pushinteger(L, index + 1);
  lua_replace(L, -2);
  if (lua_rawgeti(L, store, index + 1) != LUA_TNIL) return FOUND;
  lua_pop(L, 2);
  return NOTFOUND;
}

int clua_nodenext(lua_State *L, clua_node *node, int table, int userdata) {
  int key = lua_gettop(L), store = key + 1, found;
  // With room for the called functions, too, the collector takes no step between the first and the
  // last access to the table.
  clua_checkstack(L, 24 + LUA_MINSTACK, NULL);
  if (node->order.kind == CLUA_ORDER_PAIR) lengthen_chain(L, node, userdata);
  bool recorded = node->order.kind == CLUA_ORDER_RECORDED;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushvalue(L, key);
  if (node->kind == CLUA_KIND_ARRAY) found = next_element(L, store);
  else if (node->kind == CLUA_KIND_SET) found = lua_next(L, store);
  else if (clua_ischained(node)) found = next_chained(L, node, table, userdata, store);
  else if (recorded) found = next_ordered(L, node, table, store, userdata);
  else found = next_unplaced(L, node, table, userdata, store);
  node->order.unfinished = found;
  if (!found) {
    lua_settop(L, key - 1);
    return 0;
  }
  lua_replace(L, store);
  lua_replace(L, key);
  lua_settop(L, key + 1);
  return 1;
}

/* ---- Values that are not objects ------------------------------------------------------------- */

/* Whether the key at -2 is in 1…length. */
static bool is_position(lua_State *L, lua_Integer length) {
  if (!lua_isinteger(L, -2)) return false;
  lua_Integer key = lua_tointeger(L, -2);
  return key >= 1 && key <= length;
}

lua_Integer clua_node_countscalars(lua_State *L, clua_node *node, lua_Integer length) {
  int top = lua_gettop(L);
  lua_Integer count = node->all && clua_pushnode(L, node) ? 0 : -1;
  if (count == 0) lua_getiuservalue(L, top + 3, CLUA_NODE_STORE);
  // The table itself has names of metamethods, and keys that C code has written raw.
  for (int at = top + 1; at <= top + 4 && count >= 0; at += 3) {
    lua_pushnil(L);
    while (lua_next(L, at)) {
      int type = lua_type(L, -1);
      if (type == LUA_TTABLE || type == LUA_TUSERDATA) {
        count = -1;
        break;
      }
      if (!is_position(L, length)) count++;
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return count;
}
