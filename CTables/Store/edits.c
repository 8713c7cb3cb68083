#include "store.h"

#include "clua_guard.h"

/* ---- Which slots are notified --------------------------------------------------------------- */

/* Whether the slot of an element at low…high has to be notified. [-0, +0, -] */
static bool hears_elements(const clua_node *node, lua_Integer low, lua_Integer high) {
  if (node->positives == 0) return false;
  const uint64_t *armings = node->shared->observation.armings;
  if (armings && node->quiet == *armings) return false;
  bool quiet = true;
  for (int i = 0; i < node->count; i++) {
    const clua_record *record = &node->records[i];
    if (!record->positive || !record->slot || !record->slot->wants) continue;
    if (record->position >= low && record->position <= high) return true;
    quiet = false;
  }
  // Slots that start to want something are counted in `armings`.
  if (quiet && armings) ((clua_node *)node)->quiet = *armings;
  return false;
}

bool clua_islistheard(const clua_node *node) {
  if (!node->owner) return false;
  if (node->journaling || (node->every && node->every->wants)) return true;
  return hears_elements(node, 1, LUA_MAXINTEGER);
}

void clua_copyrange(lua_State *L, int list, lua_Integer low, lua_Integer high) {
  lua_Integer count = high >= low ? high - low + 1 : 0;
  lua_Unsigned length = lua_rawlen(L, list);
  if (length > (lua_Unsigned)count) length = (lua_Unsigned)count;
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  clua_steps steps = {L, 0};
  for (lua_Integer i = 0; i < count; i++) {
    clua_step(&steps);
    lua_rawgeti(L, list, low + i);
    lua_rawseti(L, -2, i + 1);
  }
}

/* ---- The changed elements -------------------------------------------------------------------- */

/* Pushes the value of a key before a completed operation. [-0, +1, -] */
static void push_old(lua_State *L, const clua_edit *edit, int store, lua_Integer key) {
  switch (edit->kind) {
  case CLUA_EDIT_INSERT:
    if (key >= edit->at) {
      if (key > edit->length) lua_pushnil(L);
      else lua_rawgeti(L, store, key + 1);
      return;
    }
    break;
  case CLUA_EDIT_REMOVE:
    if (key == edit->at) {
      lua_pushvalue(L, edit->element);
      return;
    }
    if (key > edit->at && key <= edit->length) {
      lua_rawgeti(L, store, key - 1);
      return;
    }
    break;
  case CLUA_EDIT_MOVE:
    if (key == edit->from) {
      lua_pushvalue(L, edit->element);
      return;
    }
    if (key > edit->from && key <= edit->at) {
      lua_rawgeti(L, store, key - 1);
      return;
    }
    if (key < edit->from && key >= edit->at) {
      lua_rawgeti(L, store, key + 1);
      return;
    }
    break;
  case CLUA_EDIT_SWAP:
    if (key == edit->from || key == edit->at) {
      lua_rawgeti(L, store, key == edit->at ? edit->from : edit->at);
      return;
    }
    break;
  case CLUA_EDIT_APPEND:
    if (key >= edit->at) {
      lua_pushnil(L);
      return;
    }
    break;
  case CLUA_EDIT_RANGE:
    if (key >= edit->at && key - edit->at < edit->count) {
      lua_rawgeti(L, edit->list, key - edit->at + 1);
      return;
    }
    break;
  case CLUA_EDIT_CLEAR: case CLUA_EDIT_WHOLE:
    if (key <= edit->count) lua_rawgeti(L, edit->list, key);
    else lua_pushnil(L);
    return;
  case CLUA_EDIT_NONE:
    break;
  }
  lua_rawgeti(L, store, key);
}

/* The first key from `low` on whose value an operation changed, or 0; pushes the key, the old and
   the new value. [-0, +(3|0), -] */
static lua_Integer first_change(lua_State *L, const clua_edit *edit, int store, lua_Integer low) {
  for (lua_Integer key = low; key <= edit->high; key++) {
    lua_pushinteger(L, key);
    push_old(L, edit, store, key);
    lua_rawgeti(L, store, key);
    if (!clua_same(L, -1, -2)) return key;
    lua_pop(L, 3);
  }
  return 0;
}

/* Like first_change, for values that are the same but not identical. [-0, +(3|0), -] */
static bool push_exchanged(lua_State *L, const clua_edit *edit, int store) {
  for (lua_Integer key = edit->low; key <= edit->high; key++) {
    lua_pushinteger(L, key);
    push_old(L, edit, store, key);
    lua_rawgeti(L, store, key);
    if (!clua_identical(L, lua_gettop(L) - 1, lua_gettop(L))) return true;
    lua_pop(L, 3);
  }
  return false;
}

bool clua_write_nextchange(lua_State *L, const clua_write *write, lua_Integer *key) {
  if (!write->details || write->same || *key == LUA_MAXINTEGER) return false;
  lua_Integer low = *key < write->details->low ? write->details->low : *key + 1;
  lua_Integer found = first_change(L, write->details, write->store, low);
  if (!found) return false;
  *key = found;
  return true;
}

/* ---- Reporting ------------------------------------------------------------------------------ */

enum { OTHERS_INLINE = 8 };

typedef struct others {
  clua_write *list, inlined[OTHERS_INLINE];
  int count, capacity;
  lua_Alloc allocate;
  void *context;
} others;

/* Makes room for another entry. The collector must not run here: its finalizers might end the
   watchers found so far. */
static bool grow(others *others) {
  if (others->count < others->capacity) return true;
  size_t old = (size_t)others->capacity * sizeof(clua_write);
  bool first = others->list == others->inlined;
  clua_write *list = others->allocate(others->context, first ? NULL : others->list,
                                      first ? LUA_TUSERDATA : old, old * 4);
  if (!list) return false;
  if (first) for (int i = 0; i < others->count; i++) list[i] = others->inlined[i];
  others->list = list;
  others->capacity *= 4;
  return true;
}

static void tell(lua_State *L, clua_node *node, clua_write *write, others *others) {
  write->others = others->list;
  write->othercount = others->count;
  node->shared->observation.written(node->shared->observation.context, L, write);
  others->count = 0;
}

void clua_reportedit(lua_State *L, clua_node *node, int table, int store, const clua_edit *edit) {
  if (node->sorts) node->disturbed = true;
  if (!node->owner || !node->shared->observation.written) return;
  int top = lua_gettop(L);
  clua_checkstack(L, 24, NULL);
  int wants = node->every ? node->every->wants : 0;
  bool listed = hears_elements(node, edit->low, edit->high);
  if (!wants && !node->journaling && !listed) return;
  clua_write write = {
    .node = node, .edit = edit->kind, .at = edit->at, .from = edit->from,
    .count = edit->count, .element = edit->element, .list = edit->list,
    .permutation = edit->permutation, .unsettled = node->sorts > 0, .length = node->size,
    .details = edit, .store = store,
  };
  if (first_change(L, edit, store, edit->low)) {
    if (wants) write.every = node->every;
  } else {
    write.same = true;
    // A transaction has to know that equal numbers, such as 1 and 1.0, changed places.
    if (wants && push_exchanged(L, edit, store)) write.every = node->every;
    else for (int i = 0; i < 3; i++) lua_pushnil(L);
  }
  write.key = top + 1;
  write.old = top + 2;
  write.new_ = top + 3;
  others others = {.list = others.inlined, .capacity = OTHERS_INLINE};
  others.allocate = lua_getallocf(L, &others.context);
  for (int i = 0; listed && i < node->count; i++) {
    const clua_record *record = &node->records[i];
    if (!record->positive || !record->slot || !record->slot->wants) continue;
    lua_Integer key = record->position;
    if (key < edit->low || key > edit->high) continue;
    if (!grow(&others)) {
      // If out of memory, the event is reported in parts.
      tell(L, node, &write, &others);
      lua_settop(L, top + 3);
      write = (clua_write){.node = node, .same = true, .key = top + 1,
                           .old = top + 2, .new_ = top + 3, .unsettled = true};
      if (!node->owner) break;
      i--;
      continue;
    }
    push_old(L, edit, store, key);
    lua_rawgeti(L, store, key);
    int old = lua_gettop(L) - 1;
    bool same = clua_same(L, old, old + 1);
    // An element that the operation left unchanged does not count as written.
    if (same) {
      lua_pop(L, 2);
      continue;
    }
    clua_write other = {.node = node, .slot = record->slot};
    if ((record->slot->wants & CLUA_WANTS_VALUES) && lua_checkstack(L, 8)) {
      other.old = old;
      other.new_ = old + 1;
      lua_pushinteger(L, key);
      other.key = old + 2;
    } else {
      lua_pop(L, 2);
    }
    others.list[others.count++] = other;
  }
  bool changed = !write.same && !write.unsettled;
  if (write.every || others.count || (node->journaling && changed)) tell(L, node, &write, &others);
  if (others.list != others.inlined) {
    others.allocate(others.context, others.list, (size_t)others.capacity * sizeof(clua_write), 0);
  }
  lua_settop(L, top);
}

void clua_announceedit(lua_State *L, clua_node *node) {
  if (!node->owner || !node->every || !node->every->wants) return;
  if (!node->shared->observation.written) return;
  int top = lua_gettop(L);
  for (int i = 0; i < 3; i++) lua_pushnil(L);
  clua_write write = {
    .node = node, .every = node->every, .same = true, .triggered = true, .unsettled = true,
    .length = node->size, .key = top + 1, .old = top + 2, .new_ = top + 3,
  };
  node->shared->observation.written(node->shared->observation.context, L, &write);
  lua_settop(L, top);
}

/* ---- Former contents ------------------------------------------------------------------------- */

/* Pushes a copy of a table without a metatable. [-0, +1, m] */
static void copy_fields(lua_State *L, int from) {
  lua_Unsigned length = lua_rawlen(L, from);
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  int to = lua_gettop(L);
  lua_pushnil(L);
  while (lua_next(L, from)) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

/* (light write, key, old value, taken element, former list) -> table */
static int former(lua_State *L) {
  const clua_write *write = lua_touserdata(L, 1);
  if (!clua_pushnode(L, write->node)) {
    lua_newtable(L);
    return 1;
  }
  lua_getiuservalue(L, 8, CLUA_NODE_STORE);
  copy_fields(L, 9);
  if (write->details) {
    clua_edit edit = *write->details;
    edit.element = 4;
    edit.list = 5;
    for (lua_Integer key = edit.low; key <= edit.high; key++) {
      push_old(L, &edit, 9, key);
      lua_rawseti(L, 10, key);
    }
  } else if (!write->triggered && !lua_isnil(L, 2)) {
    lua_pushvalue(L, 2);
    if (write->was) lua_pushvalue(L, 3);
    else lua_pushnil(L);
    lua_rawset(L, 10);
  }
  return 1;
}

/* Pushes the value at an index, or nil for index 0. [-0, +1, -] */
static void push_part(lua_State *L, int index) {
  if (index) lua_pushvalue(L, index);
  else lua_pushnil(L);
}

int clua_try_former(lua_State *L, const clua_write *write) {
  const clua_edit *edit = write->details;
  lua_pushlightuserdata(L, (void *)write);
  push_part(L, write->key);
  push_part(L, write->old);
  push_part(L, edit ? edit->element : 0);
  push_part(L, edit ? edit->list : 0);
  return clua_protect(L, former, 5, 1);
}
