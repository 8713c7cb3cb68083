#include "clua_modules.h"
#include "shape.h"
#include "clua_lazy.h"

/* C code reserves the stack for the library's functions, which need less than these. Until a table
   is known to be observed, only two values are pushed: Lua has five extra slots at the end of each
   stack. */

/* The parts of an observed table, at these stack indices after the arguments. */
typedef struct observed {
  clua_node *node;
  int table, userdata;
} observed;

/* Finds the table at `index`; if it is observed, pushes its metatable and userdata.
   [-0, +(0|2), m] */
static inline observed find(lua_State *L, int index) {
  observed found = {NULL, 0, 0};
  if (index == LUA_REGISTRYINDEX) return found;
  found.node = clua_pushnodeat(L, index);
  if (!found.node) return found;
  found.userdata = lua_gettop(L);
  // The two pushed values are not counted.
  found.table = index > 0 || index < LUA_REGISTRYINDEX ? index : found.userdata - 2 + index + 1;
  clua_checkstack(L, 40, NULL);
  return found;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Notes the read of a key if a tracked getter reads the table. [-0, +0, m] */
static inline void note(lua_State *L, const observed *from, int key) {
  if (clua_isopened(from->node)) clua_notekey(L, from->node, from->userdata, key);
}

/* Opens the value if it is a table that a tracked getter has read from an opened table.
   [-0, +0, m] */
static inline void hand_out(lua_State *L, const observed *from, int value) {
  if (clua_isopened(from->node) && clua_istracking(L)) clua_track(L, value);
}

/* Pushes the value of the key at `key`. [-0, +1, m] */
static int get(lua_State *L, const observed *from, int key) {
  note(L, from, key);
  lua_pushvalue(L, key);
  if (lua_rawget(L, from->table) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_getiuservalue(L, from->userdata, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    lua_rawget(L, -2);
    lua_replace(L, -2);
  }
  int value = lua_gettop(L);
  hand_out(L, from, value);
  return lua_type(L, value);
}

int clua_modulerawget(lua_State *L, int index) {
  int key = lua_gettop(L);
  observed from = find(L, index);
  if (!from.node) return lua_rawget(L, index);
  int type = get(L, &from, key);
  lua_replace(L, key);
  lua_settop(L, key);
  return type;
}

int clua_modulerawgeti(lua_State *L, int index, lua_Integer key) {
  int top = lua_gettop(L);
  observed from = find(L, index);
  if (!from.node) return lua_rawgeti(L, index, key);
  if (from.node->all && !clua_isopened(from.node)) {
    // Elements are read more often than other keys.
    if (lua_rawgeti(L, from.table, key) == LUA_TNIL) {
      lua_getiuservalue(L, from.userdata, CLUA_NODE_STORE);
      lua_rawgeti(L, -1, key);
    }
  } else {
    lua_pushinteger(L, key);
    get(L, &from, lua_gettop(L));
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return lua_type(L, -1);
}

int clua_modulerawgetp(lua_State *L, int index, const void *key) {
  int top = lua_gettop(L);
  observed from = find(L, index);
  if (!from.node) return lua_rawgetp(L, index, key);
  lua_pushlightuserdata(L, (void *)key);
  int type = get(L, &from, lua_gettop(L));
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return type;
}

lua_Unsigned clua_modulerawlen(lua_State *L, int index) {
  // A string also has a metatable.
  if (lua_type(L, index) != LUA_TTABLE) return lua_rawlen(L, index);
  int top = lua_gettop(L);
  observed from = find(L, index);
  if (!from.node) return lua_rawlen(L, index);
  clua_noteread(L, from.node, CLUA_READ_COUNT);
  lua_settop(L, top);
  return clua_rawlen(L, index);
}

int clua_modulenext(lua_State *L, int index) {
  clua_noteloop();
  int key = lua_gettop(L);
  observed from = find(L, index);
  if (!from.node) return lua_next(L, index);
  if (lua_isnil(L, key)) {
    clua_noteread(L, from.node, CLUA_READ_EVERY);
    clua_absorb(L, from.node, from.table, from.userdata, clua_writeunheard);
  }
  lua_pushvalue(L, key);
  int found = clua_nodenext(L, from.node, from.table, from.userdata);
  if (found) {
    hand_out(L, &from, lua_gettop(L));
    lua_replace(L, key + 1);
    lua_replace(L, key);
    lua_settop(L, key + 1);
  } else {
    lua_settop(L, key - 1);
  }
  return found;
}

int clua_modulegetmetatable(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_getmetatable(L, index);
  if (!lua_getmetatable(L, index)) return 0;
  if (!clua_pushnodeof(L, -1)) return 1;
  lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  lua_replace(L, -3);
  lua_pop(L, 1);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  return 0;
}

/* ---- Writing -------------------------------------------------------------------------------- */

void clua_modulerawset(lua_State *L, int index) {
  int value = lua_gettop(L);
  observed to = find(L, index);
  if (!to.node) {
    lua_rawset(L, index);
    return;
  }
  clua_writeunheard(L, to.node, to.table, to.userdata, value - 1, value);
  lua_settop(L, value - 2);
}

void clua_modulerawseti(lua_State *L, int index, lua_Integer key) {
  int value = lua_gettop(L);
  observed to = find(L, index);
  if (!to.node) {
    lua_rawseti(L, index, key);
    return;
  }
  lua_pushinteger(L, key);
  clua_writeunheard(L, to.node, to.table, to.userdata, lua_gettop(L), value);
  lua_settop(L, value - 1);
}

void clua_modulerawsetp(lua_State *L, int index, const void *key) {
  int value = lua_gettop(L);
  observed to = find(L, index);
  if (!to.node) {
    lua_rawsetp(L, index, key);
    return;
  }
  lua_pushlightuserdata(L, (void *)key);
  clua_writeunheard(L, to.node, to.table, to.userdata, lua_gettop(L), value);
  lua_settop(L, value - 1);
}

int clua_modulesetmetatable(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_setmetatable(L, index);
  int top = lua_gettop(L);
  if (!find(L, index).node) return lua_setmetatable(L, index);
  lua_settop(L, top);
  clua_setmetatable(L, index);
  return 1;
}
