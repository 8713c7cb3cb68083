#include "clua_callbacks.h"
#include "clua_handles.h"

/* ---- What a node keeps ----------------------------------------------------------------------- */

/* Where a value goes. */
typedef struct place {
  clua_node *node;
  lua_Integer key;
} place;

/* (value, what is kept so far, light place) */
static int keep(lua_State *L) {
  const place *to = lua_touserdata(L, 3);
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TTABLE) {
    lua_settop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    clua_node_setuservalue(L, to->node);
  }
  lua_pushvalue(L, 1);
  lua_rawseti(L, 2, to->key);
  return 0;
}

int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushuservalue(L, node);
  lua_pushlightuserdata(L, &(place){node, key});
  return clua_protect(L, keep, 3, 0);
}

void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushuservalue(L, node);
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return;
  }
  lua_rawgeti(L, -1, key);
  lua_remove(L, -2);
}

void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key) {
  int top = lua_gettop(L);
  clua_node_pushuservalue(L, node);
  // Assigning nil to a key that is there allocates nothing.
  if (lua_type(L, -1) == LUA_TTABLE && lua_rawgeti(L, -1, key) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, top + 1, key);
  }
  lua_settop(L, top);
}

/* ---- Registering a watcher ------------------------------------------------------------------- */

/* Keeps the callback, the third argument, as `key` of the node of the first. */
static void keepcallback(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushvalueat(L, 1);
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    clua_node_setuservalue(L, node);
  }
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, key);
  lua_pop(L, 1);
}

/* Upvalues: 1 the Swift function, 2 its context, 3 where the next watcher's number is. */
static int observe(lua_State *L) {
  lua_settop(L, 4);
  clua_registration made = {NULL, 0, NULL};
  // Other arguments are Swift's to judge.
  bool plain = lua_type(L, 1) == LUA_TTABLE && lua_type(L, 3) == LUA_TFUNCTION;
  if (plain) {
    made.node = clua_node_at(L, 1);
    if (made.node == NULL) made.node = clua_node_make(L, 1);
  }
  clua_newhandle(L, CLUA_HANDLE_WATCHER);
  made.handle = lua_touserdata(L, -1);
  // Finalizers, which may end watchers, ran before: the number is read last.
  made.key = (lua_Integer)*(const intptr_t *)lua_touserdata(L, lua_upvalueindex(3));
  made.key *= CLUA_KEY_STRIDE;
  if (plain) keepcallback(L, made.node, made.key);
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
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushlightuserdata(L, (void *)next);
  return clua_protect(L, pushobserve, 3, 1);
}
