#include "clua_allocator.h"
#include "clua_protected.h"
#include "clua_collections.h"
#include "clua_guard.h"
#include "clua_lazy.h"
#include "clua_models.h"
#include "clua_modules.h"

/* ---- Operations on nodes --------------------------------------------------------------------- */

/* The operands of such an operation that are not values. They are on the C stack, below the frame
   to which a raise returns. */
typedef struct operation {
  clua_node *node;
  clua_slot *slot;
  int flags;
  lua_Integer number;
} operation;

/* Defines the protected function: it finds the operands from 1 on, and the operation on top of
   them. */
#define BODY(name, statement)                      \
  static int name(lua_State *L) {                  \
    operation *wanted = lua_touserdata(L, -1);     \
    statement;                                     \
    return 0;                                      \
  }

static int run(lua_State *L, lua_CFunction body, int operands, operation *wanted) {
  bool held = clua_holdcollector(L);
  lua_pushlightuserdata(L, wanted);
  int status = clua_protect(L, body, operands + 1, 0);
  clua_releasecollector(L, held);
  return status;
}

/* A path may lead to any number of tables, so making and watching them can be stopped. */
BODY(prepare, clua_poll(L);
     wanted->node = clua_node_prepare(L, 1, 2, wanted->flags | CLUA_PREPARE_HELD))
BODY(watch, clua_poll(L); clua_node_watch(L, wanted->node, 1, wanted->slot))
BODY(watchevery, clua_node_watchevery(L, wanted->node, wanted->slot))
BODY(unobserve, clua_node_unobserve(L, wanted->node))
BODY(tidy, clua_node_tidy(L, wanted->node))
BODY(lazy, clua_node_lazy(L, wanted->node, 1, 2, 3, wanted->flags, wanted->number))
BODY(declare, clua_node_declare(L, wanted->node, 1))
BODY(declareall, clua_node_declareall(L, wanted->node))

int clua_try_node_prepare(lua_State *L, int known, clua_node **node) {
  operation wanted = {.flags = known};
  int status = run(L, prepare, 2, &wanted);
  *node = wanted.node;
  return status;
}

int clua_try_node_watch(lua_State *L, clua_node *node, clua_slot *slot) {
  return run(L, watch, 1, &(operation){.node = node, .slot = slot});
}

int clua_try_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot) {
  return run(L, watchevery, 0, &(operation){.node = node, .slot = slot});
}

int clua_try_node_unobserve(lua_State *L, clua_node *node) {
  return run(L, unobserve, 0, &(operation){.node = node});
}

int clua_try_node_tidy(lua_State *L, clua_node *node) {
  return run(L, tidy, 0, &(operation){.node = node});
}

int clua_try_node_lazy(lua_State *L, clua_node *node, int flags, lua_Integer number) {
  return run(L, lazy, 3, &(operation){.node = node, .flags = flags, .number = number});
}

int clua_try_node_declare(lua_State *L, clua_node *node) {
  return run(L, declare, 1, &(operation){.node = node});
}

int clua_try_node_declareall(lua_State *L, clua_node *node) {
  return run(L, declareall, 0, &(operation){.node = node});
}

static int install(lua_State *L) {
  clua_observation_install(L, lua_touserdata(L, 1));
  return 0;
}

int clua_try_observation_install(lua_State *L, const clua_observation *observation) {
  lua_pushlightuserdata(L, (void *)observation);
  return clua_protect(L, install, 1, 0);
}

/* ---- Operations on values -------------------------------------------------------------------- */

CLUA_OPERATION(clua_try_pushconstructors, 0, 3, clua_pushconstructors(L))
CLUA_OPERATION(clua_try_pushmembername, 1, 1, clua_pushmembername(L))
CLUA_OPERATION(clua_try_pushnamedmember, 1, 1, clua_pushnamedmember(L))

CLUA_OPERATION(clua_try_hear, 0, 0, clua_hear(L))
CLUA_OPERATION_AT(clua_try_absorb, 0, 0, clua_absorbtable(L))
CLUA_OPERATION_AT(clua_try_absorbkey, 1, 0, clua_absorbtable(L))
CLUA_OPERATION_AT(clua_try_track, 0, 0, clua_track(L, 1))
CLUA_OPERATION_AT(clua_try_setmetatable, 1, 0, clua_setmetatable(L, 1))
// At the end both results are nil.
CLUA_OPERATION_AT(clua_try_next, 1, 2, (clua_next(L, 1), lua_settop(L, 3)))

/* Like `clua_next` for the table at 1, without its first `length` elements. */
static int next_beyond(lua_State *L, lua_Integer length) {
  while (clua_next(L, 1)) {
    if (!lua_isinteger(L, -2)) return 1;
    lua_Integer key = lua_tointeger(L, -2);
    if (key < 1 || key > length) return 1;
    lua_pop(L, 1);
  }
  return 0;
}

/* (table, length) -> key or nil */
static int key_beyond(lua_State *L) {
  lua_Integer length = lua_tointeger(L, 2);
  bool is_list = clua_getmetatable(L, 1);
  if (is_list) {
    lua_pushliteral(L, "__len");
    is_list = lua_rawget(L, -2) != LUA_TNIL;
  }
  lua_settop(L, 2);
  lua_pushnil(L);
  // A table that says its length keeps its elements as it likes.
  if (is_list) return 1;
  if (next_beyond(L, length)) {
    lua_pop(L, 1);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

int clua_try_keybeyond(lua_State *L, int index, lua_Integer length) {
  lua_pushvalue(L, index);
  lua_pushinteger(L, length);
  return clua_protect(L, key_beyond, 2, 1);
}

/* (table, light count, length) -> list */
static int entries(lua_State *L) {
  lua_Integer *count = lua_touserdata(L, 2), length = lua_tointeger(L, 3);
  int size = 0;
  lua_pushnil(L);
  for (; next_beyond(L, length); size++) lua_pop(L, 1);
  lua_settop(L, 3);
  // The collector takes no step during the traversal, so no finalizer changes the table.
  lua_createtable(L, 2 * size, 0);
  *count = 0;
  if (size == 0) return 1;
  lua_pushnil(L);
  for (; next_beyond(L, length); ++*count) {
    lua_rawseti(L, 4, 2 * *count + 2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 4, 2 * *count + 1);
  }
  return 1;
}

int clua_try_entries(lua_State *L, int index, lua_Integer length, lua_Integer *count) {
  lua_pushvalue(L, index);
  lua_pushlightuserdata(L, count);
  lua_pushinteger(L, length);
  return clua_protect(L, entries, 3, 1);
}
