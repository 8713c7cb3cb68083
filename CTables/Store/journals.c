#include "store.h"

void clua_node_journal(lua_State *L, clua_node *node, bool on) {
  node->journaling = on;
  int top = lua_gettop(L);
  if (on && node->kind <= CLUA_KIND_ARRAY && clua_pushnode(L, node)) {
    lua_getiuservalue(L, top + 3, CLUA_NODE_STORE);
    clua_setlength(L, node, top + 4, (lua_Integer)lua_rawlen(L, top + 4));
    // The end of an active sort also reports changes from before the journal began.
    if (node->sorts) node->disturbed = true;
  }
  lua_settop(L, top);
}

lua_Integer clua_node_length(const clua_node *node) {
  return node->kind <= CLUA_KIND_ARRAY ? node->size : 0;
}

void clua_node_pushjournal(lua_State *L, clua_node *node) {
  if (!clua_pushnode(L, node)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, -1, CLUA_NODE_JOURNAL);
  lua_replace(L, -4);
  lua_pop(L, 2);
}

void clua_node_setjournal(lua_State *L, clua_node *node) {
  if (clua_pushnode(L, node)) {
    lua_pushvalue(L, -4);
    lua_setiuservalue(L, -2, CLUA_NODE_JOURNAL);
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
}

/* ---- Kept values ----------------------------------------------------------------------------- */

/* Pushes the table of kept values, which is created on first use. [-0, +1, m] */
static void pushjournal(lua_State *L, clua_node *node) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  clua_node_setjournal(L, node);
}

/* The node and the key under which a value is kept. */
typedef struct place {
  clua_node *node;
  lua_Integer key;
} place;

/* (value, light place) */
static int keep(lua_State *L) {
  const place *to = lua_touserdata(L, 2);
  pushjournal(L, to->node);
  lua_pushvalue(L, 1);
  lua_rawseti(L, 3, to->key);
  return 0;
}

int clua_try_journal_keep(lua_State *L, clua_node *node, lua_Integer key) {
  lua_pushlightuserdata(L, &(place){node, key});
  return clua_protect(L, keep, 2, 0);
}

/* (length, light place) */
static int keeplist(lua_State *L) {
  lua_Integer length = lua_tointeger(L, 1);
  const place *to = lua_touserdata(L, 2);
  clua_node_pushtable(L, to->node);
  if (lua_type(L, 3) != LUA_TTABLE) return 0;
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  for (lua_Integer i = 1; i <= length; i++) {
    lua_pushinteger(L, i);
    clua_rawget(L, 3);
    lua_rawseti(L, 4, i);
  }
  pushjournal(L, to->node);
  lua_pushvalue(L, 4);
  lua_rawseti(L, 5, to->key);
  return 0;
}

int clua_try_journal_keeplist(lua_State *L, clua_node *node, lua_Integer key, lua_Integer length) {
  lua_pushinteger(L, length);
  lua_pushlightuserdata(L, &(place){node, key});
  return clua_protect(L, keeplist, 2, 0);
}

void clua_journal_push(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) lua_rawgeti(L, -1, key);
  else lua_pushnil(L);
  lua_remove(L, -2);
}

void clua_journal_forget(lua_State *L, clua_node *node, lua_Integer first, lua_Integer last) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) {
    for (lua_Integer key = first; key <= last; key++) {
      // Assigning nil to an existing key allocates nothing.
      bool kept = lua_rawgeti(L, -1, key) != LUA_TNIL;
      lua_pop(L, 1);
      if (!kept) continue;
      lua_pushnil(L);
      lua_rawseti(L, -2, key);
    }
  }
  lua_pop(L, 1);
}

/* ---- Edits ----------------------------------------------------------------------------------- */

lua_Integer clua_journal_number(lua_State *L, int seen, lua_Integer next) {
  int type = lua_type(L, -1);
  // Nil and NaN cannot be keys.
  bool nil = type == LUA_TNIL;
  if (nil || (type == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1))) {
    lua_pop(L, 1);
    return nil ? 0 : 1;
  }
  lua_pushvalue(L, -1);
  if (lua_rawget(L, seen) != LUA_TNIL) {
    lua_Integer number = lua_tointeger(L, -1);
    lua_pop(L, 2);
    return number;
  }
  lua_pop(L, 1);
  lua_pushinteger(L, next);
  lua_rawset(L, seen);
  return next;
}

/* (at, from, old, new, light kind) */
static int make_edit(lua_State *L) {
  static const char *const names[] = {"at", "from", "old", "new", "kind"};
  lua_pushstring(L, (const char *)lua_touserdata(L, 5));
  lua_replace(L, 5);
  lua_createtable(L, 0, 4);
  for (int i = 1; i <= 5; i++) {
    if (lua_isnil(L, i)) continue;
    lua_pushvalue(L, i);
    lua_setfield(L, 6, names[i - 1]);
  }
  return 1;
}

int clua_try_pushedit(lua_State *L, const char *kind) {
  lua_pushlightuserdata(L, (void *)kind);
  return clua_protect(L, make_edit, 5, 1);
}
