#include "store.h"

#include <string.h>

/* ---- Records -------------------------------------------------------------------------------- */

/* Many records are in a block. It is a userdata, so it lives as long as the node and the code that
   writes to it. Lua may free it before the node. */
typedef struct tail {
  clua_node *node;
  clua_claim claim;
} tail;

/* The end of the block of records; NULL if the records are inlined. */
static tail *tail_of(const clua_node *node) {
  return node->records == node->inlined ? NULL : (tail *)(node->records + node->capacity);
}

static bool records_lost(lua_State *L, clua_claim *claim) {
  if (L) clua_losenode(L, CLUA_CLAIMER(tail, claim)->node);
  return true;
}

void clua_claimrecords(lua_State *L, clua_node *node) {
  tail *tail = tail_of(node);
  if (tail) clua_makeclaim(L, &tail->claim, records_lost);
}

void clua_unclaimrecords(lua_State *L, clua_node *node) {
  tail *tail = tail_of(node);
  if (tail) clua_endclaim(L, &tail->claim);
}

/* A watched key that is an object is not held here: the observed object of each watcher holds it
   (L6), and so does a value in the store. It is a weak value in the list of keys, at its address,
   and a weak key in the map of places. The record of a collected key stays until its slot is gone;
   another object may have the same address by then. A member whose membership is watched is held
   (C6). */
static inline bool is_weak(const clua_node *node, int type) {
  return node->kind != CLUA_KIND_SET
      && (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA
          || type == LUA_TTHREAD);
}

/* Whether a record belongs to the object at `key`. [-0, +0, -] */
static inline bool has_key(lua_State *L, const clua_record *record, int key) {
  return record->type == lua_type(L, key) && record->pointer == lua_topointer(L, key);
}

static clua_record *record_by_value(lua_State *L, clua_node *node, int userdata, int key) {
  if (!node->indexed) return NULL;
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  int place = (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  if (!place || place > node->count) return NULL;
  clua_record *record = &node->records[place - 1];
  if (!is_weak(node, record->type)) return record;
  // An object that a finalizer brought back is no longer a weak value, but still a weak key.
  if (!has_key(L, record, key)) return NULL;
  if (node->revived) return record;
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  node->revived = lua_rawgetp(L, -1, record->pointer) == LUA_TNIL;
  lua_pop(L, 2);
  return record;
}

static inline bool is_short(lua_State *L, int key) {
  return lua_type(L, key) == LUA_TSTRING && lua_rawlen(L, key) <= CLUA_SHORT_STRING;
}

static inline bool found_by_value(lua_State *L, const clua_node *node, int type, int key) {
  return type == LUA_TNUMBER || type == LUA_TBOOLEAN || is_weak(node, type)
      || (type == LUA_TSTRING && !is_short(L, key));
}

clua_record *clua_record_of(lua_State *L, clua_node *node, int userdata, int key) {
  int count = node->count, type = lua_type(L, key);
  if (count == 0) return NULL;
  if (count > CLUA_RECORDS_LINEAR) return record_by_value(L, node, userdata, key);
  if (found_by_value(L, node, type, key)) return record_by_value(L, node, userdata, key);
  // Short strings are interned: the same name is the same object.
  const void *pointer = lua_topointer(L, key);
  if (!pointer) return NULL;
  clua_record *record = node->records, *end = record + count;
  for (; record < end; record++) {
    if (record->pointer == pointer && record->type == type) return record;
  }
  return NULL;
}

bool clua_ispositive(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TNUMBER) return false;
  int exact;
  lua_Integer value = lua_tointegerx(L, key, &exact);
  return exact && value > 0;
}

/* Pushes the object at a place, or nil if it was collected. [-0, +1, -] */
static void find_object(lua_State *L, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    bool is_found = lua_tointeger(L, -1) == place;
    lua_pop(L, 1);
    if (is_found) return lua_remove(L, -2);
  }
  // The loop leaves the map on the stack, and no key.
  lua_pop(L, 1);
  lua_pushnil(L);
}

/* Whether the object on top has this place. [-0, +0, -] */
static bool has_place(lua_State *L, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_pushvalue(L, -2);
  lua_rawget(L, -2);
  bool has = lua_tointeger(L, -1) == place;
  lua_pop(L, 2);
  return has;
}

/* Replaces the list of keys by the object that is the key of a place, or nil if it was collected.
   [-1, +1, -] */
static void push_object(lua_State *L, const clua_node *node, int userdata, int place) {
  lua_rawgetp(L, -1, node->records[place - 1].pointer);
  lua_replace(L, -2);
  if (!lua_isnil(L, -1) && has_place(L, userdata, place)) return;
  lua_pop(L, 1);
  if (node->revived) find_object(L, userdata, place);
  else lua_pushnil(L);
}

void clua_pushrecordkey(lua_State *L, const clua_node *node, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  if (node->onekey) return;
  if (is_weak(node, node->records[place - 1].type)) return push_object(L, node, userdata, place);
  lua_rawgeti(L, -1, place);
  lua_replace(L, -2);
}

/* Makes the table on top weak. [-0, +0, -] */
static void weaken(lua_State *L) {
  clua_pushshared(L, CLUA_SHARED_WEAK);
  lua_setmetatable(L, -2);
}

/* Adds the key at `key` for the next record. Most tables have one observed key, which needs no
   list. [-0, +0, m] */
static void append_key(lua_State *L, clua_node *node, int userdata, int key) {
  bool object = is_weak(node, lua_type(L, key));
  if (node->count == 0 && !object) {
    lua_pushvalue(L, key);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->onekey = true;
    return;
  }
  if (lua_getiuservalue(L, userdata, CLUA_NODE_KEYS) != LUA_TTABLE || node->onekey) {
    lua_createtable(L, 2, 0);
    if (node->onekey) {
      lua_pushvalue(L, -2);
      lua_rawseti(L, -2, 1);
    }
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->onekey = false;
    lua_replace(L, -2);
  }
  // Each place has a field, so that another key can take the place without memory.
  if (object) lua_pushboolean(L, true);
  else lua_pushvalue(L, key);
  lua_rawseti(L, -2, node->count + 1);
  if (object) {
    weaken(L);
    lua_pushvalue(L, key);
    lua_rawsetp(L, -2, lua_topointer(L, key));
  }
  lua_pop(L, 1);
}

/* Makes the two maps that are used if a scan would be slow. [-0, +0, m] */
static void index_records(lua_State *L, clua_node *node, int userdata) {
  if (node->indexed) return;
  lua_newtable(L);
  lua_newtable(L);
  for (int i = 0; i < node->count; i++) {
    clua_pushrecordkey(L, node, userdata, i + 1);
    lua_pushinteger(L, i + 1);
    lua_rawset(L, -4);
    if (node->records[i].slot) {
      lua_pushinteger(L, i + 1);
      lua_rawsetp(L, -2, node->records[i].slot);
    }
  }
  lua_setiuservalue(L, userdata, CLUA_NODE_SLOTS);
  lua_setiuservalue(L, userdata, CLUA_NODE_PLACES);
  node->indexed = true;
}

clua_record *clua_preparerecord(lua_State *L, clua_node *node, int userdata, int key) {
  if (node->count == node->capacity) {
    size_t old = (size_t)node->capacity * sizeof(clua_record);
    clua_record *records = (clua_record *)lua_newuserdatauv(L, 2 * old + sizeof(tail), 0);
    memcpy(records, node->records, old);
    tail *end = (tail *)(records + 2 * node->capacity);
    *end = (tail){.node = node};
    clua_makeclaim(L, &end->claim, records_lost);
    clua_unclaimrecords(L, node);
    lua_setiuservalue(L, userdata, CLUA_NODE_RECORDS);
    node->records = records;
    node->capacity *= 2;
  }
  append_key(L, node, userdata, key);
  int type = lua_type(L, key);
  bool value = found_by_value(L, node, type, key);
  if (value || node->count >= CLUA_RECORDS_LINEAR) index_records(L, node, userdata);
  if (node->indexed) {
    lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
    if (is_weak(node, type)) weaken(L);
    lua_pushvalue(L, key);
    lua_pushinteger(L, node->count + 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  clua_record *record = &node->records[node->count];
  record->slot = NULL;
  record->lazy = record->loading = record->checked = false;
  record->flags = 0;
  record->type = (int8_t)type;
  record->positive = clua_ispositive(L, key);
  if (record->positive) record->position = lua_tointeger(L, key);
  else record->pointer = value && !is_weak(node, type) ? NULL : lua_topointer(L, key);
  return record;
}

/* Removes a key: the last key takes its place, if there is another one. [-0, +0, -] */
static void drop_key(lua_State *L, clua_node *node, int userdata, int place) {
  if (node->onekey) {
    lua_pushnil(L);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->onekey = false;
    return;
  }
  int last = node->count;
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  if (place != last) {
    lua_rawgeti(L, -1, last);
    lua_rawseti(L, -2, place);
  }
  lua_pushnil(L);
  lua_rawseti(L, -2, last);
  lua_pop(L, 1);
}

/* Pushes the map of places and the key of a place; returns false and pushes nothing if the key was
   collected. [-0, +(0|2), -] */
static bool push_placed(lua_State *L, clua_node *node, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  clua_pushrecordkey(L, node, userdata, place);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 2);
  return false;
}

/* Removes a key from the maps. Sets only existing fields, which needs no memory. [-0, +0, -] */
static void drop_from_index(lua_State *L, clua_node *node, int userdata, int place) {
  const clua_record *record = &node->records[place - 1], *last = &node->records[node->count - 1];
  if (push_placed(L, node, userdata, place)) {
    lua_pushnil(L);
    lua_rawset(L, -3);
    if (is_weak(node, record->type)) {
      lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
      lua_pushnil(L);
      lua_rawsetp(L, -2, record->pointer);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  if (record == last) return;
  if (push_placed(L, node, userdata, node->count)) {
    lua_pushinteger(L, place);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  if (!last->slot) return;
  lua_getiuservalue(L, userdata, CLUA_NODE_SLOTS);
  lua_pushinteger(L, place);
  lua_rawsetp(L, -2, last->slot);
  lua_pop(L, 1);
}

void clua_droprecord(lua_State *L, clua_node *node, int userdata, int place) {
  if (node->indexed) drop_from_index(L, node, userdata, place);
  drop_key(L, node, userdata, place);
  node->records[place - 1] = node->records[node->count - 1];
  node->count--;
}

int clua_placeofslot(lua_State *L, clua_node *node, const clua_slot *slot) {
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
    // No key is found by its value in this case, so the node itself is not needed.
    clua_record *record = clua_record_of(L, node, 0, key);
    return record ? record->slot : NULL;
  }
  if (!clua_pushnode(L, node)) return NULL;
  clua_record *record = clua_record_of(L, node, lua_gettop(L), key);
  lua_pop(L, 3);
  return record ? record->slot : NULL;
}

void clua_node_pushkey(lua_State *L, clua_node *node, const clua_slot *slot) {
  int place = slot ? clua_placeofslot(L, node, slot) : 0;
  if (!place || !clua_pushnode(L, node)) {
    lua_pushnil(L);
    return;
  }
  clua_pushrecordkey(L, node, lua_gettop(L), place);
  lua_replace(L, -4);
  lua_pop(L, 2);
}

/* ---- Names by address ------------------------------------------------------------------------ */

const void *clua_shortname(lua_State *L, int index) {
  return is_short(L, index) && !clua_ismetakey(L, index) ? lua_topointer(L, index) : NULL;
}

int clua_node_placeofname(const clua_node *node, const void *name) {
  if (node->kind != CLUA_KIND_PLAIN || node->count > CLUA_RECORDS_LINEAR) return 0;
  for (int i = 0; i < node->count; i++) {
    if (node->records[i].pointer == name && node->records[i].type == LUA_TSTRING) return i + 1;
  }
  return 0;
}

clua_slot *clua_node_slotat(const clua_node *node, int place) {
  return node->records[place - 1].slot;
}

bool clua_node_takesslot(const clua_node *node, int place) {
  return !node->indexed && (!node->inherits || node->records[place - 1].checked);
}

void clua_node_setslotat(clua_node *node, int place, clua_slot *slot) {
  node->records[place - 1].slot = slot;
}

bool clua_node_pushvalueofname(lua_State *L, clua_node *node, int place) {
  int top = lua_gettop(L), table = top + 1, userdata = top + 3;
  if (node->records[place - 1].lazy || !clua_pushnode(L, node)) return false;
  clua_pushrecordkey(L, node, userdata, place);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  // A raw value that other code wrote to the table hides the value in the store.
  lua_pushvalue(L, userdata + 1);
  bool hidden = lua_rawget(L, table) != LUA_TNIL;
  lua_pushvalue(L, userdata + 1);
  bool has_value = lua_rawget(L, userdata + 2) != LUA_TNIL && !hidden;
  if (has_value) lua_copy(L, -1, table);
  lua_settop(L, has_value ? table : top);
  return has_value;
}
