#include "lists.h"
#include "clua_collections.h"
#include "clua_guard.h"
#include "clua_modules.h"

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

/* Whether the table at an index has the value at another one as a key. [-0, +0, -] */
static bool has(lua_State *L, int table, int value) {
  lua_pushvalue(L, value);
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

/* Whether the key at an index is no object: tables under objects count as values (X4). */
static bool is_name(lua_State *L, int key) {
  int type = lua_type(L, key);
  return type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN;
}

/* Whether the value at -1 may be an object in which changes are observed; notes any userdata.
   [-0, +0, -] */
static bool may_be_object(lua_State *L, clua_contents *contents) {
  int type = lua_type(L, -1);
  if (type == LUA_TUSERDATA) return contents->hasuserdata = true;
  return type == LUA_TTABLE && !(contents->hasopaque && has(L, OPAQUE, -1));
}

/* Adds the key at -2 and the value at -1. [-1, +0, m] */
static void add(lua_State *L, clua_contents *contents) {
  clua_step(&contents->steps);
  if (contents->hastools && lua_type(L, -1) == LUA_TTABLE && has(L, TOOLS, -1)) {
    lua_pop(L, 1);
    return;
  }
  int key = lua_gettop(L) - 1;
  contents->count++;
  if (is_whole(L, key)) contents->whole++;
  if (is_name(L, key) && may_be_object(L, contents)) {
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

int clua_trackcontents(lua_State *L) {
  lua_settop(L, 1);
  clua_node *node = clua_istracking(L) ? clua_pushnodeat(L, 1) : NULL;
  if (!node || !clua_isopened(node)) return 0;
  clua_noteread(L, node, CLUA_READ_EVERY);
  lua_getiuservalue(L, 3, CLUA_NODE_STORE);
  clua_steps steps = {L, 0};
  for (lua_pushnil(L); lua_next(L, 4); lua_pop(L, 1)) {
    clua_step(&steps);
    clua_track(L, 6);
  }
  return 0;
}

/* ---- Copying --------------------------------------------------------------------------------- */

/* The most entries of a table that is copied with its parent. */
enum { FEW = 32 };

/* Whether the table at an index is an instance of a model. [-0, +0, -] */
static bool is_instance(lua_State *L, int table) {
  int top = lua_gettop(L);
  clua_pushshared(L, CLUA_SHARED_MODELS);
  bool found = lua_istable(L, -1) && clua_getmetatable(L, table) && has(L, top + 1, top + 2);
  lua_settop(L, top);
  return found;
}

/* Pushes a copy of the table at an index if it has no metatable, few entries, and no table in it.
   [-0, +any, m] */
static bool push_flat(lua_State *L, int table) {
  int top = lua_gettop(L), entries = 0, length = (int)lua_rawlen(L, table);
  if (lua_getmetatable(L, table)) return false;
  lua_pushnil(L);
  for (; lua_next(L, table); lua_pushvalue(L, -2)) {
    if (lua_istable(L, -1) || lua_istable(L, -2) || ++entries > FEW) return false;
  }
  lua_createtable(L, length < entries ? length : entries, length < entries ? entries - length : 0);
  lua_insert(L, top + 1);
  while (lua_gettop(L) > top + 1) lua_rawset(L, top + 1);
  return true;
}

int clua_copytables(lua_State *L) {
  enum { COPIES = 1, LIST, FROM, TO, KEY };
  clua_steps steps = {L, 0};
  lua_settop(L, LIST);
  clua_checkstack(L, 24 + 2 * FEW, NULL);
  for (lua_Integer count = (lua_Integer)lua_rawlen(L, LIST); count > 0;) {
    lua_settop(L, LIST);
    lua_rawgeti(L, LIST, count);
    lua_pushnil(L);
    lua_rawseti(L, LIST, count--);
    clua_node *node = clua_pushnodeat(L, FROM);
    if (node) clua_absorb(L, node, FROM, FROM + 2, clua_writeheard);
    lua_settop(L, FROM);
    if ((node && (node->lazies || clua_istracking(L))) || is_instance(L, FROM)) return 1;
    lua_pushvalue(L, FROM);
    lua_rawget(L, COPIES);
    lua_pushnil(L);
    while (node ? clua_next(L, FROM) : lua_next(L, FROM)) {
      clua_step(&steps);
      // A key may be a table, too.
      for (int value = KEY; value <= KEY + 1; value++) {
        lua_pushvalue(L, value);
        if (!lua_istable(L, value) || lua_rawget(L, COPIES) != LUA_TNIL) continue;
        lua_settop(L, value + 1);
        if (!push_flat(L, value)) {
          lua_settop(L, value + 1);
          lua_createtable(L, (int)lua_rawlen(L, value), 0);
          lua_pushvalue(L, value);
          lua_rawseti(L, LIST, ++count);
        }
        lua_pushvalue(L, value);
        lua_pushvalue(L, value + 2);
        lua_rawset(L, COPIES);
      }
      lua_rawset(L, TO);
      lua_settop(L, KEY);
    }
  }
  return 0;
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

/* ---- Comparing trees ------------------------------------------------------------------------- */

/* Stack indices: after the arguments the partners of tables of the first tree, tables of the second
   one that are partners, tables to be compared with their partners, and a pair that is compared. */
enum { LEFT_OUT = 3, IS_DATA, PARTNERS, TAKEN, WAITING, X, Y };

typedef struct clua_comparison {
  clua_steps steps;
  lua_Integer waiting;
} clua_comparison;

/* Makes tables partners, unless one of them has another partner. The first call makes the roots
   partners, too. [-0, +any, m] */
static bool pair(lua_State *L, clua_comparison *comparison, int x, int y) {
  if (lua_isnil(L, PARTNERS)) {
    for (int i = PARTNERS; i <= WAITING; i++) {
      lua_newtable(L);
      lua_replace(L, i);
    }
    pair(L, comparison, 1, 2);
    comparison->waiting = 0;
  }
  lua_pushvalue(L, x);
  if (lua_rawget(L, PARTNERS) != LUA_TNIL) return lua_rawequal(L, -1, y);
  if (has(L, TAKEN, y)) return false;
  lua_pushvalue(L, x);
  lua_pushvalue(L, y);
  lua_rawset(L, PARTNERS);
  lua_pushvalue(L, y);
  lua_pushboolean(L, true);
  lua_rawset(L, TAKEN);
  lua_pushvalue(L, x);
  lua_rawseti(L, WAITING, ++comparison->waiting);
  return true;
}

/* Whether the tables at X and Y are of the same kind, and trees continue below them. Data may be a
   plain table instead, unless the other table is a set. [-0, +any, -] */
static bool are_of_one_kind(lua_State *L) {
  if (clua_isopaque(L, X) || clua_isopaque(L, Y)) return false;
  if (!lua_getmetatable(L, X) && !lua_getmetatable(L, Y)) return true;
  lua_settop(L, Y);
  bool is_data = lua_toboolean(L, IS_DATA);
  clua_kind kind = clua_collection_kind(L, X), other = clua_collection_kind(L, Y);
  is_data = is_data && kind != CLUA_KIND_SET && other == CLUA_KIND_PLAIN;
  if ((kind != other && !is_data) || has(L, LEFT_OUT, X) || has(L, LEFT_OUT, Y)) return false;
  if (!is_instance(L, Y) && (is_data || !is_instance(L, X))) return true;
  return clua_getmetatable(L, X) && clua_getmetatable(L, Y) && lua_rawequal(L, -1, -2);
}

/* Whether the key at `key` is lazy. [-0, +0, -] */
static bool is_lazy(lua_State *L, clua_node *node, int userdata, int key) {
  if (!node || node->lazies == 0) return false;
  clua_record *record = clua_record_of(L, node, userdata, key);
  return record && record->lazy;
}

/* The number of entries that are not lazy in the table at an index, X or Y; for X, -1 if one of
   them is not in the table at Y, or is lazy there. Tables in both become partners. [-0, +any, e] */
static lua_Integer count_entries(lua_State *L, clua_comparison *comparison, int table) {
  lua_Integer count = 0;
  lua_settop(L, Y);
  clua_node *partner = clua_pushnodeat(L, Y);
  int partners = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  int userdata = lua_gettop(L);
  if (node) {
    clua_absorb(L, node, table, userdata, clua_writeheard);
    lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  }
  bool is_set = node && node->kind == CLUA_KIND_SET;
  int key = lua_gettop(L) + 1, value = key + 1, other = key + 2;
  for (int part = node ? userdata + 1 : table;; part = table) {
    lua_pushnil(L);
    for (; lua_next(L, part); lua_settop(L, key)) {
      clua_step(&comparison->steps);
      if (is_lazy(L, node, userdata, key)) continue;
      count++;
      if (table == Y) continue;
      if (is_lazy(L, partner, partners, key)) return -1;
      lua_pushvalue(L, key);
      clua_rawget(L, Y);
      bool is_tree = lua_istable(L, value) && !is_set && is_name(L, key);
      // The general comparison knows objects of the host program.
      if (lua_type(L, value) == LUA_TUSERDATA) return -1;
      if (is_tree && !lua_istable(L, other)) return -1;
      if (!(is_tree ? pair(L, comparison, value, other) : clua_same(L, value, other))) return -1;
    }
    if (part == table) return count;
  }
}

int clua_arealike(lua_State *L) {
  lua_settop(L, IS_DATA);
  clua_checkstack(L, 24, NULL);
  if (clua_isunheard()) clua_hear(L);
  clua_comparison comparison = {{L, 0}, 0};
  lua_settop(L, WAITING);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  // The reads of a tracked getter have to be noted.
  bool are_alike = !clua_istracking(L) && lua_istable(L, 1) && lua_istable(L, 2);
  while (are_alike) {
    are_alike = are_of_one_kind(L)
      && count_entries(L, &comparison, X) == count_entries(L, &comparison, Y);
    if (comparison.waiting == 0) break;
    lua_settop(L, WAITING);
    lua_rawgeti(L, WAITING, comparison.waiting--);
    lua_pushvalue(L, X);
    lua_rawget(L, PARTNERS);
  }
  lua_pushboolean(L, are_alike);
  return 1;
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

int clua_followkeys(lua_State *L) {
  lua_settop(L, 3);
  if (clua_isunheard()) clua_hear(L);
  lua_Integer count = clua_istracking(L) ? 0 : lua_tointeger(L, 3), step = 0;
  for (; step < count && lua_istable(L, 1); step++) {
    lua_settop(L, 3);
    lua_rawgeti(L, 2, step + 1);
    clua_node *node = clua_pushnodeat(L, 1);
    if (node) {
      if (node->kind == CLUA_KIND_ARRAY || node->kind == CLUA_KIND_SET) break;
      // A value that C code wrote beside the store has to be moved there first.
      lua_pushvalue(L, 4);
      if (clua_isstored(L, node, 6, 4) && lua_rawget(L, 1) != LUA_TNIL) break;
      lua_settop(L, 4);
    }
    if (clua_rawget(L, 1) == LUA_TNIL && lua_getmetatable(L, 1)) break;
    lua_replace(L, 1);
  }
  lua_settop(L, 1);
  lua_pushinteger(L, step + 1);
  return 2;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

int clua_istableopaque(lua_State *L) {
  lua_pushboolean(L, lua_type(L, 1) == LUA_TTABLE && clua_isopaque(L, 1));
  return 1;
}
