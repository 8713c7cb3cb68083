#include "store.h"

#include <string.h>

/* Opening in place: while a tracked getter runs, each table that it reaches has all its keys in its
   store, and a C function as `__index`, which reports each read and opens the next table as well.
   The getter works with the real tables. The keys stay in the store afterwards. */

bool clua_istracking(lua_State *L) {
  const clua_shared *shared = clua_shared_of(L);
  return shared->observation.stamp && *shared->observation.stamp;
}

static inline uint32_t stamp_of(const clua_shared *shared) {
  return shared->observation.stamp ? *shared->observation.stamp : 0;
}

/* Reports a read of the key at `key`; 0 for a read of no single key. [-0, +0, m] */
static void note(lua_State *L, clua_node *node, clua_slot *slot, int key, clua_reading what) {
  clua_shared *shared = node->shared;
  if (!shared->observation.read) return;
  if (key) lua_pushvalue(L, key);
  else lua_pushnil(L);
  // This pops the key.
  shared->observation.read(shared->observation.context, L, node, slot, what);
}

void clua_noteread(lua_State *L, clua_node *node, clua_reading what) {
  if (clua_isopened(node) && stamp_of(node->shared)) note(L, node, NULL, 0, what);
}

void clua_notekey(lua_State *L, clua_node *node, int userdata, int key) {
  uint32_t stamp = clua_isopened(node) ? stamp_of(node->shared) : 0;
  if (!stamp || clua_ismetakey(L, key) || lua_isnil(L, key)) return;
  if (lua_type(L, key) == LUA_TNUMBER && lua_tonumber(L, key) != lua_tonumber(L, key)) return;
  clua_record *record = clua_record_of(L, node, userdata, key);
  clua_slot *slot = record ? record->slot : NULL;
  if (!slot || slot->stamp != stamp) note(L, node, slot, key, CLUA_READ_KEY);
}

/* The kind of read of the key at `key` of an array or a set, if it is not an element: a method may
   read everything. [-0, +0, -] */
static clua_reading reading_of(lua_State *L, int key) {
  bool size = lua_type(L, key) == LUA_TSTRING && strcmp(lua_tostring(L, key), "count") == 0;
  return size ? CLUA_READ_COUNT : CLUA_READ_EVERY;
}

/* `__index` of an opened table: (table, key) */
static int tracking_index(lua_State *L) {
  clua_node *node = clua_pushnodeat(L, 1);
  if (!node) return 0;
  int userdata = 4;
  if (clua_isstorefixed(node) && (node->kind == CLUA_KIND_SET || lua_type(L, 2) != LUA_TNUMBER)) {
    clua_noteread(L, node, reading_of(L, 2));
  } else {
    clua_notekey(L, node, userdata, 2);
  }
  if (node->kind != CLUA_KIND_SET) {
    lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, 5) != LUA_TNIL) {
      if (stamp_of(node->shared)) clua_track(L, 6);
      return 1;
    }
    lua_settop(L, 4);
  }
  if (node->lazies) {
    clua_record *record = clua_record_of(L, node, userdata, 2);
    if (record && record->lazy) {
      return node->shared->above->read_lazy(L, node, record, 1, userdata, 2);
    }
  }
  return node->shared->above->index_behind(L, node, userdata);
}

void clua_track(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return;
  int table = lua_absindex(L, index), top = lua_gettop(L);
  clua_checkstack(L, 30, NULL);
  clua_node *node = clua_node_livingat(L, table);
  if (!node) node = clua_node_make(L, table);
  if (clua_isopened(node)) return;
  clua_shared *shared = node->shared;
  clua_moveall(L, node);
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->tracked);
  lua_getmetatable(L, table);
  lua_pushvalue(L, -1);
  lua_rawseti(L, top + 1, shared->opened + 1);
  shared->opened++;
  node->opening = CLUA_OPENING_NOW;
  lua_pushliteral(L, "__index");
  lua_pushcfunction(L, tracking_index);
  lua_rawset(L, top + 2);
  lua_settop(L, top);
}

void clua_untrack(lua_State *L) {
  clua_shared *shared = clua_shared_of(L);
  if (shared->opened == 0) return;
  int top = lua_gettop(L), list = top + 1, metatable = top + 2, userdata = top + 3;
  lua_rawgeti(L, LUA_REGISTRYINDEX, shared->tracked);
  while (shared->opened > 0) {
    // The calls below may run finalizers, which compute and come here: decrementing first hides
    // this table from them.
    int last = shared->opened--;
    lua_rawgeti(L, list, last);
    lua_pushboolean(L, false);
    lua_rawseti(L, list, last);
    clua_node *node = clua_pushnodeof(L, metatable);
    if (node) {
      node->opening = CLUA_OPENING_OVER;
      // Sets only an existing field, which needs no memory.
      clua_fillindex(L, node, metatable, userdata);
    }
    lua_settop(L, list);
  }
  lua_settop(L, top);
}
