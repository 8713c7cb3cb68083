#include "observed_internal.h"

#include <string.h>

const char clua_node_key = 0, clua_shared_key = 0, clua_tables_key = 0;

/* ---- Shared state --------------------------------------------------------------------------- */

clua_shared *clua_shared_of(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_shared_key);
  clua_shared *shared = (clua_shared *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return shared;
}

void clua_pushshared(lua_State *L, int which) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_shared_key);
  lua_getiuservalue(L, -1, which);
  lua_replace(L, -2);
}

/* ---- Nodes: life ---------------------------------------------------------------------------- */

static void link_node(clua_node *node, clua_shared *shared) {
  node->next = shared->nodes;
  node->previous = &shared->nodes;
  if (node->next) node->next->previous = &node->next;
  shared->nodes = node;
}

static void unlink_node(clua_node *node) {
  if (!node->previous) return;
  *node->previous = node->next;
  if (node->next) node->next->previous = node->previous;
  node->previous = NULL;
  node->next = NULL;
}

/* Nobody is told of anything any more; reads and writes of what survived go on working. The node's
   user value is on top of the stack. */
static void end_node(lua_State *L, clua_node *node) {
  void *owner = node->owner;
  clua_shared *shared = node->shared;
  node->ended = true;
  node->owner = NULL;
  node->every = NULL;
  for (int i = 0; i < node->count; i++) node->records[i].slot = NULL;
  node->positives = 0;
  while (node->dependents) clua_unwatchmetatable(node->dependents);
  clua_unwatchmetatable(node);
  unlink_node(node);
  if (owner && shared->observation.ended) {
    shared->observation.ended(shared->observation.context, L, node, owner);
  }
}

static int node_gc(lua_State *L) {
  clua_node *node = (clua_node *)lua_touserdata(L, 1);
  if (node->ended) return 0;
  if (!node->rearmed && lua_getiuservalue(L, 1, CLUA_NODE_METATABLE) == LUA_TTABLE) {
    // The table's own finalizer runs after this one, and may bring the table back.
    lua_pushstring(L, clua_events[CLUA_EVENT_GC]);
    if (lua_rawget(L, -2) == LUA_TFUNCTION) {
      node->rearmed = true;
      lua_getmetatable(L, 1);
      lua_setmetatable(L, 1);
      return 0;
    }
  }
  lua_getiuservalue(L, 1, CLUA_NODE_VALUE);
  end_node(L, node);
  return 0;
}

/* At close this finalizer is the last: it ends the nodes that wait for a second visit in vain. */
static int shared_gc(lua_State *L) {
  clua_shared *shared = (clua_shared *)lua_touserdata(L, 1);
  lua_pushnil(L);
  while (shared->nodes) end_node(L, shared->nodes);
  return 0;
}

static void remember_table(lua_State *L, clua_node *node, int table) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_tables_key);
  lua_pushvalue(L, table);
  lua_rawsetp(L, -2, node);
  lua_pop(L, 1);
}

clua_node *clua_node_at(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return NULL;
  clua_node *node = clua_pushnodeat(L, index);
  if (!node) return NULL;
  lua_pop(L, 2);
  return node->ended ? NULL : node;
}

clua_node *clua_node_make(lua_State *L, int index) {
  int table = lua_absindex(L, index), top = lua_gettop(L);
  luaL_checkstack(L, 20, NULL);
  clua_node *node = clua_pushnodeat(L, table);
  if (node) {
    if (node->ended) {
      // The table outlived its finalization.
      clua_pushshared(L, CLUA_SHARED_NODE_METATABLE);
      lua_setmetatable(L, top + 2);
      remember_table(L, node, table);
      node->ended = false;
      node->rearmed = false;
      link_node(node, node->shared);
      clua_watchmetatable(L, node, top + 2);
    }
    lua_settop(L, top);
    return node;
  }
  clua_shared *shared = clua_shared_of(L);
  if (!lua_getmetatable(L, table)) lua_pushnil(L);
  int user = top + 1, userdata = top + 2, metatable = top + 3;
  node = (clua_node *)lua_newuserdatauv(L, sizeof *node, CLUA_NODE_USERVALUES);
  memset(node, 0, sizeof *node);
  node->shared = shared;
  node->records = node->inlined;
  node->capacity = CLUA_RECORDS_INLINE;
  node->ended = true;  // until everything is there: an error on the way leaves nothing behind
  lua_pushvalue(L, user);
  lua_setiuservalue(L, userdata, CLUA_NODE_METATABLE);
  lua_newtable(L);
  lua_setiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_createtable(L, 0, 4);
  lua_pushvalue(L, userdata);
  lua_rawsetp(L, metatable, &clua_node_key);
  remember_table(L, node, table);
  clua_fill(L, node, table, metatable, userdata, false);
  clua_pushshared(L, CLUA_SHARED_NODE_METATABLE);
  lua_setmetatable(L, userdata);
  link_node(node, shared);
  node->ended = false;
  shared->active = true;
  clua_watchmetatable(L, node, userdata);
  lua_settop(L, top);
  return node;
}

bool clua_pushnode(lua_State *L, clua_node *node) {
  clua_node_pushtable(L, node);
  if (lua_type(L, -1) == LUA_TTABLE && clua_pushnodeat(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

void clua_node_pushtable(lua_State *L, clua_node *node) {
  if (node->ended) {
    lua_pushnil(L);
    return;
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_tables_key);
  lua_rawgetp(L, -1, node);
  lua_remove(L, -2);
}

void clua_node_pushuservalue(lua_State *L, clua_node *node) {
  if (!clua_pushnode(L, node)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, -1, CLUA_NODE_VALUE);
  lua_replace(L, -4);
  lua_pop(L, 2);
}

void clua_node_pushvalueat(lua_State *L, int index) {
  // Behind the metatable's only array element: nearer than the node's user value.
  if (!lua_getmetatable(L, index)) {
    lua_pushnil(L);
    return;
  }
  lua_rawgeti(L, -1, 1);
  lua_replace(L, -2);
}

void clua_node_setuservalue(lua_State *L, clua_node *node) {
  if (!clua_pushnode(L, node)) {
    lua_pop(L, 1);
    return;
  }
  lua_pushvalue(L, -4);
  lua_setiuservalue(L, -2, CLUA_NODE_VALUE);
  lua_pushvalue(L, -4);
  lua_rawseti(L, -3, 1);
  lua_pop(L, 4);
}

void *clua_node_owner(const clua_node *node) { return node->owner; }
void clua_node_setowner(clua_node *node, void *owner) { node->owner = owner; }

/* ---- Records -------------------------------------------------------------------------------- */

static clua_record *record_by_value(lua_State *L, clua_node *node, int userdata, int key) {
  if (!node->indexed) return NULL;
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  int place = (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return place ? &node->records[place - 1] : NULL;
}

static inline bool told_by_value(lua_State *L, int type, int key) {
  return type == LUA_TNUMBER || type == LUA_TBOOLEAN ||
         (type == LUA_TSTRING && lua_rawlen(L, key) > CLUA_SHORT_STRING);
}

clua_record *clua_record_of(lua_State *L, clua_node *node, int userdata, int key) {
  int count = node->count;
  if (count == 0) return NULL;
  if (count > CLUA_RECORDS_LINEAR) return record_by_value(L, node, userdata, key);
  // Short strings are interned: the same name is the same object.
  const void *pointer = lua_topointer(L, key);
  if (pointer) {
    clua_record *record = node->records, *end = record + count;
    for (; record < end; record++) {
      if (record->pointer == pointer && record->type == lua_type(L, key)) return record;
    }
  }
  if (!told_by_value(L, lua_type(L, key), key)) return NULL;
  return record_by_value(L, node, userdata, key);
}

static bool is_positive_integer(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TNUMBER) return false;
  int exact;
  lua_Integer value = lua_tointegerx(L, key, &exact);
  return exact && value > 0;
}

/* Makes the two maps that serve where a scan does not. [-0, +0, m] */
static void index_records(lua_State *L, clua_node *node, int userdata) {
  if (node->indexed) return;
  lua_newtable(L);
  lua_newtable(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  for (int i = 0; i < node->count; i++) {
    lua_rawgeti(L, -1, i + 1);
    lua_pushinteger(L, i + 1);
    lua_rawset(L, -5);
    if (node->records[i].slot) {
      lua_pushinteger(L, i + 1);
      lua_rawsetp(L, -3, node->records[i].slot);
    }
  }
  lua_pop(L, 1);
  lua_setiuservalue(L, userdata, CLUA_NODE_SLOTS);
  lua_setiuservalue(L, userdata, CLUA_NODE_PLACES);
  node->indexed = true;
}

/* Appends a record whose slot is not set yet; it counts only once `count` is raised. [-0, +0, m] */
static clua_record *prepare_record(lua_State *L, clua_node *node, int userdata, int key) {
  if (node->count == node->capacity) {
    // The block is a userdata, so that it lives as long as the node and those who write to it.
    size_t old = (size_t)node->capacity * sizeof(clua_record);
    clua_record *records = (clua_record *)lua_newuserdatauv(L, old * 2, 0);
    memcpy(records, node->records, old);
    lua_setiuservalue(L, userdata, CLUA_NODE_RECORDS);
    node->records = records;
    node->capacity *= 2;
  }
  if (lua_getiuservalue(L, userdata, CLUA_NODE_KEYS) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
  }
  lua_pushvalue(L, key);
  lua_rawseti(L, -2, node->count + 1);
  lua_pop(L, 1);
  int type = lua_type(L, key);
  bool value = told_by_value(L, type, key);
  if (value || node->count >= CLUA_RECORDS_LINEAR) index_records(L, node, userdata);
  if (node->indexed) {
    lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
    lua_pushvalue(L, key);
    lua_pushinteger(L, node->count + 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  clua_record *record = &node->records[node->count];
  record->pointer = value ? NULL : lua_topointer(L, key);
  record->slot = NULL;
  record->type = type;
  record->positive = is_positive_integer(L, key);
  return record;
}

/* [-0, +0, -] */
static void drop_record(lua_State *L, clua_node *node, int userdata, int place) {
  int last = node->count;
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  if (!node->indexed) {
    if (place != last) {
      node->records[place - 1] = node->records[last - 1];
      lua_rawgeti(L, -1, last);
      lua_rawseti(L, -2, place);
    }
    lua_pushnil(L);
    lua_rawseti(L, -2, last);
    node->count--;
    lua_pop(L, 1);
    return;
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_getiuservalue(L, userdata, CLUA_NODE_SLOTS);
  // Only fields that exist already are set, which needs no memory.
  lua_rawgeti(L, -3, place);
  lua_pushnil(L);
  lua_rawset(L, -4);
  if (place != last) {
    node->records[place - 1] = node->records[last - 1];
    lua_rawgeti(L, -3, last);
    lua_pushvalue(L, -1);
    lua_pushinteger(L, place);
    lua_rawset(L, -5);
    if (node->records[place - 1].slot) {
      lua_pushinteger(L, place);
      lua_rawsetp(L, -3, node->records[place - 1].slot);
    }
    lua_rawseti(L, -4, place);
  }
  lua_pushnil(L);
  lua_rawseti(L, -4, last);
  node->count--;
  lua_pop(L, 3);
}

static int place_of_slot(lua_State *L, clua_node *node, const clua_slot *slot) {
  if (node->count > CLUA_RECORDS_LINEAR && clua_pushnode(L, node)) {
    lua_getiuservalue(L, -1, CLUA_NODE_SLOTS);
    lua_rawgetp(L, -1, slot);
    int place = (int)lua_tointeger(L, -1);
    lua_pop(L, 5);
    return place;
  }
  for (int i = 0; i < node->count; i++) {
    if (node->records[i].slot == slot) return i + 1;
  }
  return 0;
}

clua_slot *clua_node_slot(lua_State *L, clua_node *node, int key) {
  key = lua_absindex(L, key);
  if (node->count == 0) return NULL;
  if (!node->indexed) {
    // No key is told by value then: the node itself isn't needed.
    clua_record *record = clua_record_of(L, node, 0, key);
    return record ? record->slot : NULL;
  }
  if (!clua_pushnode(L, node)) return NULL;
  clua_record *record = clua_record_of(L, node, lua_gettop(L), key);
  lua_pop(L, 3);
  return record ? record->slot : NULL;
}

void clua_node_pushkey(lua_State *L, clua_node *node, const clua_slot *slot) {
  int place = slot ? place_of_slot(L, node, slot) : 0;
  if (!place || !clua_pushnode(L, node)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, -1, CLUA_NODE_KEYS);
  lua_rawgeti(L, -1, place);
  lua_replace(L, -5);
  lua_pop(L, 3);
}

/* ---- Watching ------------------------------------------------------------------------------- */

/* Appends the key on top to an order. [-1, +0, m] */
static void append(lua_State *L, int order, int positions, lua_Integer *ordered) {
  lua_pushvalue(L, -1);
  lua_rawseti(L, order, ++*ordered);
  lua_pushinteger(L, *ordered);
  lua_rawset(L, positions);
}

/* Copies what a loop over places would miss, so that no value is lost with a place. [-0, +0, m] */
static void move_rest(lua_State *L, int table, int userdata, int store) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  for (int from = 0; from < 2; from++) {
    lua_pushnil(L);
    while (lua_next(L, from ? top + 1 : table)) {
      lua_pushvalue(L, -2);
      if (clua_ismetakey(L, -1) || lua_rawget(L, store) != LUA_TNIL) {
        lua_pop(L, 2);
        continue;
      }
      lua_pop(L, 1);
      lua_pushvalue(L, -2);
      lua_insert(L, -2);
      lua_rawset(L, store);
    }
  }
  lua_settop(L, top);
}

/* Moves all keys but `__…` into a new store that has room for them. `removed` is a key without a
   value that a loop may stand at, or 0. [-0, +0, m] */
static void move_all(lua_State *L, clua_node *node, int table, int metatable, int userdata,
                     int removed) {
  int top = lua_gettop(L), store = top + 1, order = top + 2, positions = top + 3, after = top + 4;
  lua_Unsigned length = lua_rawlen(L, table);
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  // The order of the keys after the list part is kept, for loops that are under way.
  bool ordering = node->shared->traversed;
  lua_settop(L, after);
  if (ordering) {
    // Weak: a removed key shall not live on for its place.
    for (int i = order; i <= positions; i++) {
      lua_newtable(L);
      clua_pushshared(L, CLUA_SHARED_WEAK);
      lua_setmetatable(L, -2);
      lua_replace(L, i);
    }
    if (!removed || !clua_successor(L, table, removed)) removed = 0;
    else lua_replace(L, after);
  }
  lua_Integer prefix = 0, ordered = 0;
  bool list = true;
  bool whole = !node->chained && node->count == 0;  // nothing is in the old store
  lua_pushnil(L);
  while (whole ? lua_next(L, table) : clua_nodenext(L, node, table, userdata)) {
    if (ordering && removed && lua_rawequal(L, -2, after)) {
      lua_pushvalue(L, removed);
      append(L, order, positions, &ordered);
      removed = 0;
      list = false;
    }
    if (list && lua_isinteger(L, -2) && lua_tointeger(L, -2) == prefix + 1) {
      lua_rawseti(L, store, ++prefix);
      continue;
    } else {
      list = false;
      if (ordering) {
        lua_pushvalue(L, -2);
        append(L, order, positions, &ordered);
      }
      if (clua_ismetakey(L, -2)) {
        lua_pop(L, 1);
        continue;
      }
    }
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, store);
  }
  if (node->chained) move_rest(L, table, userdata, store);
  if (ordering && removed) {
    lua_pushvalue(L, removed);
    append(L, order, positions, &ordered);
  }
  lua_pushstring(L, clua_events[CLUA_EVENT_LEN]);
  if (lua_pushvalue(L, -1), lua_rawget(L, metatable) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, store);
    lua_pushcclosure(L, clua_storelength, 1);
    lua_rawset(L, metatable);
  } else {
    lua_pop(L, 2);
  }
  // From here on nothing needs memory, up to the dummy key.
  if (lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE) == LUA_TTABLE) {
    clua_setunmarked(L, store);
  } else {
    lua_pop(L, 1);
  }
  lua_pushvalue(L, store);
  lua_setiuservalue(L, userdata, CLUA_NODE_STORE);
  if (!node->userindex) {
    lua_pushstring(L, "__index");
    lua_pushvalue(L, store);
    lua_rawset(L, metatable);
  }
  lua_pushstring(L, "__newindex");
  lua_rawget(L, metatable);
  if (lua_tocfunction(L, -1) == clua_storenewindex) {
    lua_pushvalue(L, store);
    lua_setupvalue(L, -2, 2);
  }
  clua_forgetplaces(L, node, userdata);
  if (ordering) {
    node->prefix = prefix;
    node->ordered = ordered;
    lua_pushvalue(L, order);
    lua_setiuservalue(L, userdata, CLUA_NODE_ORDER);
    lua_pushvalue(L, positions);
    lua_setiuservalue(L, userdata, CLUA_NODE_POSITIONS);
  }
  node->all = true;
  bool emptied = length > 0;
  for (lua_Unsigned i = 1; i <= length; i++) {
    lua_pushnil(L);
    lua_rawseti(L, table, (lua_Integer)i);
  }
  lua_pushnil(L);
  while (lua_next(L, table)) {
    lua_pop(L, 1);
    if (clua_ismetakey(L, -1)) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, table);
    emptied = true;
  }
  if (emptied && length > 0) {
    // A new key makes Lua resize the table, which frees the list part.
    lua_pushboolean(L, true);
    lua_rawsetp(L, table, &clua_node_key);
    lua_pushnil(L);
    lua_rawsetp(L, table, &clua_node_key);
  }
  lua_settop(L, top);
}

void clua_node_watch(lua_State *L, clua_node *node, int key, clua_slot *slot) {
  key = lua_absindex(L, key);
  int top = lua_gettop(L);
  luaL_checkstack(L, 24, NULL);
  if (!clua_pushnode(L, node)) return;
  int table = top + 1, metatable = top + 2, userdata = top + 3;
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (!record) {
    bool positive = is_positive_integer(L, key);
    if (positive && !node->all) {
      lua_pushvalue(L, key);
      bool present = lua_rawget(L, table) != LUA_TNIL;
      lua_settop(L, userdata);
      move_all(L, node, table, metatable, userdata, present ? 0 : key);
    }
    record = prepare_record(L, node, userdata, key);
    if (!node->all) {
      lua_pushvalue(L, key);
      bool present = lua_rawget(L, table) != LUA_TNIL;
      if (node->shared->traversed) clua_keepplace(L, node, table, userdata, key);
      if (present) {
        lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
        lua_pushvalue(L, key);
        lua_pushvalue(L, -3);
        lua_rawset(L, -3);
        lua_pushvalue(L, key);
        lua_pushnil(L);
        lua_rawset(L, table);
      }
    }
    node->count++;
  }
  if (node->indexed) {
    lua_getiuservalue(L, userdata, CLUA_NODE_SLOTS);
    lua_pushinteger(L, record - node->records + 1);
    lua_rawsetp(L, -2, slot);
  }
  if (record->positive && !record->slot) node->positives++;
  record->slot = slot;
  lua_settop(L, top);
}

void clua_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot) {
  int top = lua_gettop(L);
  luaL_checkstack(L, 24, NULL);
  if (!clua_pushnode(L, node)) return;
  if (!node->all) move_all(L, node, top + 1, top + 2, top + 3, 0);
  node->every = slot;
  lua_settop(L, top);
}

void clua_node_unwatch(lua_State *L, clua_node *node, clua_slot *slot) {
  if (node->every == slot) {
    node->every = NULL;
    return;
  }
  int place = place_of_slot(L, node, slot);
  if (!place) return;
  if (node->records[place - 1].positive) node->positives--;
  node->records[place - 1].slot = NULL;
  if (!node->indexed || !clua_pushnode(L, node)) return;
  lua_getiuservalue(L, -1, CLUA_NODE_SLOTS);
  lua_pushnil(L);
  lua_rawsetp(L, -2, slot);
  lua_pop(L, 4);
}

/* ---- Settling ------------------------------------------------------------------------------- */

/* Copies the value under the key at `key` from the store to the table, then takes it out of the
   store. [-0, +0, m] */
static void move_back(lua_State *L, int table, int store, int key) {
  lua_pushvalue(L, key);
  if (lua_rawget(L, store) != LUA_TNIL) {
    lua_pushvalue(L, key);
    lua_insert(L, -2);
    lua_rawset(L, table);
    lua_pushvalue(L, key);
    lua_pushnil(L);
    lua_rawset(L, store);
  } else {
    lua_pop(L, 1);
  }
}

static void move_all_back(lua_State *L, clua_node *node, int table, int metatable, int userdata,
                          int store) {
  // In ascending order the list part grows by doubling.
  lua_Unsigned length = lua_rawlen(L, store);
  for (lua_Unsigned i = 1; i <= length; i++) {
    if (lua_rawgeti(L, store, (lua_Integer)i) == LUA_TNIL) {
      lua_pop(L, 1);
      continue;
    }
    lua_rawseti(L, table, (lua_Integer)i);
    lua_pushnil(L);
    lua_rawseti(L, store, (lua_Integer)i);
  }
  lua_pushnil(L);
  while (lua_next(L, store)) {
    lua_pop(L, 1);
    clua_record *record = clua_record_of(L, node, userdata, lua_gettop(L));
    if (!record || !record->slot) move_back(L, table, store, lua_gettop(L));
  }
  node->all = false;
  lua_pushstring(L, clua_events[CLUA_EVENT_LEN]);
  lua_pushvalue(L, -1);
  lua_rawget(L, metatable);
  if (lua_tocfunction(L, -1) == clua_storelength) {
    lua_pop(L, 1);
    lua_pushnil(L);
    lua_rawset(L, metatable);
  } else {
    lua_pop(L, 2);
  }
}

void clua_node_settle(lua_State *L, clua_node *node) {
  int top = lua_gettop(L);
  luaL_checkstack(L, 24, NULL);
  if (node->busy || !clua_pushnode(L, node)) return;
  int table = top + 1, metatable = top + 2, userdata = top + 3, store = top + 4;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  if (node->all) {
    if (!node->every && node->positives == 0) {
      clua_forgetplaces(L, node, userdata);
      move_all_back(L, node, table, metatable, userdata, store);
    }
  }
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  bool moved = false;
  for (int i = node->count; i >= 1; i--) {
    if (node->records[i - 1].slot) continue;
    if (!node->all) {
      lua_rawgeti(L, store + 1, i);
      move_back(L, table, store, lua_gettop(L));
      lua_pop(L, 1);
      moved = true;
    }
    drop_record(L, node, userdata, i);
  }
  // A loop that this turn began may go on in a later one, as in a coroutine.
  if (moved || !node->unfinished) clua_forgetplaces(L, node, userdata);
  if (node->count == 0 && !node->every && !node->all && !node->owner && !node->dependents) {
    clua_unwatchmetatable(node);
    unlink_node(node);
    node->ended = true;
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
    clua_setunmarked(L, table);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_tables_key);
    lua_pushnil(L);
    lua_rawsetp(L, -2, node);
    lua_pushnil(L);
    lua_rawsetp(L, metatable, &clua_node_key);
  }
  lua_settop(L, top);
}

/* ---- Writes --------------------------------------------------------------------------------- */

bool clua_same(lua_State *L, int a, int b) {
  if (lua_rawequal(L, a, b)) return true;
  if (lua_type(L, a) != LUA_TNUMBER || lua_type(L, b) != LUA_TNUMBER) return false;
  lua_Number x = lua_tonumber(L, a), y = lua_tonumber(L, b);
  return x != x && y != y;
}

/* Replaces the nil on top by what the key inherits where `__index` is a table. [-0, +0, -] */
static void inherit(lua_State *L, int userdata, int key) {
  if (clua_pushfield(L, userdata, "__index") == LUA_TTABLE) {
    lua_pushvalue(L, key);
    clua_inheritedget(L, -2);
    lua_replace(L, -3);
  }
  lua_pop(L, 1);
}

void clua_report(lua_State *L, clua_node *node, clua_slot *slot, int table, int key, int old,
                 int new_) {
  int wants = 0;
  if (slot) wants = slot->wants;
  if (node->every) wants |= node->every->wants;
  if (!wants || !node->owner) return;
  clua_write write = {
    .node = node, .slot = slot, .every = node->every,
    .table = table, .key = key, .old = old, .new_ = new_,
    .same = clua_same(L, old, new_),
  };
  if (write.same && !(wants & CLUA_WANTS_WRITES)) return;
  clua_shared *shared = node->shared;
  if (shared->observation.written) {
    shared->observation.written(shared->observation.context, L, &write);
  }
}

static inline bool is_wanted(const clua_node *node, const clua_record *record) {
  if (!node->owner) return false;
  if (node->every && node->every->wants) return true;
  return record && record->slot && record->slot->wants;
}

void clua_store(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                int key, int value) {
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  int store = lua_gettop(L);
  if (!is_wanted(node, record)) {
    lua_pushvalue(L, key);
    lua_pushvalue(L, value);
    lua_rawset(L, store);
    lua_settop(L, store - 1);
    return;
  }
  lua_pushvalue(L, key);
  if (lua_rawget(L, store) == LUA_TNIL) inherit(L, userdata, key);
  lua_pushvalue(L, value);
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_rawset(L, store);
  if (lua_type(L, store + 2) == LUA_TNIL) inherit(L, userdata, key);
  clua_report(L, node, record ? record->slot : NULL, table, key, store + 1, store + 2);
  lua_settop(L, store - 1);
}

/* `__newindex` where the user has none. Upvalues: the node's userdata, its store. A closure of its own
   per table saves three look-ups on every write. */
int clua_storenewindex(lua_State *L) {
  int userdata = lua_upvalueindex(1), store = lua_upvalueindex(2);
  clua_node *node = (clua_node *)lua_touserdata(L, userdata);
  clua_record *record = clua_record_of(L, node, userdata, 2);
  if (record) {
    if (is_wanted(node, record)) clua_store(L, node, record, 1, userdata, 2, 3);
    else lua_rawset(L, store);
    return 0;
  }
  int type = lua_type(L, 2);
  if (type == LUA_TSTRING && clua_ismetakey(L, 2)) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, 1);
    if (node->dependents) clua_metamethodset(L, node, 2);
    return 0;
  }
  if (type == LUA_TNIL) return luaL_error(L, "table index is nil");
  if (type == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)) {
    return luaL_error(L, "table index is NaN");
  }
  if (!node->all) lua_rawset(L, 1);
  else if (is_wanted(node, NULL)) clua_store(L, node, NULL, 1, userdata, 2, 3);
  else lua_rawset(L, store);
  return 0;
}

/* `__len` of a table that moved as a whole. Upvalue: the store. */
int clua_storelength(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, lua_upvalueindex(1)));
  return 1;
}

void clua_scriptrawset(lua_State *L, int table, int key, int value, bool report) {
  int top = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (node) {
    int userdata = top + 2;
    clua_record *record = clua_record_of(L, node, userdata, key);
    if (record || (node->all && !clua_ismetakey(L, key))) {
      if (report) {
        clua_store(L, node, record, table, userdata, key, value);
      } else {
        lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
        lua_pushvalue(L, key);
        lua_pushvalue(L, value);
        lua_rawset(L, -3);
      }
      lua_settop(L, top);
      return;
    }
  }
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_rawset(L, table);
  if (node && node->dependents && clua_ismetakey(L, key)) clua_metamethodset(L, node, key);
  lua_settop(L, top);
}

/* ---- Raw access on the table a script sees -------------------------------------------------- */

int clua_rawget(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (node) {
    // A key is in one place only, and absent keys are in none.
    lua_getiuservalue(L, key + 2, CLUA_NODE_STORE);
    lua_pushvalue(L, key);
    if (lua_rawget(L, -2) != LUA_TNIL) {
      lua_replace(L, key);
      lua_settop(L, key);
      return lua_type(L, key);
    }
    lua_settop(L, key);
  }
  return lua_rawget(L, table);
}

void clua_rawset(lua_State *L, int index) {
  int table = lua_absindex(L, index), top = lua_gettop(L);
  clua_scriptrawset(L, table, top - 1, top, false);
  lua_pop(L, 2);
}

lua_Unsigned clua_rawlen(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_rawlen(L, index);
  int table = lua_absindex(L, index);
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return lua_rawlen(L, table);
  lua_Unsigned length;
  if (node->all) {
    lua_getiuservalue(L, -1, CLUA_NODE_STORE);
    length = lua_rawlen(L, -1);
    lua_pop(L, 3);
  } else {
    length = lua_rawlen(L, table);
    lua_pop(L, 2);
  }
  return length;
}

int clua_next(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  clua_node *node = clua_pushnodeat(L, table);
  if (!node) return lua_next(L, table);
  lua_pushvalue(L, key);
  int found = clua_nodenext(L, node, table, key + 2);
  if (!found) {
    lua_settop(L, key - 1);
    return 0;
  }
  lua_replace(L, key + 1);
  lua_replace(L, key);
  lua_settop(L, key + 1);
  return 1;
}

int clua_inheritedget(lua_State *L, int index) {
  int table = lua_absindex(L, index), key = lua_gettop(L);
  lua_pushvalue(L, table);
  // As many steps as Lua takes before it suspects a loop.
  for (int step = 0; step < 2000; step++) {
    lua_pushvalue(L, key);
    if (clua_rawget(L, key + 1) != LUA_TNIL) break;
    if (!clua_getmetatable(L, key + 1)) break;
    lua_pushstring(L, "__index");
    if (lua_rawget(L, -2) != LUA_TTABLE) {
      lua_settop(L, key + 1);
      lua_pushnil(L);
      break;
    }
    lua_replace(L, key + 1);
    lua_settop(L, key + 1);
  }
  if (lua_gettop(L) == key + 1) lua_pushnil(L);
  lua_replace(L, key);
  lua_settop(L, key);
  return lua_type(L, key);
}

bool clua_getmetatable(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return lua_getmetatable(L, index);
  clua_node *node = clua_pushnodeat(L, index);
  if (!node) return lua_getmetatable(L, index);
  lua_getiuservalue(L, -1, CLUA_NODE_METATABLE);
  lua_replace(L, -3);
  lua_pop(L, 1);
  if (lua_type(L, -1) == LUA_TTABLE) return true;
  lua_pop(L, 1);
  return false;
}

int clua_where(lua_State *L, char *source) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    if (!lua_getinfo(L, "Sl", &frame) || frame.currentline <= 0) continue;
    // What the module obs does in Lua, it does for its caller.
    if (strcmp(frame.source, "=obs") == 0) continue;
    memcpy(source, frame.short_src, LUA_IDSIZE);
    return frame.currentline;
  }
  return 0;
}

/* ---- Installing ----------------------------------------------------------------------------- */

void clua_observation_install(lua_State *L, const clua_observation *observation) {
  int top = lua_gettop(L);
  luaL_checkstack(L, 20, NULL);
  clua_shared *shared = (clua_shared *)lua_newuserdatauv(L, sizeof *shared, CLUA_SHARED_COUNT);
  memset(shared, 0, sizeof *shared);
  shared->observation = *observation;
  int userdata = top + 1;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, shared_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, userdata);
  lua_pushvalue(L, userdata);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_shared_key);

  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, node_gc);
  lua_setfield(L, -2, "__gc");
  lua_setiuservalue(L, userdata, CLUA_SHARED_NODE_METATABLE);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_tables_key);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "kv");
  lua_setfield(L, -2, "__mode");
  lua_setiuservalue(L, userdata, CLUA_SHARED_WEAK);
  clua_install_metatables(L, userdata);
  clua_install_base(L, shared);
  lua_settop(L, top);
}
