#include "lists.h"
#include "clua_calls.h"
#include "clua_collections.h"
#include "clua_guard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Classes -------------------------------------------------------------------------------- */

/* Finds keys other than elements: methods and the count. Upvalues: the methods, "count". (store or
   collection, key) */
static int class_index(lua_State *L) {
  lua_settop(L, 2);
  if (lua_rawequal(L, 2, lua_upvalueindex(2))) {
    if (lua_type(L, 1) != LUA_TTABLE) return luaL_typeerror(L, 1, "collection");
    lua_pushinteger(L, (lua_Integer)clua_rawlen(L, 1));
    return 1;
  }
  lua_rawget(L, lua_upvalueindex(1));
  return 1;
}

void clua_collection_class(lua_State *L, clua_kind kind) {
  int methods = lua_gettop(L);
  clua_checkstack(L, 8, NULL);
  lua_createtable(L, 0, 4);
  clua_pushshared(L, CLUA_SHARED_CLASSES);
  lua_pushvalue(L, -2);
  lua_pushinteger(L, kind);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  if (kind != CLUA_KIND_DICTIONARY) {
    lua_pushvalue(L, methods);
    lua_pushliteral(L, "count");
    lua_pushcclosure(L, class_index, 2);
    lua_setfield(L, -2, "__index");
  }
  lua_replace(L, methods);
}

/* The kind of collection for the metatable at `index`. The kind is not stored in the metatable,
   where scripts could change it. The state's userdata is at `shared`; absolute. [-0, +0, -] */
static clua_kind class_kind(lua_State *L, int index, int shared) {
  lua_getiuservalue(L, shared, CLUA_SHARED_CLASSES);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  clua_kind kind = (clua_kind)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return kind;
}

void clua_learnkind(lua_State *L, clua_node *node, int user, int shared) {
  // The kind must not change while the node journals.
  if (clua_isstorefixed(node) || node->journaling) return;
  bool dictionary = lua_type(L, user) == LUA_TTABLE
      && class_kind(L, user, shared) == CLUA_KIND_DICTIONARY;
  node->kind = dictionary ? CLUA_KIND_DICTIONARY : CLUA_KIND_PLAIN;
  node->counting = false;
}

clua_kind clua_collection_kind(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return CLUA_KIND_PLAIN;
  clua_node *node = clua_pushnodeat(L, index);
  if (node) {
    lua_pop(L, 2);
    return (clua_kind)node->kind;
  }
  if (!lua_getmetatable(L, index)) return CLUA_KIND_PLAIN;
  clua_pushstate(L);
  clua_kind kind = class_kind(L, lua_gettop(L) - 1, lua_gettop(L));
  lua_pop(L, 2);
  // Arrays and sets have nodes, so this table only uses their metatable.
  return kind == CLUA_KIND_DICTIONARY ? kind : CLUA_KIND_PLAIN;
}

void clua_collection_make(lua_State *L) {
  int class = lua_gettop(L), table = class + 1;
  clua_checkstack(L, 20, NULL);
  clua_pushstate(L);
  clua_kind kind = class_kind(L, class, table);
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, class);
  lua_setmetatable(L, table);
  if (kind == CLUA_KIND_ARRAY || kind == CLUA_KIND_SET) clua_node_makekind(L, table, kind, 1);
  lua_replace(L, class);
}

/* ---- Size ----------------------------------------------------------------------------------- */

clua_kind clua_node_kind(const clua_node *node) { return (clua_kind)node->kind; }

/* The number of values of lazy keys in the store at `store`. [-0, +0, -] */
static lua_Integer count_lazies(lua_State *L, const clua_node *node, int userdata, int store) {
  if (node->lazies == 0) return 0;
  lua_Integer count = 0;
  for (int i = 0; i < node->count; i++) {
    if (!node->records[i].lazy) continue;
    clua_pushrecordkey(L, node, userdata, i + 1);
    if (lua_rawget(L, store) != LUA_TNIL) count++;
    lua_pop(L, 1);
  }
  return count;
}

bool clua_node_haslazies(const clua_node *node) { return node->lazies != 0; }

/* `#t` of the table at `table`, at most up to its first lazy key. [-0, +0, -] */
static lua_Integer count_elements(lua_State *L, int table, const clua_node *node) {
  lua_Unsigned length = clua_rawlen(L, table);
  lua_Integer limit = node ? clua_listlimit(node) : LUA_MAXINTEGER;
  return length < (lua_Unsigned)limit ? (lua_Integer)length : limit;
}

lua_Integer clua_node_elementcount(lua_State *L, clua_node *node) {
  int top = lua_gettop(L);
  if (!clua_pushnode(L, node)) return 0;
  lua_Integer count = count_elements(L, top + 1, node);
  lua_settop(L, top);
  return count;
}

int clua_elementcount(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  clua_node *node = clua_pushnodeat(L, 1);
  // Operators get the number of elements, and read each element separately.
  if (node) clua_noteread(L, node, CLUA_READ_COUNT);
  lua_pushinteger(L, count_elements(L, 1, node));
  return 1;
}

lua_Integer clua_node_size(lua_State *L, clua_node *node) {
  if (node->kind == CLUA_KIND_SET || node->counting) return node->size;
  int top = lua_gettop(L), table = top + 1;
  if (!clua_pushnode(L, node)) return 0;
  lua_Integer size = 0;
  if (node->kind != CLUA_KIND_DICTIONARY) {
    size = clua_node_elementcount(L, node);
  } else {
    // Keys that begin with `__` stay in the table, where their writes are not reported: they do not
    // count.
    lua_getiuservalue(L, table + 2, CLUA_NODE_STORE);
    lua_pushnil(L);
    while (lua_next(L, node->all ? table + 3 : table)) {
      lua_pop(L, 1);
      if (node->all || !clua_ismetakey(L, -1)) size++;
    }
    if (!node->all) {
      for (lua_pushnil(L); lua_next(L, table + 3); lua_pop(L, 1)) size++;
    }
    size -= count_lazies(L, node, table + 2, table + 3);
    if (node->all && node->every) {
      node->counting = true;
      node->size = size;
    }
  }
  lua_settop(L, top);
  return size;
}

/* ---- Constructors --------------------------------------------------------------------------- */

int clua_selferror(lua_State *L, int argument, const char *class) {
  return luaL_argerror(L, argument,
                       lua_pushfstring(L, "%s expected, got %s; call it with ':'", class,
                                       luaL_typename(L, argument)));
}

/* Calls the `__pairs` of the object at `index`; raises if it is not a list. [-0, +3, v] */
static void push_iteration(lua_State *L, int index, const char *expected) {
  if (lua_type(L, index) != LUA_TUSERDATA || luaL_getmetafield(L, index, "__pairs") == LUA_TNIL) {
    luaL_typeerror(L, index, expected);
  }
  lua_pushvalue(L, index);
  lua_call(L, 1, 3);
}

/* Continues the iteration at `first`; false at its end. [-0, +(2|0), v] */
static bool iterate(lua_State *L, int first) {
  lua_pushvalue(L, first);
  lua_pushvalue(L, first + 1);
  lua_pushvalue(L, first + 2);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) {
    lua_pop(L, 2);
    return false;
  }
  lua_pushvalue(L, -2);
  lua_replace(L, first + 2);
  return true;
}

/* Refuses a table that has keys but no elements: they would be lost. [-0, +0, v] */
static void check_elements(lua_State *L, int index) {
  int kind = clua_collection_kind(L, index), top = lua_gettop(L);
  if (kind == CLUA_KIND_ARRAY || kind == CLUA_KIND_SET || clua_rawlen(L, index) > 0) return;
  if (clua_getmetatable(L, index)) {
    lua_pushliteral(L, "__len");
    // A table with a length of its own has its elements elsewhere.
    bool has_length = clua_rawget(L, top + 1) != LUA_TNIL;
    lua_settop(L, top);
    if (has_length) return;
  }
  lua_pushnil(L);
  if (clua_next(L, index)) {
    const char *key = luaL_tolstring(L, top + 1, NULL);
    const char *text = lua_pushfstring(L, "list expected, got a table with the key '%s'", key);
    luaL_argerror(L, index, text);
  }
  lua_settop(L, top);
}

void clua_checklist(lua_State *L, int index) {
  clua_checkstack(L, 12, NULL);
  if (lua_type(L, index) == LUA_TTABLE) {
    check_elements(L, index);
    return;
  }
  push_iteration(L, index, "list");
  int first = lua_gettop(L) - 2;
  lua_newtable(L);
  clua_steps steps = {L, 0};
  for (lua_Integer count = 1; iterate(L, first); count++) {
    clua_step(&steps);
    lua_rawseti(L, first + 3, count);
    lua_pop(L, 1);
  }
  lua_replace(L, index);
  lua_settop(L, first - 1);
}

/* Leaves the only argument of a constructor; other arguments beside a table are an error. */
static void take_one(lua_State *L, const char *name) {
  if (lua_type(L, 1) == LUA_TTABLE) clua_refuserest(L, 1, 0, name);
  lua_settop(L, 1);
}

/* Upvalue: the class. */
static int array_new(lua_State *L) {
  take_one(L, "array");
  lua_pushvalue(L, lua_upvalueindex(1));
  clua_collection_make(L);
  if (lua_isnil(L, 1)) return 1;
  clua_checklist(L, 1);
  clua_pushnodeat(L, 2);
  lua_getiuservalue(L, 4, CLUA_NODE_STORE);
  lua_Integer length = luaL_len(L, 1);
  clua_steps steps = {L, 0};
  for (lua_Integer i = 1; i <= length; i++) {
    clua_step(&steps);
    if (lua_geti(L, 1, i) == LUA_TNIL) {
      return luaL_error(L, "the list has a hole at %I of %I", (LUAI_UACINT)i, (LUAI_UACINT)length);
    }
    lua_rawseti(L, 5, i);
  }
  lua_settop(L, 2);
  return 1;
}

static int dictionary_new(lua_State *L) {
  take_one(L, "dictionary");
  lua_pushvalue(L, lua_upvalueindex(1));
  clua_collection_make(L);
  if (lua_isnil(L, 1)) return 1;
  clua_steps steps = {L, 0};
  if (lua_type(L, 1) != LUA_TTABLE) {
    push_iteration(L, 1, "table");
    while (iterate(L, 3)) {
      clua_step(&steps);
      lua_rawset(L, 2);
    }
    lua_settop(L, 2);
    return 1;
  }
  lua_pushnil(L);
  while (clua_next(L, 1)) {
    clua_step(&steps);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 2);
  }
  return 1;
}

static bool is_nan(lua_State *L, int index) {
  return lua_type(L, index) == LUA_TNUMBER && lua_tonumber(L, index) != lua_tonumber(L, index);
}

/* Upvalue 2: `add` of sets. */
static int set_new(lua_State *L) {
  take_one(L, "set_of");
  lua_pushvalue(L, lua_upvalueindex(1));
  clua_collection_make(L);
  if (lua_isnil(L, 1)) return 1;
  clua_checklist(L, 1);
  clua_steps steps = {L, 0};
  if (clua_collection_kind(L, 1) == CLUA_KIND_SET) {
    lua_pushnil(L);
    while (clua_next(L, 1)) {
      clua_step(&steps);
      lua_pushvalue(L, lua_upvalueindex(2));
      lua_pushvalue(L, 2);
      lua_rotate(L, -3, -1);
      lua_call(L, 2, 0);
    }
    return 1;
  }
  lua_Integer length = luaL_len(L, 1);
  for (lua_Integer i = 1; i <= length; i++) {
    clua_step(&steps);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 2);
    bool missing = lua_geti(L, 1, i) == LUA_TNIL;
    if (missing || is_nan(L, -1)) {
      return luaL_error(L, "bad argument #1 to 'set_of' (a set has no place for %s)",
                        missing ? "nil" : "NaN");
    }
    lua_call(L, 2, 0);
  }
  return 1;
}

void clua_pushconstructors(lua_State *L) {
  int top = lua_gettop(L);
  clua_checkstack(L, 10, NULL);
  static const char *const names[] = {"obs.Array", "obs.Dictionary", "obs.Set"};
  static const clua_kind kinds[] = {CLUA_KIND_ARRAY, CLUA_KIND_DICTIONARY, CLUA_KIND_SET};
  static const lua_CFunction functions[] = {array_new, dictionary_new, set_new};
  for (int i = 0; i < 3; i++) {
    lua_newtable(L);
    if (kinds[i] == CLUA_KIND_ARRAY) luaL_setfuncs(L, clua_array_methods, 0);
    if (kinds[i] == CLUA_KIND_SET) luaL_setfuncs(L, clua_set_methods, 0);
    lua_pushvalue(L, -1);
    clua_collection_class(L, kinds[i]);
    lua_pushstring(L, names[i]);
    lua_setfield(L, -2, "__name");
    lua_getfield(L, -2, "add");
    lua_pushcclosure(L, functions[i], 2);
    lua_replace(L, top + 1 + i);
    lua_settop(L, top + 1 + i);
  }
}

/* ---- Names of members ----------------------------------------------------------------------- */

/* Pushes the tables object -> number and number -> object, both weak. The first holds the last
   number under `true`. [-0, +2, m] */
static void push_numbers(lua_State *L) {
  clua_pushsharedtable(L, CLUA_SHARED_NUMBERS, "k");
  clua_pushsharedtable(L, CLUA_SHARED_NUMBERED, "v");
}

void clua_pushmembername(lua_State *L) {
  int value = lua_gettop(L);
  clua_checkstack(L, 10, NULL);
  switch (lua_type(L, value)) {
  case LUA_TSTRING:
    lua_pushliteral(L, "'");
    lua_pushvalue(L, value);
    lua_concat(L, 2);
    break;
  case LUA_TNUMBER: {
    int exact;
    lua_Integer integer = lua_tointegerx(L, value, &exact);
    if (exact) {
      lua_pushfstring(L, "%I", (LUAI_UACINT)integer);
      break;
    }
    char text[40];
    int length = snprintf(text, sizeof text, "%.17g", lua_tonumber(L, value));
    lua_pushlstring(L, text, (size_t)length);
    break;
  }
  case LUA_TBOOLEAN:
    lua_pushstring(L, lua_toboolean(L, value) ? "true" : "false");
    break;
  case LUA_TNIL:
    lua_pushliteral(L, "nil");
    break;
  default: {
    push_numbers(L);
    lua_pushvalue(L, value);
    if (lua_rawget(L, value + 1) != LUA_TNUMBER) {
      lua_pop(L, 1);
      lua_pushboolean(L, true);
      lua_rawget(L, value + 1);
      lua_Integer number = lua_tointeger(L, -1) + 1;
      lua_pop(L, 1);
      lua_pushvalue(L, value);
      lua_rawseti(L, value + 2, number);
      lua_pushvalue(L, value);
      lua_pushinteger(L, number);
      lua_rawset(L, value + 1);
      lua_pushboolean(L, true);
      lua_pushinteger(L, number);
      lua_rawset(L, value + 1);
      lua_pushinteger(L, number);
    }
    lua_pushfstring(L, "%s:%I", luaL_typename(L, value), (LUAI_UACINT)lua_tointeger(L, -1));
    break;
  }
  }
  lua_replace(L, value);
  lua_settop(L, value);
}

void clua_pushnamedmember(lua_State *L) {
  int name = lua_gettop(L);
  size_t length;
  const char *text = lua_tolstring(L, name, &length);
  clua_checkstack(L, 10, NULL);
  const char *colon = text ? memchr(text, ':', length) : NULL;
  if (!text || length == 0) {
    lua_pushnil(L);
  } else if (text[0] == '\'') {
    lua_pushlstring(L, text + 1, length - 1);
  } else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
    lua_pushboolean(L, text[0] == 't');
  } else if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
    lua_pushnumber(L, text[0] == '-' ? -HUGE_VAL : HUGE_VAL);
  } else if (colon) {
    push_numbers(L);
    if (lua_stringtonumber(L, colon + 1) == 0) lua_pushnil(L);
    if (lua_isinteger(L, -1)) lua_rawgeti(L, name + 2, lua_tointeger(L, -1));
    // The type is part of the name.
    bool right = strncmp(luaL_typename(L, -1), text, (size_t)(colon - text)) == 0 &&
                 strlen(luaL_typename(L, -1)) == (size_t)(colon - text);
    if (!right) lua_pushnil(L);
  } else if (lua_stringtonumber(L, text) != length + 1) {
    lua_pushnil(L);
  }
  lua_replace(L, name);
  lua_settop(L, name);
}
