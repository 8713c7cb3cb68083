#include "store.h"

#include <string.h>

const char *const clua_events[CLUA_EVENT_COUNT] = {
  "__len", "__gc", "__name", "__mode", "__call", "__tostring", "__close", "__unm", "__bnot",
  "__eq", "__lt", "__le", "__concat", "__add", "__sub", "__mul", "__div", "__mod", "__pow",
  "__idiv", "__band", "__bor", "__bxor", "__shl", "__shr",
};

/* ---- Its metamethods ------------------------------------------------------------------------- */

uint32_t clua_eventsof(lua_State *L, int user, int shared) {
  uint32_t events = 0;
  for (int event = 0; event < CLUA_EVENT_COUNT; event++) {
    lua_getiuservalue(L, shared, CLUA_SHARED_EVENTS + event);
    if (lua_rawget(L, user) != LUA_TNIL) events |= (uint32_t)1 << event;
    lua_pop(L, 1);
  }
  return events;
}

int clua_takefield(lua_State *L, const char *name) {
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return LUA_TNIL;
  }
  lua_pushstring(L, name);
  int type = lua_rawget(L, -2);
  lua_replace(L, -2);
  return type;
}

int clua_pushfield(lua_State *L, int userdata, const char *name) {
  lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
  return clua_takefield(L, name);
}

/* ---- Metatables that forward to it ----------------------------------------------------------- */

void clua_unwatchmetatable(clua_node *node) {
  clua_node *next = node->usermetatable.next, **previous = node->usermetatable.previous;
  if (!node->usermetatable.node) return;
  *previous = next;
  if (next) next->usermetatable.previous = previous;
  memset(&node->usermetatable, 0, sizeof node->usermetatable);
}

void clua_watchmetatable(lua_State *L, clua_node *node, int userdata) {
  int top = lua_gettop(L);
  clua_unwatchmetatable(node);
  if (lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE) == LUA_TTABLE) {
    clua_node *metatable = clua_node_make(L, top + 1);
    if (!metatable->asmetatable.dependents || !metatable->asmetatable.known) {
      clua_pushstate(L);
      metatable->asmetatable.events = clua_eventsof(L, top + 1, top + 2);
      metatable->asmetatable.known = true;
    }
    clua_node **first = &metatable->asmetatable.dependents, *next = *first;
    node->usermetatable.node = metatable;
    node->usermetatable.next = next;
    node->usermetatable.previous = first;
    if (next) next->usermetatable.previous = &node->usermetatable.next;
    *first = node;
  }
  lua_settop(L, top);
}

/* ---- Restoring it, and setting it on a store ------------------------------------------------- */

void clua_setunmarked(lua_State *L, int table) {
  int user = lua_gettop(L);
  if (lua_type(L, user) != LUA_TTABLE) {
    lua_setmetatable(L, table);
    return;
  }
  // lua_setmetatable marks a table for finalization if the metatable has `__gc`, so that field is
  // hidden.
  lua_pushstring(L, clua_events[CLUA_EVENT_GC]);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, user) == LUA_TNIL) {
    lua_settop(L, user);
    lua_setmetatable(L, table);
    return;
  }
  lua_pushvalue(L, user + 1);
  lua_pushnil(L);
  lua_rawset(L, user);
  lua_pushvalue(L, user);
  lua_setmetatable(L, table);
  lua_rawset(L, user);
  lua_settop(L, user - 1);
}

void clua_fillindex(lua_State *L, clua_node *node, int metatable, int userdata) {
  lua_pushliteral(L, "__index");
  if (node->index == CLUA_INDEX_CLOSURE) clua_pushshared(L, CLUA_SHARED_INDEX);
  else if (node->kind == CLUA_KIND_SET) clua_pushfield(L, userdata, "__index");
  else lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_rawset(L, metatable);
}

void clua_setstoremetatable(lua_State *L, clua_node *node, int userdata, int store) {
  if (!node->lazies && node->index != CLUA_INDEX_NATIVE) {
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
    clua_setunmarked(L, store);
    return;
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_LAZYMETATABLE);
  if (node->weak || node->moded) {
    // A weak table has a weak store. The field fits into the metatable.
    lua_pushstring(L, clua_events[CLUA_EVENT_MODE]);
    node->moded = clua_pushfield(L, userdata, clua_events[CLUA_EVENT_MODE]) != LUA_TNIL;
    lua_rawset(L, -3);
  }
  lua_setmetatable(L, store);
}
