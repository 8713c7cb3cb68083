#include "store.h"

#include "clua_allocator.h"
#include "clua_callbacks.h"
#include "clua_calls.h"
#include "clua_handles.h"

/* ---- The values kept by a node --------------------------------------------------------------- */

/* A node keeps a table of values by key. Most nodes keep only one callback, without a table: its
   key is in the node. */

/* The node and the key under which a value is kept. */
typedef struct place {
  clua_node *node;
  lua_Integer key;
} place;

/* [-0, +0, m] */
static void set_kept(lua_State *L, int metatable, int value) {
  lua_pushvalue(L, value);
  lua_rawseti(L, metatable, CLUA_OWN_VALUE);
}

/* Keeps the value at `value`; the node's table is at `table`. Indices are absolute. [-0, +0, m] */
static void keep_value(lua_State *L, clua_node *node, int table, int value, lua_Integer key) {
  int top = lua_gettop(L), metatable = top + 1, kept = top + 3;
  if (clua_pushnodeat(L, table) != node) {
    lua_settop(L, top);
    return;
  }
  int type = lua_rawgeti(L, metatable, CLUA_OWN_VALUE);
  if (lua_type(L, value) == LUA_TFUNCTION &&
      (type == LUA_TNIL || (type == LUA_TFUNCTION && node->kept == key))) {
    node->kept = key;
    set_kept(L, metatable, value);
    lua_settop(L, top);
    return;
  }
  if (type != LUA_TTABLE) {
    lua_createtable(L, 0, 2);
    lua_insert(L, kept);
    if (type == LUA_TFUNCTION) lua_rawseti(L, kept, node->kept);
    lua_settop(L, kept);
    set_kept(L, metatable, kept);
  }
  lua_pushvalue(L, value);
  lua_rawseti(L, kept, key);
  lua_settop(L, top);
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

static int make_change(lua_State *L) {
  lua_createtable(L, 0, 4);
  lua_insert(L, 1);
  lua_setfield(L, 1, "new");
  lua_setfield(L, 1, "old");
  lua_setfield(L, 1, "key");
  lua_setfield(L, 1, "path");
  return 1;
}

int clua_try_makechange(lua_State *L) { return clua_protect(L, make_change, 4, 1); }

/* (light node) */
static int notice_ending(lua_State *L) {
  int metatable = 3, userdata = 4;
  if (!clua_pushnode(L, (clua_node *)lua_touserdata(L, 1))) return 0;
  if (lua_getiuservalue(L, userdata, CLUA_NODE_ENDING) != LUA_TNIL) return 0;
  lua_newuserdatauv(L, 0, 1);
  lua_pushvalue(L, metatable);
  lua_setiuservalue(L, -2, 1);
  clua_pushshared(L, CLUA_SHARED_ENDING);
  lua_setmetatable(L, -2);
  lua_setiuservalue(L, userdata, CLUA_NODE_ENDING);
  return 0;
}

int clua_try_node_noticeending(lua_State *L, clua_node *node) {
  lua_pushlightuserdata(L, node);
  return clua_protect(L, notice_ending, 1, 0);
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
  int top = lua_gettop(L), metatable = top + 2, kept = top + 4, none = top + 5;
  if (!clua_pushnode(L, node)) return;
  int type = lua_rawgeti(L, metatable, CLUA_OWN_VALUE);
  lua_pushnil(L);
  // Assigning nil to an existing key allocates nothing.
  if (type == LUA_TFUNCTION && node->kept == key) {
    lua_rawseti(L, metatable, CLUA_OWN_VALUE);
  } else if (type == LUA_TTABLE && lua_rawgeti(L, kept, key) != LUA_TNIL) {
    lua_pushvalue(L, none);
    lua_rawseti(L, kept, key);
  }
  lua_settop(L, top);
}

/* ---- Registering a watcher ------------------------------------------------------------------- */

/* Upvalues: 1 the Swift function, 2 its context, 3 a pointer to the next watcher's number. */
static int observe(lua_State *L) {
  clua_refuserest(L, 4, 0, "observe");
  lua_settop(L, 4);
  clua_registration made = {NULL, 0, NULL};
  // Swift checks all other arguments.
  bool plain = lua_type(L, 1) == LUA_TTABLE && lua_type(L, 3) == LUA_TFUNCTION;
  clua_newhandle(L, CLUA_HANDLE_WATCHER);
  made.handle = lua_touserdata(L, -1);
  const intptr_t *next = (const intptr_t *)lua_touserdata(L, lua_upvalueindex(3));
  // Allocations may run finalizers, which may end watchers and the turn. So the number is read
  // after the allocations, and the node is made again if it ended during them.
  do {
    if (plain) made.node = clua_node_prepare(L, 1, 2, 0);
    made.key = (lua_Integer)*next * CLUA_KEY_STRIDE;
    if (plain) keep_value(L, made.node, 1, 3, made.key);
  } while (plain && clua_node_at(L, 1) != made.node);
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
  clua_notefunction(CLUA_FUNCTION_OBSERVE, observe);
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushlightuserdata(L, (void *)next);
  return clua_protect(L, pushobserve, 3, 1);
}
