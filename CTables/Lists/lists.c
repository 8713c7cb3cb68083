#include "lists.h"
#include "clua_collections.h"
#include "clua_modules.h"

/* ---- One operation, one edit ----------------------------------------------------------------- */

void clua_listinsert(lua_State *L, clua_node *node, int table, int store, lua_Integer length,
                     lua_Integer position, int value) {
  // This is faster than raw access, and the store has no metamethods that could be called.
  for (lua_Integer i = length; i >= position; i--) {
    lua_geti(L, store, i);
    lua_seti(L, store, i + 1);
  }
  lua_pushvalue(L, value);
  lua_rawseti(L, store, position);
  clua_setlength(L, node, store, position > length && lua_isnil(L, value) ? length : length + 1);
  if (!clua_islistheard(node)) return;
  clua_edit edit = {
    .kind = CLUA_EDIT_INSERT, .at = position, .count = 1, .element = value, .length = length,
    .low = position, .high = length + 1,
  };
  clua_reportedit(L, node, table, store, &edit);
}

void clua_listremove(lua_State *L, clua_node *node, int table, int store, lua_Integer length,
                     lua_Integer position) {
  lua_rawgeti(L, store, position);
  int element = lua_gettop(L);
  for (lua_Integer i = position; i < length; i++) {
    lua_geti(L, store, i + 1);
    lua_seti(L, store, i);
  }
  lua_pushnil(L);
  lua_rawseti(L, store, length);
  clua_setlength(L, node, store, length - 1);
  if (!clua_islistheard(node)) return;
  clua_edit edit = {
    .kind = CLUA_EDIT_REMOVE, .at = position, .count = 1, .element = element, .length = length,
    .low = position, .high = length,
  };
  clua_reportedit(L, node, table, store, &edit);
}

void clua_listwrite(lua_State *L, clua_node *node, int table, int store,
                    lua_Integer position, int source, lua_Integer first, lua_Integer count) {
  int top = lua_gettop(L);
  bool heard = clua_islistheard(node);
  if (heard) clua_copyrange(L, store, position, position + count - 1);
  // A finalizer may have changed the list.
  lua_Integer length = clua_listlength(L, node, store);
  clua_edit edit = {
    .kind = CLUA_EDIT_RANGE, .at = position, .count = count, .length = length,
    .low = position, .high = position + count - 1, .list = top + 1,
  };
  // Elements are copied backwards if the ranges overlap that way.
  bool forward = source != store || position <= first || position >= first + count;
  for (lua_Integer i = 0; i < count; i++) {
    lua_Integer offset = forward ? i : count - 1 - i;
    lua_rawgeti(L, source, first + offset);
    lua_rawseti(L, store, position + offset);
  }
  clua_setlength(L, node, store, length);
  if (heard) clua_reportedit(L, node, table, store, &edit);
  lua_settop(L, top);
}

/* ---- The library `table` --------------------------------------------------------------------- */

clua_node *clua_listat(lua_State *L, clua_shared *shared, int index) {
  clua_node *node = clua_observedat(L, shared, index);
  if (!node) return NULL;
  int metatable = lua_gettop(L) - 1, userdata = metatable + 1;
  // The metamethods of array classes are known.
  bool array = node->kind == CLUA_KIND_ARRAY;
  bool plain = node->all && node->kind != CLUA_KIND_SET && node->kind != CLUA_KIND_DICTIONARY;
  if (plain && !array && lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE) == LUA_TTABLE) {
    static const char *const names[] = {"__index", "__newindex", "__len"};
    for (int i = 0; i < 3 && plain; i++) {
      plain = clua_pushfield(L, userdata, names[i]) == LUA_TNIL;
      lua_pop(L, 1);
    }
  }
  if (!plain) {
    lua_settop(L, metatable - 1);
    return NULL;
  }
  lua_settop(L, userdata);
  clua_noteread(L, node, CLUA_READ_EVERY);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  lua_replace(L, metatable);
  lua_settop(L, metatable);
  return node;
}

/* Calls the stock function with the store. */
static int read_list(lua_State *L, lua_CFunction stock) {
  clua_shared *shared = clua_sharedhere(L);
  if (shared->active && clua_listat(L, shared, 1)) lua_replace(L, 1);
  return stock(L);
}

int clua_tableconcat(lua_State *L) { return read_list(L, clua_sharedhere(L)->concat); }

int clua_tableunpack(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  // The results may leave no room to check this afterwards.
  bool is_tracking = shared->active && clua_istracking(L);
  int results = read_list(L, shared->unpack);
  for (int i = 0; is_tracking && i < results; i++) clua_track(L, lua_gettop(L) - i);
  return results;
}

int clua_tableinsert(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (clua_isunheard()) clua_hear(L);
  clua_node *node = shared->active ? clua_listat(L, shared, 1) : NULL;
  if (!node) return shared->insert(L);
  clua_absorblist(L, 1);
  clua_checkaccess(L, node);
  int arguments = lua_gettop(L) - 1, store = arguments + 1;
  lua_Integer length = clua_listlength(L, node, store), position = length + 1;
  if (arguments == 3) {
    position = luaL_checkinteger(L, 2);
    luaL_argcheck(L, position >= 1 && position <= length + 1, 2, "position out of bounds");
  } else if (arguments != 2) {
    return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  if (node->kind == CLUA_KIND_ARRAY) clua_checkelement(L, node, arguments);
  clua_listinsert(L, node, 1, store, length, position, arguments);
  return 0;
}

int clua_tableremove(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (clua_isunheard()) clua_hear(L);
  clua_node *node = shared->active ? clua_listat(L, shared, 1) : NULL;
  if (!node) return shared->remove(L);
  clua_absorblist(L, 1);
  clua_checkaccess(L, node);
  int arguments = lua_gettop(L) - 1, store = arguments + 1;
  lua_Integer length = clua_listlength(L, node, store), position = length;
  if (arguments >= 2) position = luaL_optinteger(L, 2, length);
  if (position >= 1 && position <= length) {
    if (node->kind == CLUA_KIND_ARRAY) clua_checkelement(L, node, 0);
    clua_listremove(L, node, 1, store, length, position);
    return 1;
  }
  if (position != length && position != length + 1) {
    // The release of Lua determines which argument the message calls bad.
    lua_createtable(L, 0, 0);
    lua_replace(L, 1);
    lua_pushinteger(L, -1);
    lua_replace(L, 2);
    lua_settop(L, 2);
    return shared->remove(L);
  }
  // A position beyond the end is an ordinary key.
  lua_pushinteger(L, position);
  lua_pushvalue(L, -1);
  lua_rawget(L, store);
  lua_pushnil(L);
  clua_scriptrawset(L, 1, store + 1, store + 3, true);
  lua_settop(L, store + 2);
  return 1;
}

int clua_tablemove(lua_State *L) {
  clua_shared *shared = clua_sharedhere(L);
  if (!shared->active) return shared->move(L);
  if (clua_isunheard()) clua_hear(L);
  int top = lua_gettop(L);
  if (top < 4) return shared->move(L);
  int target = top >= 5 && !lua_isnil(L, 5) ? 5 : 1;
  clua_node *node = clua_listat(L, shared, target);
  bool other = target == 5 && !lua_rawequal(L, 1, 5);
  // Reading from anything but a plain table may run code, so elements are then moved one by one.
  bool plain = !other || (lua_type(L, 1) == LUA_TTABLE && !lua_getmetatable(L, 1));
  int exact[3];
  lua_Integer from = lua_tointegerx(L, 2, &exact[0]), end = lua_tointegerx(L, 3, &exact[1]),
              to = lua_tointegerx(L, 4, &exact[2]);
  if (!node || !plain || !exact[0] || !exact[1] || !exact[2] || from > end ||
      (from <= 0 && end >= LUA_MAXINTEGER + from) ||
      to > LUA_MAXINTEGER - (end - from + 1) + 1) {
    lua_settop(L, top);
    return shared->move(L);
  }
  int store = top + 1;
  lua_settop(L, store);
  clua_absorblist(L, target);
  clua_checkaccess(L, node);
  if (node->kind == CLUA_KIND_ARRAY) {
    clua_checkelements(L, node, store, to, other ? 1 : store, from, end - from + 1);
  }
  clua_listwrite(L, node, target, store, to, other ? 1 : store, from, end - from + 1);
  lua_pushvalue(L, target);
  return 1;
}

/* ---- Finding an element ---------------------------------------------------------------------- */

static bool is_at(lua_State *L, int list, int value, lua_Integer position) {
  lua_pushinteger(L, position);
  clua_rawget(L, list);
  bool same = clua_same(L, -1, value);
  lua_pop(L, 1);
  return same;
}

lua_Integer clua_find(lua_State *L, int list, int value, lua_Integer hint) {
  // The hint may be beyond the border, too: a list with holes may have its border anywhere.
  if (is_at(L, list, value, hint)) return hint;
  lua_Integer length = (lua_Integer)clua_rawlen(L, list);
  lua_Integer below = hint <= length ? hint - 1 : length, above = hint + 1;
  while (below >= 1 || above <= length) {
    if (below >= 1 && is_at(L, list, value, below)) return below;
    if (above <= length && is_at(L, list, value, above)) return above;
    below--;
    above++;
  }
  return 0;
}
