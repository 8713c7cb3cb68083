#include "store.h"
#include "clua_allocator.h"
#include "clua_modules.h"

#include <stdlib.h>
#include <string.h>

int clua_observing = 0;

const char clua_node_key = 0, clua_shared_key = 0;

/* ---- Shared state --------------------------------------------------------------------------- */

void clua_pushshared(lua_State *L, int which) {
  clua_pushstate(L);
  lua_getiuservalue(L, -1, which);
  lua_replace(L, -2);
}

void clua_pushsharedtable(lua_State *L, int which, const char *mode) {
  clua_pushshared(L, which);
  if (lua_type(L, -1) == LUA_TTABLE) return;
  lua_pop(L, 1);
  clua_pushstate(L);
  clua_pushweak(L, mode);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, -3, which);
  lua_replace(L, -2);
}

void clua_pushweak(lua_State *L, const char *mode) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

/* ---- Nodes: life ---------------------------------------------------------------------------- */

static bool node_lost(lua_State *L, clua_claim *claim) {
  clua_node *node = CLUA_CLAIMER(clua_node, claim);
  const clua_observation *observation = &node->shared->observation;
  if (L) clua_losenode(L, node);
  else if (node->owner) observation->ended(observation->context, NULL, node, node->owner);
  return true;
}

/* Makes the node alive. It has no finalizer: when Lua frees its block, the claim keeps the block
   until the node has ended, as pointers lead to it. [-0, +0, m] */
static void claim_node(lua_State *L, clua_node *node) {
  clua_makeclaim(L, &node->claim, node_lost);
  clua_claimrecords(L, node);
  node->ended = false;
}

void clua_unclaimnode(lua_State *L, clua_node *node) {
  clua_endclaim(L, &node->claim);
  clua_unclaimrecords(L, node);
  node->ended = true;
}

/* Stops all reports; reads and writes of a table that survived continue to work. */
static void silence(clua_claim *claim) {
  clua_node *node = CLUA_CLAIMER(clua_node, claim);
  node->owner = NULL;
  node->every = NULL;
  for (int i = 0; i < node->count; i++) node->records[i].slot = NULL;
  node->positives = 0;
  node->journaling = false;
}

/* Ends a node. The values it keeps are on top of the stack, or nil if they were freed.
   [-0, +0, -] */
static void end_node(lua_State *L, clua_node *node) {
  void *owner = node->owner;
  clua_shared *shared = node->shared;
  silence(&node->claim);
  clua_node *const *dependents = &node->asmetatable.dependents;
  while (*dependents) clua_unwatchmetatable(*dependents);
  clua_unwatchmetatable(node);
  clua_unclaimnode(L, node);
  clua_forgettable(L, node);
  if (owner && shared->observation.ended) {
    shared->observation.ended(shared->observation.context, L, node, owner);
  }
}

void clua_losenode(lua_State *L, clua_node *node) {
  if (node->ended) return;
  lua_pushnil(L);
  end_node(L, node);
  lua_pop(L, 1);
}

void clua_node_lose(lua_State *L, clua_node *node) {
  const clua_node *class = node->usermetatable.node;
  bool finalized =
      class && class->asmetatable.known && class->asmetatable.events >> CLUA_EVENT_GC & 1;
  if (!finalized) clua_losenode(L, node);
}

/* Turns the lazy keys of an ended node into plain keys. [-0, +0, -] */
static void forget_lazies(lua_State *L, clua_node *node, int userdata) {
  if (node->lazies == 0) return;
  for (int i = 0; i < node->count; i++) node->records[i].lazy = false;
  node->lazies = 0;
  node->onecell = false;
  lua_pushnil(L);
  lua_setiuservalue(L, userdata, CLUA_NODE_LAZY);
  lua_getiuservalue(L, userdata, CLUA_NODE_STORE);
  clua_setstoremetatable(L, node, userdata, lua_gettop(L));
  lua_pop(L, 1);
}

bool clua_endifdead(lua_State *L, clua_node *node, int userdata) {
  if (node->ended || clua_node_isthere(L, node)) return false;
  clua_losenode(L, node);
  forget_lazies(L, node, userdata);
  return true;
}

clua_node *clua_node_livingat(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return NULL;
  clua_node *node = clua_pushnodeat(L, index);
  if (!node) return NULL;
  clua_endifdead(L, node, lua_gettop(L));
  lua_pop(L, 2);
  return node->ended ? NULL : node;
}

void clua_observation_close(lua_State *L) {
  clua_shared *shared = clua_shared_of(L);
  if (!shared) return;
  shared->closed = true;
  clua_eachclaim(L, node_lost, silence);
}

/* Estimates of the bytes freed with a table (its node, private metatable, store, callbacks), and
   with each of its keys, which may be lazy. */
enum { NODE_TABLES = sizeof(clua_node) + 800, NODE_KEY = 300 };

/* Whether the finalizer of a garbage table has just brought the table back, or runs next and may do
   so. [-0, +any, -] */
static bool may_come_back(lua_State *L, clua_node *node, int userdata) {
  if (clua_node_isthere(L, node)) return true;
  if (node->rearmed || lua_getiuservalue(L, userdata, CLUA_NODE_METATABLE) != LUA_TTABLE)
    return false;
  lua_pushstring(L, clua_events[CLUA_EVENT_GC]);
  node->rearmed = lua_rawget(L, -2) != LUA_TNIL;
  return node->rearmed;
}

/* The finalizer of a sentinel, whose user value is the private metatable: the table is garbage, but
   the values its node keeps still exist. */
static int ending_gc(lua_State *L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) != LUA_TUSERDATA || lua_getiuservalue(L, 1, 1) != LUA_TTABLE) return 0;
  clua_node *node = clua_pushnodeof(L, 2);
  if (!node || node->ended) return 0;
  clua_owe(L, NODE_TABLES + (size_t)node->count * NODE_KEY);
  if (may_come_back(L, node, 3)) {
    lua_getmetatable(L, 1);
    lua_setmetatable(L, 1);
    return 0;
  }
  lua_pushnil(L);
  lua_setiuservalue(L, 3, CLUA_NODE_ENDING);
  lua_rawgeti(L, 2, CLUA_OWN_VALUE);
  end_node(L, node);
  return 0;
}

/* Called when the state is closed. */
static bool shared_lost(lua_State *L, clua_claim *claim) {
  (void)L;
  clua_shared *shared = CLUA_CLAIMER(clua_shared, claim);
  clua_dropunheard(shared);
  free(shared->places.free);
  return true;
}

/* ---- Nodes: their tables --------------------------------------------------------------------- */

/* A node finds its table by the place in a weak list. A weak map would work too, but the collector
   traverses it twice, and checks every entry in a step that cannot be interrupted. */

void clua_remembertable(lua_State *L, clua_node *node, int table) {
  clua_places *places = &node->shared->places;
  bool isnew = !node->place;
  uint32_t place = !isnew          ? node->place
                   : places->spare ? places->free[places->spare - 1]
                                   : places->count + 1;
  lua_rawgeti(L, LUA_REGISTRYINDEX, places->tables);
  lua_pushvalue(L, table);
  lua_rawseti(L, -2, place);
  lua_pop(L, 1);
  // Nothing from here on needs memory.
  if (!isnew) return;
  node->place = place;
  if (places->spare) places->spare--;
  else places->count++;
}

void clua_forgettable(lua_State *L, clua_node *node) {
  clua_places *places = &node->shared->places;
  if (!node->place) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, places->tables);
  // If the collector has cleared the place, writing nil there may need memory.
  if (lua_rawgeti(L, -1, node->place) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, -3, node->place);
  }
  lua_pop(L, 2);
  if (places->spare == places->room) {
    size_t room = places->room ? 2 * places->room : 64;
    uint32_t *grown = realloc(places->free, room * sizeof *grown);
    // If out of memory, the place stays empty.
    if (grown) {
      places->free = grown;
      places->room = room;
    }
  }
  if (places->spare < places->room) places->free[places->spare++] = node->place;
  node->place = 0;
}

clua_node *clua_node_at(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return NULL;
  clua_node *node = clua_pushnodeat(L, index);
  if (!node) return NULL;
  lua_pop(L, 2);
  return node->ended ? NULL : node;
}

/* The number of metamethods of the metatable at `user`, as far as known. [-0, +0, -] */
static int events_of(lua_State *L, int user) {
  clua_node *known = clua_node_at(L, user);
  if (!known || !known->asmetatable.known) return 0;
  // With a name there is a forwarder for `tostring`, too.
  int count = (known->asmetatable.events >> CLUA_EVENT_NAME) & 1;
  for (uint32_t events = known->asmetatable.events; events; events &= events - 1) count++;
  return count;
}

/* Fills the private metatable of a table without another metatable: nothing is forwarded. Indices
   are absolute. [-0, +0, m] */
static void fill_plainly(lua_State *L, int table, int metatable, int userdata, int store) {
  lua_pushliteral(L, "__index");
  lua_pushvalue(L, store);
  lua_rawset(L, metatable);
  lua_pushliteral(L, "__newindex");
  lua_pushvalue(L, userdata);
  lua_pushvalue(L, store);
  lua_pushcclosure(L, clua_storenewindex, 2);
  lua_rawset(L, metatable);
  lua_pushvalue(L, metatable);
  lua_setmetatable(L, table);
}

clua_node *clua_node_make(lua_State *L, int index) {
  return clua_node_makekind(L, index, CLUA_KIND_PLAIN, 0);
}

clua_node *clua_node_makekind(lua_State *L, int index, clua_kind kind, int metamethods) {
  int table = lua_absindex(L, index), top = lua_gettop(L);
  clua_checkstack(L, 20, NULL);
  clua_node *node = clua_pushnodeat(L, table);
  if (node) {
    clua_endifdead(L, node, top + 2);
    if (node->ended) {
      // The node has ended, but its table lives on. Drop the values of its former watchers.
      lua_pushnil(L);
      lua_rawseti(L, top + 1, CLUA_OWN_VALUE);
      lua_pushnil(L);
      lua_setiuservalue(L, top + 2, CLUA_NODE_ENDING);
      forget_lazies(L, node, top + 2);
      clua_remembertable(L, node, table);
      claim_node(L, node);
      clua_watchmetatable(L, node, top + 2);
    }
    lua_settop(L, top);
    return node;
  }
  bool inherits = lua_getmetatable(L, table);
  if (!inherits) lua_pushnil(L);
  int user = top + 1, state = top + 2, userdata = top + 3, store = top + 4, metatable = top + 5;
  clua_pushstate(L);
  clua_shared *shared = (clua_shared *)lua_touserdata(L, state);
  node = (clua_node *)lua_newuserdatauv(L, sizeof *node, CLUA_NODE_USERVALUES);
  memset(node, 0, sizeof *node);
  node->mark = &clua_node_key;
  node->shared = shared;
  node->kind = kind;
  node->all = clua_isstorefixed(node);
  node->records = node->inlined;
  node->capacity = CLUA_RECORDS_INLINE;
  node->ended = true;  // until the node is complete: an error on the way leaves nothing behind
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, store);
  lua_setiuservalue(L, userdata, CLUA_NODE_STORE);
  // `__index`, `__newindex`, and the forwarders to the user's metatable.
  lua_createtable(L, CLUA_OWN_VALUE, 2 + metamethods + (inherits ? events_of(L, user) : 0));
  lua_pushvalue(L, userdata);
  lua_rawseti(L, metatable, CLUA_OWN_NODE);
  clua_remembertable(L, node, table);
  if (inherits) {
    lua_pushvalue(L, user);
    lua_setiuservalue(L, userdata, CLUA_NODE_METATABLE);
    shared->above->fill(L, node, table, metatable, userdata, false);
  } else {
    fill_plainly(L, table, metatable, userdata, store);
  }
  claim_node(L, node);
  shared->active = true;
  __atomic_store_n(&clua_observing, 1, __ATOMIC_RELAXED);
  if (inherits) clua_watchmetatable(L, node, userdata);
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
  lua_rawgeti(L, LUA_REGISTRYINDEX, node->shared->places.tables);
  lua_rawgeti(L, -1, node->place);
  lua_remove(L, -2);
}

bool clua_node_isthere(lua_State *L, clua_node *node) {
  clua_node_pushtable(L, node);
  bool there = lua_type(L, -1) == LUA_TTABLE;
  lua_pop(L, 1);
  return there;
}

void clua_node_pushvalueat(lua_State *L, int index) {
  if (!lua_getmetatable(L, index)) {
    lua_pushnil(L);
    return;
  }
  lua_rawgeti(L, -1, CLUA_OWN_VALUE);
  lua_replace(L, -2);
}

void *clua_node_owner(const clua_node *node) { return node->owner; }
void clua_node_setowner(clua_node *node, void *owner) { node->owner = owner; }

/* ---- Installing ----------------------------------------------------------------------------- */

clua_shared *clua_install_nodes(lua_State *L, const clua_observation *observation,
                                const clua_handlers *above) {
  int top = lua_gettop(L);
  clua_shared *shared = (clua_shared *)lua_newuserdatauv(L, sizeof *shared, CLUA_SHARED_COUNT);
  memset(shared, 0, sizeof *shared);
  shared->observation = *observation;
  shared->above = above;
  clua_makeclaim(L, &shared->claim, shared_lost);
  int userdata = top + 1;
  lua_pushvalue(L, userdata);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &clua_shared_key);
  lua_pushvalue(L, userdata);
  shared->reference = luaL_ref(L, LUA_REGISTRYINDEX);
  clua_home_of(L)->tables = shared;

  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, ending_gc);
  lua_setfield(L, -2, "__gc");
  lua_setiuservalue(L, userdata, CLUA_SHARED_ENDING);
  clua_pushweak(L, "v");
  shared->places.tables = luaL_ref(L, LUA_REGISTRYINDEX);
  clua_pushweak(L, "v");
  shared->cells = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  shared->threads = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  shared->tracked = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "kv");
  lua_setfield(L, -2, "__mode");
  lua_setiuservalue(L, userdata, CLUA_SHARED_WEAK);
  clua_pushweak(L, "k");
  lua_setiuservalue(L, userdata, CLUA_SHARED_CLASSES);
  lua_settop(L, userdata);
  return shared;
}
