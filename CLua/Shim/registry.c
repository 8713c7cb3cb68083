#include "clua_registry.h"

#include "clua_allocator.h"

/* ---- Tables of the host ---------------------------------------------------------------------- */

/* (light reference, weak?) */
static int maketable(lua_State *L) {
  lua_newtable(L);
  if (lua_toboolean(L, 2)) {
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
  *(int *)lua_touserdata(L, 1) = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static int try_make(lua_State *L, int *reference, bool weak) {
  lua_pushlightuserdata(L, reference);
  lua_pushboolean(L, weak);
  return clua_protect(L, maketable, 2, 0);
}

int clua_try_maketable(lua_State *L, int *reference) { return try_make(L, reference, false); }

int clua_try_makeweak(lua_State *L, int *reference) { return try_make(L, reference, true); }

void clua_dropreference(lua_State *L, int reference) {
  luaL_unref(L, LUA_REGISTRYINDEX, reference);
}

/* ---- Cycles of the collector ----------------------------------------------------------------- */

typedef struct sentinel {
  clua_finalizer function;
  void *context;
  clua_claim claim;
} sentinel;

/* The finalizer of a sentinel, an object that dies in each cycle and is revived for the next one,
   which takes no memory. */
static int sentinel_collect(lua_State *L) {
  const sentinel *dead = lua_touserdata(L, 1);
  dead->function(dead->context);
  lua_getmetatable(L, 1);
  lua_setmetatable(L, 1);
  return 0;
}

/* A sentinel that was not revived gets a successor. */
static bool sentinel_lost(lua_State *L, clua_claim *claim) {
  const sentinel *dead = CLUA_CLAIMER(sentinel, claim);
  if (!L) return true;
  if (clua_try_watchcollector(L, dead->function, dead->context) != LUA_OK) {
    lua_pop(L, 1);
    return false;
  }
  dead->function(dead->context);
  return true;
}

static int watchcollector(lua_State *L) {
  sentinel *first = lua_newuserdatauv(L, sizeof *first, 0);
  *first = *(sentinel *)lua_touserdata(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, sentinel_collect);
  lua_setfield(L, -2, "__gc");
  // Nothing after this allocates memory, so no error can leave a second sentinel.
  clua_makeclaim(L, &first->claim, sentinel_lost);
  lua_setmetatable(L, -2);
  return 0;
}

int clua_try_watchcollector(lua_State *L, clua_finalizer function, void *context) {
  sentinel source = {.function = function, .context = context};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, watchcollector, 1, 0);
}
