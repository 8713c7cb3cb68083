#include "lists.h"
#include "clua_collections.h"
#include "clua_guard.h"

#include <math.h>

/* The contents of tables, for deep changes (X2). */

/* ---- Reading --------------------------------------------------------------------------------- */

/* Stack indices: the arguments, then the new tables. */
enum { TABLE = 1, TOOLS, MAP, OPAQUE, OBJECTS };

typedef struct clua_contents {
  clua_steps steps;
  bool hastools, hasopaque, hasuserdata;
  lua_Integer objects;   // keys of values that may be objects, in loop order
  lua_Integer count;     // keys
  lua_Integer whole;     // keys that are whole numbers
  lua_Integer numbered;  // integer keys of values that may be objects
  lua_Integer positions; // the integer keys among these that are in the list
} clua_contents;

/* Whether a table has the value at -1 as a key. [-0, +0, -] */
static bool has_top(lua_State *L, int table) {
  lua_pushvalue(L, -1);
  bool found = lua_rawget(L, table) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

/* Whether the key at an index is in 1…length. */
static bool is_element(lua_State *L, int key, lua_Integer length) {
  if (!lua_isinteger(L, key)) return false;
  lua_Integer position = lua_tointeger(L, key);
  return position >= 1 && position <= length;
}

static bool is_whole(lua_State *L, int key) {
  if (lua_isinteger(L, key)) return true;
  if (lua_type(L, key) != LUA_TNUMBER) return false;
  lua_Number number = lua_tonumber(L, key);
  // A number this large has no fraction.
  if (!(number > -0x1p62 && number < 0x1p62)) return isfinite(number);
  return (lua_Number)(long long)number == number;
}

/* Whether the value at -1 may be an object in which changes are observed; notes any userdata.
   [-0, +0, -] */
static bool may_be_object(lua_State *L, clua_contents *contents) {
  int type = lua_type(L, -1);
  if (type == LUA_TUSERDATA) return contents->hasuserdata = true;
  return type == LUA_TTABLE && !(contents->hasopaque && has_top(L, OPAQUE));
}

/* Adds the key at -2 and the value at -1. [-1, +0, m] */
static void add(lua_State *L, clua_contents *contents) {
  clua_step(&contents->steps);
  if (contents->hastools && lua_type(L, -1) == LUA_TTABLE && has_top(L, TOOLS)) {
    lua_pop(L, 1);
    return;
  }
  int key = lua_gettop(L) - 1;
  contents->count++;
  if (is_whole(L, key)) contents->whole++;
  int type = lua_type(L, key);
  // Under keys that are objects, tables count as values (X4).
  bool isname = type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN;
  if (isname && may_be_object(L, contents)) {
    if (lua_isinteger(L, key)) {
      contents->numbered++;
    } else {
      lua_pushvalue(L, key);
      lua_rawseti(L, OBJECTS, ++contents->objects);
    }
  }
  lua_pushvalue(L, key);
  lua_insert(L, -2);
  lua_rawset(L, MAP);
}

static void add_all(lua_State *L, clua_contents *contents, int table) {
  lua_pushnil(L);
  while (lua_next(L, table)) add(L, contents);
}

static void read_all(lua_State *L, clua_contents *contents) {
  clua_node *node = clua_pushnodeat(L, TABLE);
  if (!node) return add_all(L, contents, TABLE);
  int store = lua_gettop(L) + 1;
  lua_getiuservalue(L, store - 1, CLUA_NODE_STORE);
  if (node->kind == CLUA_KIND_ARRAY) clua_noteread(L, node, CLUA_READ_COUNT);
  bool isstored = node->kind == CLUA_KIND_ARRAY || node->kind == CLUA_KIND_SET;
  if (isstored || node->all) {
    add_all(L, contents, store);
    // The table itself has names of metamethods.
    if (!isstored) add_all(L, contents, TABLE);
    return;
  }
  lua_pushnil(L);
  while (clua_next(L, TABLE)) add(L, contents);
}

/* Pushes an empty table with room for the contents of the table at TABLE. [-0, +1, m] */
static void push_copy(lua_State *L, clua_contents *contents) {
  int top = lua_gettop(L);
  int elements = 0, fields = 0;
  clua_node *node = clua_pushnodeat(L, TABLE);
  if (node) lua_getiuservalue(L, top + 2, CLUA_NODE_STORE);
  else lua_pushvalue(L, TABLE);
  int store = lua_gettop(L);
  if (lua_istable(L, store)) {
    lua_Integer length = (lua_Integer)lua_rawlen(L, store);
    lua_pushnil(L);
    while (lua_next(L, store)) {
      clua_step(&contents->steps);
      int *count = is_element(L, -2, length) ? &elements : &fields;
      if (*count < INT32_MAX) ++*count;
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  lua_createtable(L, elements, fields);
}

/* Moves positions in 1…length whose values may be objects to the front of OBJECTS. [-0, +0, m] */
static void number_objects(lua_State *L, clua_contents *contents, lua_Integer length) {
  lua_Integer others = contents->objects, found = 0;
  if (!contents->numbered) return;
  lua_Integer room = others + contents->numbered;
  lua_createtable(L, room < INT32_MAX ? (int)room : 0, 0);
  int list = lua_gettop(L);
  for (lua_Integer i = 1; i <= length; i++) {
    clua_step(&contents->steps);
    lua_rawgeti(L, MAP, i);
    if (may_be_object(L, contents)) {
      lua_pushinteger(L, i);
      lua_rawseti(L, list, ++found);
    }
    lua_pop(L, 1);
  }
  lua_Integer count = found;
  for (lua_Integer i = 1; i <= others; i++) {
    lua_rawgeti(L, OBJECTS, i);
    lua_rawseti(L, list, ++count);
  }
  if (found < contents->numbered) {
    lua_pushnil(L);
    while (lua_next(L, MAP)) {
      clua_step(&contents->steps);
      bool isother = lua_isinteger(L, -2)
        && (lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > length);
      if (isother && may_be_object(L, contents)) {
        lua_pushvalue(L, -2);
        lua_rawseti(L, list, ++count);
      }
      lua_pop(L, 1);
    }
  }
  contents->objects = room;
  contents->positions = found;
  lua_replace(L, OBJECTS);
}

int clua_readcontents(lua_State *L) {
  bool islist = lua_toboolean(L, 3), hasopaque = !lua_toboolean(L, 4);
  luaL_checktype(L, TABLE, LUA_TTABLE);
  lua_settop(L, TOOLS);
  clua_contents contents = {.steps = {L, 0}, .hasopaque = hasopaque};
  lua_pushnil(L);
  if (lua_next(L, TOOLS)) {
    contents.hastools = true;
    lua_pop(L, 2);
  }
  clua_kind kind = clua_collection_kind(L, TABLE);
  push_copy(L, &contents);
  contents.hasopaque = clua_pushopaque(L) && hasopaque;
  lua_newtable(L);
  lua_Integer length = 0;
  if (kind == CLUA_KIND_SET) {
    clua_pushnodeat(L, TABLE);
    lua_getiuservalue(L, -1, CLUA_NODE_STORE);
    int store = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, store)) {
      clua_step(&contents.steps);
      lua_pop(L, 1);
      lua_pushvalue(L, -1);
      lua_pushboolean(L, true);
      lua_rawset(L, MAP);
    }
  } else {
    read_all(L, &contents);
    lua_settop(L, OBJECTS);
    if (kind == CLUA_KIND_ARRAY || (islist && kind == CLUA_KIND_PLAIN)) {
      while (lua_rawgeti(L, MAP, length + 1) != LUA_TNIL) {
        clua_step(&contents.steps);
        length++;
        lua_pop(L, 1);
      }
      lua_settop(L, OBJECTS);
    }
    number_objects(L, &contents, length);
  }
  lua_settop(L, OBJECTS);
  static const char *const names[] = {
    [CLUA_KIND_ARRAY] = "array", [CLUA_KIND_SET] = "set", [CLUA_KIND_DICTIONARY] = "dictionary",
  };
  if (kind == CLUA_KIND_PLAIN) lua_pushnil(L);
  else lua_pushstring(L, names[kind]);
  lua_replace(L, OPAQUE);
  lua_pushvalue(L, OPAQUE);
  lua_pushvalue(L, MAP);
  lua_pushinteger(L, length);
  lua_pushboolean(L, islist && kind == CLUA_KIND_PLAIN && contents.whole > length);
  if (contents.objects) lua_pushvalue(L, OBJECTS);
  else lua_pushboolean(L, false);
  lua_pushinteger(L, contents.positions);
  lua_pushboolean(L, contents.hasuserdata);
  lua_pushboolean(L, contents.count > length);
  return 8;
}

/* ---- Restoring ------------------------------------------------------------------------------- */

int clua_restorefields(lua_State *L) {
  lua_settop(L, 2);
  if (clua_pushnodeat(L, 1)) return 0;
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pushvalue(L, 3);
    lua_rawget(L, 2);
    // Assigning to an existing key allocates nothing, and `lua_next` allows it.
    lua_pushvalue(L, 3);
    lua_pushvalue(L, 5);
    if (!lua_rawequal(L, 4, 5)) lua_rawset(L, 1);
    lua_settop(L, 3);
  }
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    lua_pushvalue(L, 3);
    if (lua_rawget(L, 1) == LUA_TNIL) {
      lua_pushvalue(L, 3);
      lua_pushvalue(L, 4);
      lua_rawset(L, 1);
    }
    lua_settop(L, 3);
  }
  lua_pushboolean(L, true);
  return 1;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

int clua_differingkeys(lua_State *L) {
  lua_Integer length = lua_tointeger(L, 3), count = 0;
  lua_Integer limit = luaL_optinteger(L, 4, LUA_MAXINTEGER);
  lua_settop(L, 2);
  lua_newtable(L);
  clua_steps steps = {L, 0};
  lua_pushnil(L);
  while (count < limit && lua_next(L, 1)) {
    clua_step(&steps);
    if (!is_element(L, 4, length)) {
      lua_pushvalue(L, 4);
      lua_rawget(L, 2);
      if (!clua_same(L, 5, 6)) {
        lua_pushvalue(L, 4);
        lua_rawseti(L, 3, ++count);
      }
    }
    lua_settop(L, 4);
  }
  lua_settop(L, 3);
  lua_pushnil(L);
  while (count < limit && lua_next(L, 2)) {
    clua_step(&steps);
    if (!is_element(L, 4, length)) {
      lua_pushvalue(L, 4);
      if (lua_rawget(L, 1) == LUA_TNIL) {
        lua_pushvalue(L, 4);
        lua_rawseti(L, 3, ++count);
      }
    }
    lua_settop(L, 4);
  }
  lua_settop(L, 3);
  lua_pushinteger(L, count);
  return 2;
}

int clua_commonends(lua_State *L) {
  lua_Integer count = lua_tointeger(L, 2), other = lua_tointeger(L, 4);
  lua_Integer shorter = count < other ? count : other, head = 0, tail = 0;
  clua_steps steps = {L, 0};
  for (; tail < shorter; tail++) {
    clua_step(&steps);
    lua_settop(L, 4);
    lua_rawgeti(L, 1, count - tail);
    lua_rawgeti(L, 3, other - tail);
    if (!clua_same(L, 5, 6)) break;
  }
  for (; head < shorter - tail; head++) {
    clua_step(&steps);
    lua_settop(L, 4);
    lua_rawgeti(L, 1, head + 1);
    lua_rawgeti(L, 3, head + 1);
    if (!clua_same(L, 5, 6)) break;
  }
  lua_pushinteger(L, head);
  lua_pushinteger(L, tail);
  return 2;
}

int clua_commonvalues(lua_State *L) {
  lua_Integer count = (lua_Integer)lua_rawlen(L, 2), other = (lua_Integer)lua_rawlen(L, 4);
  lua_Integer shorter = count < other ? count : other, head = 0, tail = 0;
  clua_steps steps = {L, 0};
  for (int end = 0; end < 2; end++) {
    lua_Integer *found = end ? &tail : &head;
    for (; *found < shorter - (end ? head : 0); ++*found) {
      clua_step(&steps);
      lua_settop(L, 4);
      lua_rawgeti(L, 2, end ? count - tail : head + 1);
      lua_rawget(L, 1);
      lua_rawgeti(L, 4, end ? other - tail : head + 1);
      lua_rawget(L, 3);
      if (!lua_rawequal(L, 5, 6)) break;
    }
  }
  lua_pushinteger(L, head);
  lua_pushinteger(L, tail);
  return 2;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

int clua_extended(lua_State *L) {
  lua_settop(L, 2);
  // The list may belong to a script and be observed, so it is read with metamethods.
  lua_Integer count = luaL_len(L, 1);
  bool islonger = !lua_isnil(L, 2);
  lua_createtable(L, count < INT32_MAX ? (int)count + islonger : 0, 0);
  clua_steps steps = {L, 0};
  for (lua_Integer i = 1; i <= count; i++) {
    clua_step(&steps);
    lua_geti(L, 1, i);
    lua_rawseti(L, 3, i);
  }
  if (islonger) {
    lua_pushvalue(L, 2);
    lua_rawseti(L, 3, count + 1);
  }
  return 1;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

int clua_istableopaque(lua_State *L) {
  lua_pushboolean(L, lua_type(L, 1) == LUA_TTABLE && clua_isopaque(L, 1));
  return 1;
}
