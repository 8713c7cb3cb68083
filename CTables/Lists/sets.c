#include "lists.h"
#include "clua_collections.h"
#include "clua_guard.h"
#include "clua_modules.h"

/* ---- Members -------------------------------------------------------------------------------- */

typedef struct set {
  clua_node *node;
  int userdata, store;
} set;

/* The set at `index`; pushes its userdata and its store. [-0, +2, v] */
static set check_set(lua_State *L, int index) {
  set set = {NULL, 0, 0};
  clua_checkstack(L, 24, NULL);
  if (lua_type(L, index) == LUA_TTABLE) set.node = clua_pushnodeat(L, index);
  if (!set.node || set.node->kind != CLUA_KIND_SET) {
    clua_selferror(L, index, "obs.Set");
    return set;
  }
  lua_replace(L, -2);
  set.userdata = lua_gettop(L);
  if (clua_isunheard()) clua_hear(L);
  lua_getiuservalue(L, set.userdata, CLUA_NODE_STORE);
  set.store = set.userdata + 1;
  return set;
}

/* The set at `index`, which is about to change; pushes its userdata and its store. */
static set check_open_set(lua_State *L, int index) {
  set set = check_set(L, index);
  clua_checkaccess(L, set.node);
  return set;
}

/* Checks that an argument can be a member. [-0, +0, v] */
static void check_member(lua_State *L, int argument) {
  luaL_checkany(L, argument);
  luaL_argcheck(L, !lua_isnil(L, argument), argument, "a set has no place for nil");
  bool nan = lua_type(L, argument) == LUA_TNUMBER &&
             lua_tonumber(L, argument) != lua_tonumber(L, argument);
  luaL_argcheck(L, !nan, argument, "a set has no place for NaN");
}

/* Whether the value on top is in the store. [-1, +0, -] */
static bool contains(lua_State *L, int store) {
  bool found = lua_rawget(L, store) != LUA_TNIL;
  lua_pop(L, 1);
  return found;
}

/* Adds or removes the value on top; returns whether the set changed. The set is at 1.
   [-1, +0, m] */
static bool put(lua_State *L, const set *set, bool in) {
  int member = lua_gettop(L), exact = 0;
  if (lua_type(L, member) == LUA_TNUMBER) {
    // Members are compared like keys: 1.0 is 1.
    lua_Integer integer = lua_tointegerx(L, member, &exact);
    if (exact) {
      lua_pushinteger(L, integer);
      lua_replace(L, member);
    }
  }
  lua_pushvalue(L, member);
  if (contains(L, set->store) == in) {
    lua_settop(L, member - 1);
    return false;
  }
  lua_pushvalue(L, member);
  if (in) lua_pushvalue(L, member);
  else lua_pushnil(L);
  lua_rawset(L, set->store);
  set->node->size += in ? 1 : -1;
  clua_record *record = clua_record_of(L, set->node, set->userdata, member);
  lua_pushnil(L);
  clua_report(L, set->node, record ? record->slot : NULL, 1, member, in ? member + 1 : member,
              in ? member : member + 1, !in, in);
  lua_settop(L, member - 1);
  return true;
}

int clua_setnewindex(lua_State *L) {
  if (lua_type(L, 2) == LUA_TSTRING) {
    return luaL_error(L, "a set has no fields, but '%s' was assigned; use add and remove",
                      lua_tostring(L, 2));
  }
  return luaL_error(L, "a set has no fields; use add and remove");
}

static int set_add(lua_State *L) {
  lua_settop(L, 2);
  set set = check_open_set(L, 1);
  check_member(L, 2);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, put(L, &set, true));
  return 1;
}

static int set_remove(lua_State *L) {
  lua_settop(L, 2);
  set set = check_open_set(L, 1);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, !lua_isnil(L, 2) && put(L, &set, false));
  return 1;
}

static int set_contains(lua_State *L) {
  lua_settop(L, 2);
  set set = check_set(L, 1);
  lua_pushvalue(L, 2);
  lua_pushboolean(L, !lua_isnil(L, 2) && contains(L, set.store));
  return 1;
}

/* ---- Whole sets ----------------------------------------------------------------------------- */

/* Pushes the members as a list, as code that traverses it may change the set. [-0, +1, m] */
static lua_Integer push_members(lua_State *L, int store) {
  lua_newtable(L);
  int list = lua_gettop(L);
  lua_Integer count = 0;
  clua_steps steps = {L, 0};
  lua_pushnil(L);
  while (lua_next(L, store)) {
    clua_step(&steps);
    lua_rawseti(L, list, ++count);
  }
  return count;
}

/* Pushes the members of the argument at 2, a set or a list, as a list. [-0, +1, e] */
static lua_Integer push_argument(lua_State *L) {
  clua_checklist(L, 2);
  clua_node *node = clua_pushnodeat(L, 2);
  if (node && node->kind == CLUA_KIND_SET) {
    lua_getiuservalue(L, -1, CLUA_NODE_STORE);
    lua_replace(L, -3);
    lua_pop(L, 1);
    lua_Integer count = push_members(L, lua_gettop(L));
    lua_replace(L, -2);
    return count;
  }
  if (node) lua_pop(L, 2);
  lua_Integer count = luaL_len(L, 2);
  clua_steps steps = {L, 0};
  lua_newtable(L);
  for (lua_Integer i = 1; i <= count; i++) {
    clua_step(&steps);
    lua_geti(L, 2, i);
    bool nan = lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1);
    if (lua_isnil(L, -1) || nan) {
      luaL_error(L, "a set has no place for %s", nan ? "NaN" : "nil");
    }
    lua_rawseti(L, -2, i);
  }
  return count;
}

/* (set, list, count, in): adds or removes all values of the list. */
static int put_each(lua_State *L) {
  lua_Integer count = lua_tointeger(L, 3);
  bool in = lua_toboolean(L, 4);
  set set = check_set(L, 1);
  clua_steps steps = {L, 0};
  for (lua_Integer i = 1; i <= count; i++) {
    clua_step(&steps);
    lua_rawgeti(L, 2, i);
    put(L, &set, in);
  }
  return 0;
}

/* Adds or removes all values of the list on top, as one operation (C13). The set is at 1.
   [-0, +0, e] */
static int put_all(lua_State *L, const set *set, lua_Integer count, bool in) {
  const clua_observation *observation = &set->node->shared->observation;
  int list = lua_gettop(L);
  lua_pushcfunction(L, put_each);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, list);
  lua_pushinteger(L, count);
  lua_pushboolean(L, in);
  if (observation->batch) observation->batch(observation->context, L, true);
  int status = lua_pcall(L, 4, 0, 0);
  if (observation->batch) observation->batch(observation->context, L, false);
  return status == LUA_OK ? 0 : lua_error(L);
}

static int set_union(lua_State *L) {
  lua_settop(L, 2);
  set set = check_open_set(L, 1);
  return put_all(L, &set, push_argument(L), true);
}

static int set_subtract(lua_State *L) {
  lua_settop(L, 2);
  set set = check_open_set(L, 1);
  return put_all(L, &set, push_argument(L), false);
}

static int set_intersect(lua_State *L) {
  lua_settop(L, 2);
  set set = check_open_set(L, 1);
  lua_Integer others = push_argument(L);
  int list = lua_gettop(L), kept = list + 1;
  clua_steps steps = {L, 0};
  lua_newtable(L);
  for (lua_Integer i = 1; i <= others; i++) {
    clua_step(&steps);
    lua_rawgeti(L, list, i);
    lua_pushboolean(L, true);
    lua_rawset(L, kept);
  }
  lua_Integer gone = 0;
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, set.store)) {
    clua_step(&steps);
    lua_pushvalue(L, -1);
    if (contains(L, kept)) lua_pop(L, 1);
    else lua_rawseti(L, kept + 1, ++gone);
  }
  return put_all(L, &set, gone, false);
}

static int set_clear(lua_State *L) {
  lua_settop(L, 1);
  set set = check_open_set(L, 1);
  return put_all(L, &set, push_members(L, set.store), false);
}

/* Upvalues: the list, the position. */
static int next_value(lua_State *L) {
  lua_Integer position = lua_tointeger(L, lua_upvalueindex(2)) + 1;
  lua_pushinteger(L, position);
  lua_replace(L, lua_upvalueindex(2));
  lua_rawgeti(L, lua_upvalueindex(1), position);
  if (clua_istracking(L)) clua_track(L, lua_gettop(L));
  return 1;
}

static int set_values(lua_State *L) {
  lua_settop(L, 1);
  set set = check_set(L, 1);
  push_members(L, set.store);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_value, 2);
  return 1;
}

/* ---- Keys for paths ------------------------------------------------------------------------- */

static int set_key_of(lua_State *L) {
  lua_settop(L, 2);
  check_set(L, 1);
  check_member(L, 2);
  lua_pushvalue(L, 2);
  clua_pushmembername(L);
  size_t length;
  const char *name = lua_tolstring(L, -1, &length);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  luaL_addchar(&buffer, '&');
  for (size_t i = 0; i < length; i++) {
    if (name[i] == '.' || name[i] == '\\') luaL_addchar(&buffer, '\\');
    luaL_addchar(&buffer, name[i]);
  }
  luaL_pushresult(&buffer);
  return 1;
}

static int set_object_for(lua_State *L) {
  lua_settop(L, 2);
  set set = check_set(L, 1);
  size_t length;
  const char *key = luaL_checklstring(L, 2, &length);
  luaL_argcheck(L, length > 1 && key[0] == '&', 2, "a key that begins with '&' expected");
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (size_t i = 1; i < length; i++) {
    if (key[i] == '\\' && i + 1 < length) i++;
    luaL_addchar(&buffer, key[i]);
  }
  luaL_pushresult(&buffer);
  clua_pushnamedmember(L);
  if (lua_isnil(L, -1)) return 1;
  lua_rawget(L, set.store);
  return 1;
}

const luaL_Reg clua_set_methods[] = {
  {"add", set_add}, {"remove", set_remove}, {"contains", set_contains}, {"union", set_union},
  {"intersect", set_intersect}, {"subtract", set_subtract}, {"clear", set_clear},
  {"key_of", set_key_of}, {"object_for", set_object_for}, {"values", set_values},
  {NULL, NULL},
};
