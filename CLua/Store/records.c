#include "store.h"

#include <string.h>

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

bool clua_ispositive(lua_State *L, int key) {
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

clua_record *clua_preparerecord(lua_State *L, clua_node *node, int userdata, int key) {
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
  record->slot = NULL;
  record->lazy = record->loading = false;
  record->flags = 0;
  record->type = type;
  record->positive = clua_ispositive(L, key);
  if (record->positive) record->position = lua_tointeger(L, key);
  else record->pointer = value ? NULL : lua_topointer(L, key);
  return record;
}

void clua_droprecord(lua_State *L, clua_node *node, int userdata, int place) {
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
  int place = slot ? clua_placeofslot(L, node, slot) : 0;
  if (!place || !clua_pushnode(L, node)) {
    lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, -1, CLUA_NODE_KEYS);
  lua_rawgeti(L, -1, place);
  lua_replace(L, -5);
  lua_pop(L, 3);
}
