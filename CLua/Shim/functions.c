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
  // With `debug` a script may have removed the upvalue.
  if (!box) return luaL_error(L, "the function was released");
  int results = box->function(L, box->context);
  return results == CLUA_RAISE ? lua_error(L) : results;
}

/* Called when Lua has freed the box. */
static bool box_lost(lua_State *L, clua_claim *claim) {
  (void)L;
  clua_box *box = CLUA_CLAIMER(clua_box, claim);
  // A box that could not be filled owns nothing.
  if (box->context) box->release(box->context);
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

void clua_install_functions(lua_State *L) {
  lua_createtable(L, 0, 2);
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
  // The box is filled last, so that after an earlier failure the caller still has the reference.
  clua_fillbox(box, source);
  return 1;
}

int clua_try_pushfunction(lua_State *L, clua_function function, void *context,
                          clua_finalizer release) {
  clua_box box = {.function = function, .context = context, .release = release};
  lua_pushlightuserdata(L, &box);
  return clua_protect(L, pushfunction, 1, 1);
}

static _Atomic(lua_CFunction) others[CLUA_FUNCTIONS];

void clua_notefunction(int which, lua_CFunction function) {
  atomic_store_explicit(&others[which], function, memory_order_relaxed);
}

bool clua_isfunction(lua_State *L, int index) {
  lua_CFunction function = lua_tocfunction(L, index);
  if (!function) return false;
  for (int i = 0; i < CLUA_FUNCTIONS; i++) {
    if (function == atomic_load_explicit(&others[i], memory_order_relaxed)) return true;
  }
  return function == trampoline || function == clua_call_box || clua_isaccelerated(function);
}
