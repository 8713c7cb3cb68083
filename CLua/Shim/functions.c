#include "clua.h"
#include "clua_allocator.h"
#include "private.h"

#include <stdatomic.h>

static const char box_key;

/* Upvalues of a trampoline: 1 the Swift function, 2 its context. */
static int trampoline(lua_State *L) {
  clua_function function = (clua_function)lua_touserdata(L, lua_upvalueindex(1));
  int results = function(L, lua_touserdata(L, lua_upvalueindex(2)));
  return results == CLUA_RAISE ? lua_error(L) : results;
}

void clua_pushfunction(lua_State *L, clua_function function, void *context) {
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushcclosure(L, trampoline, 2);
}

/* Upvalue of a trampoline that owns its context: the box. */
int clua_call_box(lua_State *L) {
  clua_box *box = lua_touserdata(L, lua_upvalueindex(1));
  // Finalizers that run while the state closes may call a function that was released before.
  if (!box || !box->context) return luaL_error(L, "the function was released");
  int results = box->function(L, box->context);
  return results == CLUA_RAISE ? lua_error(L) : results;
}

static void release(clua_box *box) {
  void *context = box->context;
  box->context = NULL;
  if (context) box->release(context);
}

int clua_box_collect(lua_State *L) {
  clua_box *box = lua_touserdata(L, 1);
  clua_endclaim(L, &box->claim);
  // The box, and the function that holds it.
  if (box->context) clua_owe(L, 3 * sizeof(clua_box));
  release(box);
  return 0;
}

static bool box_lost(lua_State *L, clua_claim *claim) {
  (void)L;
  release(CLUA_CLAIMER(clua_box, claim));
  return true;
}

clua_box *clua_newbox(lua_State *L, const void *key, int uservalues) {
  clua_box *box = lua_newuserdatauv(L, sizeof *box, uservalues);
  *box = (clua_box){0};
  lua_rawgetp(L, LUA_REGISTRYINDEX, key);
  lua_setmetatable(L, -2);
  clua_makeclaim(L, &box->claim, box_lost);
  return box;
}

void clua_fillbox(clua_box *box, const clua_box *source) {
  box->function = source->function;
  box->context = source->context;
  box->release = source->release;
}

/* A script may call this function itself, with any arguments. */
static int collect(lua_State *L) {
  if (lua_type(L, 1) != LUA_TUSERDATA || !lua_getmetatable(L, 1)) return 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &box_key);
  bool same = lua_rawequal(L, -1, -2) && lua_rawlen(L, 1) == sizeof(clua_box);
  lua_pop(L, 2);
  return same ? clua_box_collect(L) : 0;
}

void clua_install_functions(lua_State *L) {
  lua_createtable(L, 0, 3);
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
  lua_pushliteral(L, "SwiftFunction");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &box_key);
}

static int pushfunction(lua_State *L) {
  const clua_box *source = lua_touserdata(L, 1);
  clua_box *box = clua_newbox(L, &box_key, 0);
  lua_pushcclosure(L, clua_call_box, 1);
  // The box is filled last, so that after a failure above the caller still has the reference.
  clua_fillbox(box, source);
  return 1;
}

int clua_try_pushfunction(lua_State *L, clua_function function, void *context,
                          clua_finalizer release) {
  clua_box box = {.function = function, .context = context, .release = release};
  lua_pushlightuserdata(L, &box);
  return clua_protect(L, pushfunction, 1, 1);
}

/* The functions of other targets that hand on to Swift, NULL where there are no more. */
enum { OTHERS = 2 };
static _Atomic(lua_CFunction) others[OTHERS];

void clua_notefunction(lua_CFunction function) {
  for (int i = 0; i < OTHERS; i++) {
    lua_CFunction none = NULL;
    if (others[i] == function) return;
    if (atomic_compare_exchange_strong(&others[i], &none, function)) return;
  }
}

bool clua_isfunction(lua_State *L, int index) {
  lua_CFunction function = lua_tocfunction(L, index);
  if (!function) return false;
  for (int i = 0; i < OTHERS; i++) {
    if (function == others[i]) return true;
  }
  return function == trampoline || function == clua_call_box || clua_isaccelerated(function);
}
