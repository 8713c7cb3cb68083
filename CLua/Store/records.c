#include "store.h"

#include <string.h>

/* ---- Records -------------------------------------------------------------------------------- */

/* Many records are in a block, which is a userdata, so that it lives as long as the node and the
   code that writes to it. Lua may free it before a node whose finalizer was skipped. */
typedef struct tail {
  clua_node *node;
  clua_claim claim;
} tail;

/* The end of the block of the records; NULL where there is none. */
static tail *tail_of(const clua_node *node) {
  return node->records == node->inlined ? NULL : (tail *)(node->records + node->capacity);
}

static bool records_lost(lua_State *L, clua_claim *claim) {
  if (L) clua_losenode(L, ((tail *)((char *)claim - offsetof(tail, claim)))->node);
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

static clua_record *record_by_value(lua_State *L, clua_node *node, int userdata, int key) {
  if (!node->indexed) return NULL;
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  int place = (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return place ? &node->records[place - 1] : NULL;
}

static inline bool found_by_value(lua_State *L, int type, int key) {
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
  if (!found_by_value(L, lua_type(L, key), key)) return NULL;
  return record_by_value(L, node, userdata, key);
}

bool clua_ispositive(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TNUMBER) return false;
  int exact;
  lua_Integer value = lua_tointegerx(L, key, &exact);
  return exact && value > 0;
}

void clua_pushrecordkey(lua_State *L, const clua_node *node, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  if (node->single) return;
  lua_rawgeti(L, -1, place);
  lua_replace(L, -2);
}

/* Adds the key at `key` for the next record. Most tables have one key, which needs no list.
   [-0, +0, m] */
static void append_key(lua_State *L, clua_node *node, int userdata, int key) {
  if (node->count == 0) {
    lua_pushvalue(L, key);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->single = true;
    return;
  }
  if (node->single) {
    lua_createtable(L, 2, 0);
    lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
    lua_rawseti(L, -2, 1);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->single = false;
  } else {
    lua_getiuservalue(L, userdata, CLUA_NODE_KEYS);
  }
  lua_pushvalue(L, key);
  lua_rawseti(L, -2, node->count + 1);
  lua_pop(L, 1);
}

/* Makes the two maps that are used where a scan would be slow. [-0, +0, m] */
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
  bool value = found_by_value(L, type, key);
  if (value || node->count >= CLUA_RECORDS_LINEAR) index_records(L, node, userdata);
  if (node->indexed) {
    lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
    lua_pushvalue(L, key);
    lua_pushinteger(L, node->count + 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
  }
  clua_record *record = &node->records[node->count];
  record->slot = NULL;
  record->lazy = record->loading = false;
  record->flags = 0;
  record->type = type;
  record->positive = clua_ispositive(L, key);
  if (record->positive) record->position = lua_tointeger(L, key);
  else record->pointer = value ? NULL : lua_topointer(L, key);
  return record;
}

/* Removes a key: the last key takes its place, or none is left. [-0, +0, -] */
static void drop_key(lua_State *L, clua_node *node, int userdata, int place) {
  if (node->single) {
    lua_pushnil(L);
    lua_setiuservalue(L, userdata, CLUA_NODE_KEYS);
    node->single = false;
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

/* Removes a key from the two maps: only fields that exist already are set, which needs no memory.
   [-0, +0, -] */
static void drop_from_index(lua_State *L, clua_node *node, int userdata, int place) {
  lua_getiuservalue(L, userdata, CLUA_NODE_PLACES);
  clua_pushrecordkey(L, node, userdata, place);
  lua_pushnil(L);
  lua_rawset(L, -3);
  if (place != node->count) {
    clua_pushrecordkey(L, node, userdata, node->count);
    lua_pushinteger(L, place);
    lua_rawset(L, -3);
    if (node->records[node->count - 1].slot) {
      lua_getiuservalue(L, userdata, CLUA_NODE_SLOTS);
      lua_pushinteger(L, place);
      lua_rawsetp(L, -2, node->records[node->count - 1].slot);
      lua_pop(L, 1);
    }
  }
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
    // No key is found by its value then: the node itself isn't needed.
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
