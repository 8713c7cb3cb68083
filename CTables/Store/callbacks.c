#include "store.h"

#include "clua_allocator.h"
#include "clua_callbacks.h"
#include "clua_handles.h"

/* ---- What a node keeps ----------------------------------------------------------------------- */

/* A node keeps a table of values by their keys; most keep one callback only, which needs none: its
   key is in the node then. */

/* The place where a value is kept. */
typedef struct place {
  clua_node *node;
  lua_Integer key;
} place;

/* Makes the node of the table at `table` keep the value on top. [-1, +0, m] */
static void set_kept(lua_State *L, int table) {
  clua_pushnodeat(L, table);
  lua_pushvalue(L, -3);
  lua_setiuservalue(L, -2, CLUA_NODE_VALUE);
  // The value is also the metatable's only array element, which is faster to reach than the node's
  // user value.
  lua_pushvalue(L, -3);
  lua_rawseti(L, -3, 1);
  lua_pop(L, 3);
}

/* Keeps the value at `value`; the table of the node is at `table`. Indices are absolute.
   [-0, +0, m] */
static void keep_value(lua_State *L, clua_node *node, int table, int value, lua_Integer key) {
  int kept = lua_gettop(L) + 1;
  clua_node_pushvalueat(L, table);
  int type = lua_type(L, kept);
  if (lua_type(L, value) == LUA_TFUNCTION &&
      (type == LUA_TNIL || (type == LUA_TFUNCTION && node->kept == key))) {
    node->kept = key;
    lua_pushvalue(L, value);
    set_kept(L, table);
    lua_settop(L, kept - 1);
    return;
  }
  if (type != LUA_TTABLE) {
    lua_createtable(L, 0, 2);
    lua_insert(L, kept);
    if (type == LUA_TFUNCTION) lua_rawseti(L, kept, node->kept);
    lua_pushvalue(L, kept);
    set_kept(L, table);
  }
  lua_pushvalue(L, value);
  lua_rawseti(L, kept, key);
  lua_settop(L, kept - 1);
}

/* (value, light place) */
static int keep(lua_State *L) {
  const place *to = lua_touserdata(L, 2);
  clua_node_pushtable(L, to->node);
  if (!lua_isnil(L, 3)) keep_value(L, to->node, 3, 1, to->key);
  return 0;
}

int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key) {
  lua_pushlightuserdata(L, &(place){node, key});
  return clua_protect(L, keep, 2, 0);
}

void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushtable(L, node);
  if (lua_isnil(L, -1)) return;
  clua_node_pushvalueat(L, -1);
  lua_replace(L, -2);
  if (lua_type(L, -1) == LUA_TFUNCTION && node->kept == key) return;
  if (lua_type(L, -1) == LUA_TTABLE) lua_rawgeti(L, -1, key);
  else lua_pushnil(L);
  lua_replace(L, -2);
}

void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key) {
  int table = lua_gettop(L) + 1;
  clua_node_pushtable(L, node);
  if (lua_isnil(L, table)) {
    lua_settop(L, table - 1);
    return;
  }
  clua_node_pushvalueat(L, table);
  // Assigning nil to a key that exists allocates nothing.
  if (lua_type(L, -1) == LUA_TFUNCTION && node->kept == key) {
    lua_pushnil(L);
    set_kept(L, table);
  } else if (lua_type(L, -1) == LUA_TTABLE && lua_rawgeti(L, -1, key) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, table + 1, key);
  }
  lua_settop(L, table - 1);
}

/* ---- Registering a watcher ------------------------------------------------------------------- */

/* Upvalues: 1 the Swift function, 2 its context, 3 where the next watcher's number is. */
static int observe(lua_State *L) {
  lua_settop(L, 4);
  clua_registration made = {NULL, 0, NULL};
  // Swift checks any other arguments.
  bool plain = lua_type(L, 1) == LUA_TTABLE && lua_type(L, 3) == LUA_TFUNCTION;
  if (plain) {
    made.node = clua_node_at(L, 1);
    if (!made.node || !clua_node_isthere(L, made.node)) {
      bool held = clua_holdcollector(L);
      made.node = clua_node_make(L, 1);
      clua_releasecollector(L, held);
    }
  }
  clua_newhandle(L, CLUA_HANDLE_WATCHER);
  made.handle = lua_touserdata(L, -1);
  // Finalizers, which may end watchers, ran before: the number is read last.
  made.key = (lua_Integer)*(const intptr_t *)lua_touserdata(L, lua_upvalueindex(3));
  made.key *= CLUA_KEY_STRIDE;
  if (plain) keep_value(L, made.node, 1, 3, made.key);
  clua_observe_function function = (clua_observe_function)lua_touserdata(L, lua_upvalueindex(1));
  int results = function(L, lua_touserdata(L, lua_upvalueindex(2)), &made);
  if (results != CLUA_RAISE) return results;
  if (plain) clua_node_forget(L, made.node, made.key);
  return lua_error(L);
}

static int pushobserve(lua_State *L) {
  lua_pushcclosure(L, observe, 3);
  return 1;
}

int clua_try_pushobserve(lua_State *L, clua_observe_function function, void *context,
                         const intptr_t *next) {
  clua_notefunction(observe);
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushlightuserdata(L, (void *)next);
  return clua_protect(L, pushobserve, 3, 1);
}
