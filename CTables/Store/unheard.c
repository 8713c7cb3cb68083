#include "store.h"
#include "clua_modules.h"
#include "clua_places.h"

/* Raw writes by C modules (M1). They may run no code of the program, but watchers may be immediate,
   and assigning to a lazy key may call a function. So the value is stored at once, and the old
   value is noted in a queue. `clua_hear` reports the notes, in order, at the next write of an
   observed key, read of an invalid lazy key, call of the engine, or flush. Computed values that
   depend on the key become invalid at once.

   A note of a single key has its old value. All writes of the list part of a table are one note
   with the old values by position; it becomes one edit. The log of a table lists its notes, since
   only the first old value counts. */

int clua_unheardcount = 0;

const int *clua_waitingwrites(void) { return &clua_unheardcount; }

/// The fields of a note, from `place * NOTE_SIZE` on.
enum { NOTE_TABLE = 1, NOTE_KIND, NOTE_KEY, NOTE_VALUE, NOTE_FUNCTION, NOTE_LINE, NOTE_SIZE = 6 };

/// The kinds of notes.
enum {
  KIND_KEY,     // the old value of a key
  KIND_ASSIGN,  // the value to assign to a lazy key
  KIND_LIST,    // the old values of list positions
};

static const char list_key = 0, length_key = 0, absent = 0;

/* ---- Notes ---------------------------------------------------------------------------------- */

/* Pushes one of the state's tables of notes, which is created on first use. [-0, +1, m] */
static void push_notes(lua_State *L, int which) {
  clua_pushshared(L, which);
  if (lua_type(L, -1) == LUA_TTABLE) return;
  lua_pop(L, 1);
  clua_pushstate(L);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, -3, which);
  lua_replace(L, -2);
}

/* Pushes the log of the table at `table`. [-0, +1, m] */
static void push_log(lua_State *L, int table) {
  push_notes(L, CLUA_SHARED_LOGS);
  lua_pushvalue(L, table);
  if (lua_rawget(L, -2) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, table);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  lua_replace(L, -2);
}

/* Appends a note with the place of the running code; returns its place in the queue. [-0, +0, m] */
static lua_Integer append(lua_State *L, clua_shared *shared, int kind, int table, int key,
                          int value) {
  int top = lua_gettop(L), queue = top + 1, function = top + 2;
  push_notes(L, CLUA_SHARED_NOTES);
  int level = 0, line = clua_runningfunction(L, &level);
  lua_settop(L, function);
  lua_Integer place = shared->noted, base = place * NOTE_SIZE;
  lua_pushvalue(L, table);
  lua_rawseti(L, queue, base + NOTE_TABLE);
  lua_pushinteger(L, kind);
  lua_rawseti(L, queue, base + NOTE_KIND);
  lua_pushvalue(L, key);
  lua_rawseti(L, queue, base + NOTE_KEY);
  lua_pushvalue(L, value);
  lua_rawseti(L, queue, base + NOTE_VALUE);
  lua_pushvalue(L, function);
  lua_rawseti(L, queue, base + NOTE_FUNCTION);
  lua_pushinteger(L, line);
  lua_rawseti(L, queue, base + NOTE_LINE);
  shared->noted++;
  __atomic_add_fetch(&clua_unheardcount, 1, __ATOMIC_RELAXED);
  lua_settop(L, top);
  return place;
}

/* Pushes the value of the key in the store, or the marker for no value. [-0, +1, -] */
static void push_old(lua_State *L, int store, int key) {
  lua_pushvalue(L, key);
  if (lua_rawget(L, store) != LUA_TNIL) return;
  lua_pop(L, 1);
  lua_pushlightuserdata(L, (void *)&absent);
}

/* Notes the value of a list position. [-0, +0, m] */
static void note_position(lua_State *L, clua_node *node, int table, int store, int key) {
  int top = lua_gettop(L), log = top + 1, olds = top + 2;
  push_log(L, table);
  if (lua_rawgetp(L, log, &list_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushinteger(L, clua_listlength(L, node, store));
    lua_rawsetp(L, olds, &length_key);
    append(L, node->shared, KIND_LIST, table, olds, olds);
    lua_pushvalue(L, olds);
    lua_rawsetp(L, log, &list_key);
  }
  lua_pushvalue(L, key);
  if (lua_rawget(L, olds) == LUA_TNIL) {
    lua_pushvalue(L, key);
    push_old(L, store, key);
    lua_rawset(L, olds);
  }
  lua_settop(L, top);
}

/* Notes the value of a key, or the new value for a lazy key. [-0, +0, m] */
static void note_key(lua_State *L, clua_node *node, int kind, int table, int key, int value) {
  int top = lua_gettop(L), log = top + 1;
  push_log(L, table);
  lua_pushvalue(L, key);
  if (lua_rawget(L, log) == LUA_TNUMBER) {
    if (kind == KIND_ASSIGN) {
      push_notes(L, CLUA_SHARED_NOTES);
      lua_pushvalue(L, value);
      lua_rawseti(L, -2, lua_tointeger(L, top + 2) * NOTE_SIZE + NOTE_VALUE);
    }
  } else {
    lua_Integer place = append(L, node->shared, kind, table, key, value);
    lua_pushvalue(L, key);
    lua_pushinteger(L, place);
    lua_rawset(L, log);
  }
  lua_settop(L, top);
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Invalidates values computed from a written key: they may be read before the write is reported.
   [-0, +0, -] */
static void outdate(lua_State *L, clua_node *node, clua_record *record, int table, int key, int old,
                    int value) {
  const clua_observation *observation = &node->shared->observation;
  if (!observation->outdated || clua_same(L, old, value)) return;
  clua_write write = {
    .node = node, .slot = record ? record->slot : NULL, .every = node->every,
    .key = key, .old = old, .new_ = value, .was = !lua_isnil(L, old), .is = !lua_isnil(L, value),
  };
  observation->outdated(observation->context, L, &write);
}

/* Assigns to a lazy key: the engine assigns when the note is reported, and until then the value can
   be read in the store. [-0, +0, e] */
static void assign_unheard(lua_State *L, clua_node *node, clua_record *record, int table,
                           int userdata, int key, int value) {
  bool refused = (record->flags & (CLUA_LAZY_READONLY | CLUA_LAZY_UNCACHED)) &&
                 !(record->flags & CLUA_LAZY_WRITTEN);
  if (record->loading || refused || node->shared->closed) {
    node->shared->above->assign_lazy(L, node, record, userdata, key, value);
    return;
  }
  note_key(L, node, KIND_ASSIGN, table, key, value);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  lua_pushvalue(L, key);
  lua_pushvalue(L, value);
  lua_rawset(L, -4);
  outdate(L, node, record, table, key, lua_gettop(L), value);
  lua_pop(L, 2);
}

void clua_writeunheard(lua_State *L, clua_node *node, int table, int userdata, int key, int value) {
  int top = lua_gettop(L), store = top + 1;
  if (clua_isfrozen(node)) clua_raiseaccess(L, node);
  if (node->kind == CLUA_KIND_SET) luaL_error(L, "a set has no fields; use add and remove");
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  if (node->kind == CLUA_KIND_ARRAY) {
    lua_Integer index = node->shared->above->check_array(L, node, userdata, key, value);
    if (!index) {
      lua_settop(L, top);
      return;
    }
    lua_pushinteger(L, index);
    key = store + 1;
  }
  // A raw value in the table hides the store.
  lua_pushvalue(L, key);
  bool hidden = lua_rawget(L, table) != LUA_TNIL && clua_isstored(L, node, userdata, key);
  lua_pop(L, 1);
  if (hidden) clua_absorb(L, node, table, userdata, clua_writeunheard);
  clua_record *record = clua_record_of(L, node, userdata, key);
  bool isnumber = lua_type(L, key) == LUA_TNUMBER;
  bool iskey = isnumber ? lua_tonumber(L, key) == lua_tonumber(L, key) : !lua_isnil(L, key);
  if (!iskey || (!record && (!node->all || clua_ismetakey(L, key)))) {
    lua_pushvalue(L, key);
    lua_pushvalue(L, value);
    lua_rawset(L, table);
    if (node->asmetatable.dependents && clua_ismetakey(L, key)) {
      node->shared->above->metamethod_set(L, node, key);
    }
  } else if (record && record->lazy) {
    assign_unheard(L, node, record, table, userdata, key, value);
  } else {
    bool wanted = clua_iswanted(node, record);
    bool was = false;
    int old = lua_gettop(L) + 1;
    if (wanted) {
      push_old(L, store, key);
      was = lua_touserdata(L, old) != &absent;
      if (node->all && node->kind <= CLUA_KIND_ARRAY && clua_ispositive(L, key)) {
        note_position(L, node, table, store, key);
      } else {
        note_key(L, node, KIND_KEY, table, key, old);
      }
      if (!was) {
        lua_pushnil(L);
        lua_replace(L, old);
      }
    }
    lua_pushvalue(L, key);
    lua_pushvalue(L, value);
    lua_rawset(L, store);
    if (node->journaling || node->counting) {
      clua_keepsize(L, node, store, key, was, !lua_isnil(L, value));
    }
    if (node->sorts) node->disturbed = true;
    if (wanted) outdate(L, node, record, table, key, old, value);
  }
  lua_settop(L, top);
}

/* ---- Reporting ------------------------------------------------------------------------------ */

/* A note taken out of the queue: its fields are on the stack, followed by the parts of the table's
   node. */
typedef struct note {
  clua_node *node;
  int table, key, value, function, userdata, store;
  lua_Integer line;
} note;

/* Reports a key; its old value is at `value`. */
static void hear_key(lua_State *L, const note *note) {
  clua_record *record = clua_record_of(L, note->node, note->userdata, note->key);
  if (record && record->lazy) return;
  bool was = lua_touserdata(L, note->value) != &absent;
  if (!was) {
    lua_pushnil(L);
    clua_inheritvalue(L, note->userdata, note->key);
    lua_replace(L, note->value);
  }
  lua_pushvalue(L, note->key);
  bool is = lua_rawget(L, note->store) != LUA_TNIL;
  if (!is) clua_inheritvalue(L, note->userdata, note->key);
  clua_report(L, note->node, record ? record->slot : NULL, note->table, note->key, note->value,
              lua_gettop(L), was, is);
}

/* The bounds of the noted positions, and their number. */
typedef struct positions {
  lua_Integer low, high, count, length;
} positions;

static positions read_positions(lua_State *L, int olds) {
  positions all = {.low = LUA_MAXINTEGER};
  lua_rawgetp(L, olds, &length_key);
  all.length = lua_tointeger(L, -1);
  lua_pop(L, 1);
  lua_pushnil(L);
  while (lua_next(L, olds)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) != LUA_TNUMBER) continue;
    lua_Integer position = lua_tointeger(L, -1);
    if (position < all.low) all.low = position;
    if (position > all.high) all.high = position;
    all.count++;
  }
  return all;
}

/* Pushes the old value of a position. [-0, +1, -] */
static void push_before(lua_State *L, const note *note, lua_Integer position) {
  switch (lua_rawgeti(L, note->value, position)) {
  case LUA_TNIL:
    lua_pop(L, 1);
    lua_rawgeti(L, note->store, position);
    break;
  case LUA_TLIGHTUSERDATA:
    if (lua_touserdata(L, -1) != &absent) break;
    lua_pop(L, 1);
    lua_pushnil(L);
    break;
  default: break;
  }
}

/* Pushes the old list low…high. [-0, +1, m] */
static void push_list(lua_State *L, const note *note, lua_Integer low, lua_Integer high) {
  lua_createtable(L, high - low < INT32_MAX ? (int)(high - low + 1) : 0, 0);
  for (lua_Integer position = low; position <= high; position++) {
    push_before(L, note, position);
    lua_rawseti(L, -2, position - low + 1);
  }
}

/* Reports positions singly: they are far apart, or the list is no longer a list. */
static void hear_positions(lua_State *L, note *note) {
  int top = lua_gettop(L), olds = note->value;
  lua_pushnil(L);
  while (lua_next(L, olds)) {
    if (lua_type(L, top + 1) == LUA_TNUMBER) {
      // The report must not change the key of the loop.
      lua_pushvalue(L, top + 1);
      note->key = top + 3;
      note->value = top + 2;
      hear_key(L, note);
    }
    lua_settop(L, top + 1);
  }
}

/* Reports all writes of the list part as one edit. */
static void hear_list(lua_State *L, note *note) {
  positions all = read_positions(L, note->value);
  lua_Integer now = clua_listlength(L, note->node, note->store);
  bool spread = all.high - all.low >= 4 * all.count + 64;
  if (all.count <= 1 || spread || !note->node->all) {
    hear_positions(L, note);
    return;
  }
  if (!clua_islistheard(note->node)) return;
  clua_edit edit = {.length = all.length};
  if (all.low == all.length + 1 && now == all.high && all.count == now - all.length) {
    edit.kind = CLUA_EDIT_APPEND;
    edit.at = edit.low = all.low;
    edit.high = now;
    edit.count = all.count;
  } else if (all.high <= (now > all.length ? now : all.length)) {
    edit.kind = CLUA_EDIT_WHOLE;
    edit.count = all.length;
    edit.low = 1;
    edit.high = now > all.length ? now : all.length;
    push_list(L, note, 1, all.length);
  } else {
    edit.kind = CLUA_EDIT_RANGE;
    edit.at = edit.low = all.low;
    edit.high = all.high;
    edit.count = all.high - all.low + 1;
    push_list(L, note, all.low, all.high);
  }
  edit.list = lua_gettop(L);
  clua_reportedit(L, note->node, note->table, note->store, &edit);
}

static void assign(lua_State *L, const note *note) {
  clua_record *record = clua_record_of(L, note->node, note->userdata, note->key);
  if (!record || !record->lazy) return;
  clua_store(L, note->node, record, note->table, note->userdata, note->key, note->value);
}

/* Takes the first note out of the queue and reports it. */
static void hear_first(lua_State *L, clua_shared *shared) {
  int queue = lua_gettop(L) + 1, base = queue;
  clua_pushshared(L, CLUA_SHARED_NOTES);
  for (int field = 1; field <= NOTE_SIZE; field++) {
    lua_rawgeti(L, queue, shared->heard * NOTE_SIZE + field);
  }
  for (int field = 1; field <= NOTE_SIZE; field++) {
    lua_pushnil(L);
    lua_rawseti(L, queue, shared->heard * NOTE_SIZE + field);
  }
  shared->heard++;
  __atomic_sub_fetch(&clua_unheardcount, 1, __ATOMIC_RELAXED);
  note note = {
    .table = base + NOTE_TABLE, .key = base + NOTE_KEY, .value = base + NOTE_VALUE,
    .function = base + NOTE_FUNCTION, .line = lua_tointeger(L, base + NOTE_LINE),
  };
  lua_Integer kind = lua_tointeger(L, base + NOTE_KIND);
  push_log(L, note.table);
  lua_pushvalue(L, note.key);
  lua_pushnil(L);
  if (kind == KIND_LIST) {
    lua_rawsetp(L, -3, &list_key);
    lua_pop(L, 1);
  } else {
    lua_rawset(L, -3);
  }
  lua_pop(L, 1);
  note.node = clua_pushnodeat(L, note.table);
  if (!note.node || note.node->ended) return;
  note.userdata = lua_gettop(L);
  lua_getiuservalue(L, note.userdata, CLUA_NODE_STORE);
  note.store = note.userdata + 1;
  if (kind == KIND_ASSIGN) {
    assign(L, &note);
    return;
  }
  clua_setwriter(L, note.function, (int)note.line);
  if (kind == KIND_KEY) hear_key(L, &note);
  else hear_list(L, &note);
  clua_unsetwriter(L);
}

/* Clears the queue and the logs. [-0, +0, -] */
static void forget_notes(lua_State *L, clua_shared *shared) {
  shared->heard = shared->noted = 0;
  clua_pushstate(L);
  lua_pushnil(L);
  lua_setiuservalue(L, -2, CLUA_SHARED_NOTES);
  lua_pushnil(L);
  lua_setiuservalue(L, -2, CLUA_SHARED_LOGS);
  lua_pop(L, 1);
}

void clua_hear(lua_State *L) {
  int top = lua_gettop(L);
  clua_checkstack(L, 40, NULL);
  clua_shared *shared = clua_shared_of(L);
  if (!shared || shared->heard == shared->noted) return;
  if (shared->closed) {
    clua_dropunheard(shared);
    return;
  }
  // Getters may run in a search for immediate watchers. Reported now, a write would come out of
  // order, and would seem to be made by the getter.
  if (shared->observation.collectors && *shared->observation.collectors) return;
  // Raw writes of callbacks are reported the next time; otherwise this might never end.
  for (lua_Integer end = shared->noted; shared->heard < end && end <= shared->noted;) {
    hear_first(L, shared);
    lua_settop(L, top);
  }
  if (shared->noted && shared->heard == shared->noted) forget_notes(L, shared);
}

void clua_dropunheard(clua_shared *shared) {
  __atomic_sub_fetch(&clua_unheardcount, (int)(shared->noted - shared->heard), __ATOMIC_RELAXED);
  shared->heard = shared->noted = 0;
}
