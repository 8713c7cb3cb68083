#include "clua_allocator.h"
#include "store.h"

#include "clua_guard.h"

/* ---- Watching ------------------------------------------------------------------------------- */

/* Appends the key on top to an order. [-1, +0, m] */
static void append(lua_State *L, int order, int positions, lua_Integer *ordered) {
  lua_pushvalue(L, -1);
  lua_rawseti(L, order, ++*ordered);
  lua_pushinteger(L, *ordered);
  lua_rawset(L, positions);
}

/* Copies the keys that a loop over places would miss, so that no value is lost when its place is
   gone. [-0, +0, m] */
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

typedef struct trials {
  int64_t limit, hash;
} trials;

/* Sets or removes a key with a hash value. [-0, +0, m] */
static void set_hashed(lua_State *L, int table, int64_t hash, int number, bool is) {
  if (is) lua_pushboolean(L, true);
  else lua_pushnil(L);
  // Lua hashes the lower half of an address.
  lua_rawsetp(L, table, (const void *)(uintptr_t)(((int64_t)number << 32) + hash));
}

/* Adds two keys with the same hash value and removes them, for one hash value after the other,
   until Lua has no room left for a second key and makes the table as large as its keys need. */
static int shrink(lua_State *L) {
  trials *trials = lua_touserdata(L, 2);
  int size = lua_gc(L, LUA_GCCOUNT);
  for (; trials->hash < trials->limit && lua_gc(L, LUA_GCCOUNT) >= size; trials->hash++) {
    set_hashed(L, 1, trials->hash, 1, true);
    set_hashed(L, 1, trials->hash, 2, true);
    set_hashed(L, 1, trials->hash, 1, false);
    set_hashed(L, 1, trials->hash, 2, false);
  }
  return 0;
}

/* Frees the room of keys that have left the table, because otherwise `next` passes all of this room
   to find the first key. [-0, +0, -] */
static void free_room(lua_State *L, int table, lua_Unsigned keys) {
  trials trials = {.limit = (int64_t)keys};
  lua_pushcfunction(L, shrink);
  lua_pushvalue(L, table);
  lua_pushlightuserdata(L, &trials);
  if (lua_pcall(L, 2, 0, 0) == LUA_OK) return;
  // Without memory for a smaller table, the large one stays.
  lua_pop(L, 1);
  set_hashed(L, table, trials.hash, 1, false);
}

/* A table without a list part has too little room to free if it had fewer keys than this. */
enum { ROOMY = 64 };

/* For a list of this length or more, the other keys of its table are not counted. */
enum { LONG_LIST = 256 };

/* The number of keys of a plain table outside its list part. [-0, +0, -] */
static int count_fields(lua_State *L, int table, lua_Unsigned length) {
  lua_Unsigned count = 0;
  clua_steps steps = {L, 0};
  lua_pushnil(L);
  for (; lua_next(L, table); lua_pop(L, 1), count++) clua_step(&steps);
  return count > length && count < INT32_MAX ? (int)(count - length) : 0;
}

/* Moves all keys except `__…` into a new store that has room for them. `removed` is a key without a
   value at which a loop may stand, or 0. [-0, +0, m] */
static void move_all(lua_State *L, clua_node *node, int table, int metatable, int userdata,
                     int removed) {
  int top = lua_gettop(L), store = top + 1, order = top + 2, positions = top + 3, after = top + 4;
  bool whole = !clua_ischained(node) && node->count == 0;  // the old store is empty
  lua_Unsigned length = lua_rawlen(L, table);
  int fields = whole && length < LONG_LIST ? count_fields(L, table, length) : 0;
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, fields);
  // Active loops need the order of the keys after the list part.
  bool ordering = clua_istraversed(node->shared);
  lua_settop(L, after);
  if (ordering) {
    // The tables are weak: they must not keep a removed key alive.
    for (int i = order; i <= positions; i++) {
      lua_newtable(L);
      clua_pushshared(L, CLUA_SHARED_WEAK);
      lua_setmetatable(L, -2);
      lua_replace(L, i);
    }
    if (!removed || !clua_follower(L, node, table, userdata, removed)) removed = 0;
    else lua_replace(L, after);
  }
  lua_Integer prefix = 0, ordered = 0;
  clua_steps steps = {L, 0};
  bool list = true;
  lua_pushnil(L);
  while (whole ? lua_next(L, table) : clua_nodenext(L, node, table, userdata)) {
    // Nothing has been changed yet.
    clua_step(&steps);
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
  if (clua_ischained(node)) move_rest(L, table, userdata, store);
  if (ordering && removed) {
    lua_pushvalue(L, removed);
    append(L, order, positions, &ordered);
  }
  lua_pushstring(L, clua_events[CLUA_EVENT_LEN]);
  if (lua_pushvalue(L, -1), lua_rawget(L, metatable) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_pushvalue(L, store);
    lua_pushvalue(L, userdata);
    lua_pushcclosure(L, clua_storelength, 2);
    lua_rawset(L, metatable);
  } else {
    lua_pop(L, 2);
  }
  // Up to the dummy key, nothing needs memory from here on.
  clua_setstoremetatable(L, node, userdata, store);
  lua_pushvalue(L, store);
  lua_setiuservalue(L, userdata, CLUA_NODE_STORE);
  if (node->lazies) node->shared->above->store_replaced(L, node, userdata, store);
  if (node->index != CLUA_INDEX_CLOSURE && !clua_isopened(node)) {
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
  if (ordering && (prefix || ordered)) {
    node->order.kind = CLUA_ORDER_RECORDED;
    node->order.prefix = (uint32_t)prefix;
    node->order.length = (uint32_t)ordered;
    lua_pushvalue(L, order);
    lua_setiuservalue(L, userdata, CLUA_NODE_ORDER);
    lua_pushvalue(L, positions);
    lua_setiuservalue(L, userdata, CLUA_NODE_POSITIONS);
  }
  node->all = true;
  lua_Unsigned emptied = length;
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
    emptied++;
  }
  // Keys that were observed one by one have left before.
  emptied += (lua_Unsigned)node->count;
  if (length > 0 || emptied >= ROOMY) free_room(L, table, emptied);
  lua_settop(L, top);
}

/* Gives the key at `key` a record without a slot, and moves it into the store. From `table` on are
   the values pushed by clua_pushnode. [-0, +0, m] */
static void take_key(lua_State *L, clua_node *node, int table, int key) {
  int top = lua_gettop(L), metatable = table + 1, userdata = table + 2;
  if (clua_ispositive(L, key) && !node->all) {
    lua_pushvalue(L, key);
    bool present = lua_rawget(L, table) != LUA_TNIL;
    lua_settop(L, top);
    move_all(L, node, table, metatable, userdata, present ? 0 : key);
  }
  clua_preparerecord(L, node, userdata, key);
  if (!node->all) {
    lua_pushvalue(L, key);
    bool present = lua_rawget(L, table) != LUA_TNIL;
    if (clua_istraversed(node->shared)) clua_keepplace(L, node, table, userdata, key);
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
  lua_settop(L, top);
}

static void set_slot(clua_node *node, clua_record *record, clua_slot *slot) {
  if (record->positive && !record->slot) node->positives++;
  record->slot = slot;
}

/* Updates `listed`; the node's table is at `table`. [-0, +0, -] */
static void learn_listed(lua_State *L, clua_node *node, int table) {
  node->listed = node->kind == CLUA_KIND_PLAIN
      && (node->all ? clua_rawlen(L, table) : lua_rawlen(L, table)) > 0;
}

void clua_node_watch(lua_State *L, clua_node *node, int key, clua_slot *slot) {
  key = lua_absindex(L, key);
  int top = lua_gettop(L), table = top + 1, userdata = top + 3;
  clua_checkstack(L, 24, NULL);
  if (!clua_pushnode(L, node)) return;
  learn_listed(L, node, table);
  if (!clua_record_of(L, node, userdata, key)) take_key(L, node, table, key);
  clua_record *record = clua_record_of(L, node, userdata, key);
  if (node->indexed) {
    lua_getiuservalue(L, userdata, CLUA_NODE_SLOTS);
    lua_pushinteger(L, record - node->records + 1);
    lua_rawsetp(L, -2, slot);
  }
  set_slot(node, record, slot);
  lua_settop(L, top);
}

/* Whether the key at `key` is a text without characters that have a meaning in key paths or Lua.
   [-0, +0, -] */
static bool is_name(lua_State *L, int key) {
  if (lua_type(L, key) != LUA_TSTRING) return false;
  size_t length;
  const char *text = lua_tolstring(L, key, &length);
  if (length == 0 || length > CLUA_SHORT_STRING || (text[0] == '_' && text[1] == '_')) return false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i], letter = c | 0x20;
    bool digit = c >= '0' && c <= '9';
    if (!(letter >= 'a' && letter <= 'z') && c != '_' && !(digit && i > 0)) return false;
  }
  return true;
}

clua_node *clua_node_prepare(lua_State *L, int table, int key, int known) {
  clua_node *node = clua_node_at(L, table);
  bool made = !node || !clua_node_isthere(L, node);
  if (!made && (node->indexed || clua_record_of(L, node, 0, key))) {
    learn_listed(L, node, table);
    return node;
  }
  int top = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  bool held = !(known & CLUA_PREPARE_HELD) && clua_holdcollector(L);
  // A table that moves as a whole gets a `__len`.
  if (made) node = clua_node_makekind(L, table, CLUA_KIND_PLAIN, (known & CLUA_PREPARE_WHOLE) != 0);
  // The name must be checked for an instance of a model, which may not have it.
  bool checked = !node->inherits || known & (CLUA_PREPARE_DECLARED | CLUA_PREPARE_STORED);
  bool plain = checked && node->kind == CLUA_KIND_PLAIN && node->access == CLUA_ACCESS_OPEN
      && !node->indexed && node->count < CLUA_RECORDS_LINEAR;
  // A revived node has its records.
  if (plain && is_name(L, key) && !clua_record_of(L, node, 0, key)) {
    lua_pushvalue(L, table);
    clua_pushnodeat(L, table);
    learn_listed(L, node, table);
    take_key(L, node, top + 1, key);
    node->records[node->count - 1].checked = known & CLUA_PREPARE_STORED;
    lua_settop(L, top);
  }
  clua_releasecollector(L, held);
  return node;
}

bool clua_node_setslot(lua_State *L, clua_node *node, int key, clua_slot *slot) {
  if (node->indexed) return false;
  clua_record *record = clua_record_of(L, node, 0, lua_absindex(L, key));
  if (!record || record->slot) return false;
  set_slot(node, record, slot);
  return true;
}

bool clua_node_waslist(const clua_node *node) { return node->listed; }

/* Moves all keys, whichever of them a loop stands at. On top is what clua_pushnode pushes.
   [-0, +0, m] */
static void move_any(lua_State *L, clua_node *node) {
  int userdata = lua_gettop(L);
  move_all(L, node, userdata - 2, userdata - 1, userdata, 0);
  node->order.restarts = node->order.kind == CLUA_ORDER_RECORDED;
}

void clua_moveall(lua_State *L, clua_node *node) {
  int top = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  if (!node->all && clua_pushnode(L, node)) {
    bool held = clua_holdcollector(L);
    move_any(L, node);
    clua_releasecollector(L, held);
  }
  lua_settop(L, top);
}

void clua_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot) {
  int top = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  if (!clua_pushnode(L, node)) return;
  if (!node->all) move_any(L, node);
  node->every = slot;
  lua_settop(L, top);
}

void clua_node_unwatch(lua_State *L, clua_node *node, clua_slot *slot) {
  if (node->every == slot) {
    node->every = NULL;
    return;
  }
  int place = clua_placeofslot(L, node, slot);
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

/* Copies the value of the key at `key` from the store to the table, then removes it from the store.
   [-0, +0, m] */
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
    if (!record || (!record->slot && !record->lazy)) move_back(L, table, store, lua_gettop(L));
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

static bool has_slots(const clua_node *node) {
  for (int i = 0; i < node->count; i++) {
    if (node->records[i].slot) return true;
  }
  return false;
}

/* Drops the records of keys without a slot. Their values move back unless all keys are in the
   store; returns whether any did. [-0, +0, m] */
static bool drop_unused(lua_State *L, clua_node *node, int table, int userdata, int store) {
  bool moved = false;
  for (int i = node->count; i >= 1; i--) {
    if (node->records[i - 1].slot || node->records[i - 1].lazy) continue;
    if (!node->all) {
      clua_pushrecordkey(L, node, userdata, i);
      move_back(L, table, store, lua_gettop(L));
      lua_pop(L, 1);
      moved = true;
    }
    clua_droprecord(L, node, userdata, i);
  }
  return moved;
}

void clua_node_tidy(lua_State *L, clua_node *node) {
  int top = lua_gettop(L), userdata = top + 3;
  clua_checkstack(L, 24, NULL);
  if (node->sorts || clua_isopened(node) || !clua_pushnode(L, node)) return;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  if (drop_unused(L, node, top + 1, userdata, top + 4)) clua_forgetplaces(L, node, userdata);
  lua_settop(L, top);
}

void clua_node_unobserve(lua_State *L, clua_node *node) {
  int top = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  if (node->sorts || clua_isopened(node) || !clua_pushnode(L, node)) return;
  int table = top + 1, metatable = top + 2, userdata = top + 3, store = top + 4;
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  if (!node->every) node->counting = false;
  if (node->all) {
    // A tracked getter will read the same table again.
    if (node->opening == CLUA_OPENING_OVER && !has_slots(node)) node->opening = CLUA_OPENING_NEVER;
    bool fixed = clua_isstorefixed(node) || clua_isfrozen(node);
    bool again = node->opening != CLUA_OPENING_NEVER;
    if (!node->every && node->positives == 0 && !fixed && !again) {
      clua_forgetplaces(L, node, userdata);
      move_all_back(L, node, table, metatable, userdata, store);
    }
  }
  bool moved = drop_unused(L, node, table, userdata, store);
  // A loop that began in this turn may continue in a later one, for example in a coroutine.
  if (moved || !node->order.unfinished) clua_forgetplaces(L, node, userdata);
  if (node->count == 0 && !node->every && !node->all && !node->owner
      && !node->asmetatable.dependents) {
    clua_unwatchmetatable(node);
    clua_unclaimnode(L, node);
    lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE);
    clua_setunmarked(L, table);
    clua_forgettable(L, node);
    lua_pushnil(L);
    lua_rawseti(L, metatable, CLUA_OWN_NODE);
  }
  lua_settop(L, top);
}
