#include "clua_handles.h"
#include "clua_allocator.h"

#include <string.h>

#include "clua_guard.h"
#include "private.h"

static const char handle_keys[CLUA_HANDLE_KINDS];

/* Whether Lua retains the objects of handles of this kind. */
static bool is_owner(clua_handle_kind kind) {
  return kind == CLUA_HANDLE_PATH || kind == CLUA_HANDLE_OBJECT;
}

static size_t size_of(clua_handle_kind kind) {
  return is_owner(kind) ? sizeof(clua_ownhandle) : sizeof(clua_kindhandle);
}

/* Returns the memory that is counted for a path. */
static void give_back(lua_State *L, const clua_handle *handle) {
  clua_guard *guard = clua_guard_of(L);
  clua_share *share = (clua_share *)(uintptr_t)handle->id;
  if (share && guard && guard->memory) clua_count(guard->memory, share, -(ptrdiff_t)handle->index);
}

/* Called when Lua has freed the handle; L is NULL when the state is closed. */
static bool handle_lost(lua_State *L, clua_claim *claim) {
  clua_ownhandle *own = CLUA_CLAIMER(clua_ownhandle, claim);
  const clua_handle *handle = &own->base.handle;
  // A handle that could not be filled has no object.
  if (!handle->release) return true;
  if (L && own->base.kind == CLUA_HANDLE_PATH) give_back(L, handle);
  handle->release(handle->object);
  return true;
}

static int sethandlekind(lua_State *L) {
  lua_Integer kind = lua_tointeger(L, 2);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  return 0;
}

int clua_try_sethandlekind(lua_State *L, clua_handle_kind kind) {
  lua_pushinteger(L, kind);
  return clua_protect(L, sethandlekind, 2, 0);
}

/* (handle, key); upvalues: the methods, and the function for other keys. */
static int handle_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

/* (methods, function, kind) */
static int sethandleindex(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[lua_tointeger(L, 3)]);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, handle_index, 2);
  lua_setfield(L, -2, "__index");
  return 0;
}

int clua_try_sethandleindex(lua_State *L, clua_handle_kind kind) {
  lua_pushinteger(L, kind);
  return clua_protect(L, sethandleindex, 3, 0);
}

void clua_newhandle(lua_State *L, clua_handle_kind kind) {
  clua_kindhandle *handle = lua_newuserdatauv(L, size_of(kind), 1);
  memset(handle, 0, size_of(kind));
  handle->kind = kind;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  lua_setmetatable(L, -2);
  if (is_owner(kind)) clua_makeclaim(L, &((clua_ownhandle *)handle)->claim, handle_lost);
}

typedef struct handle_source {
  clua_handle_kind kind;
  clua_handle handle;
} handle_source;

static int pushhandle(lua_State *L) {
  const handle_source *source = lua_touserdata(L, 1);
  clua_newhandle(L, source->kind);
  *(clua_handle *)lua_touserdata(L, -1) = source->handle;
  return 1;
}

int clua_try_pushhandle(lua_State *L, clua_handle_kind kind, clua_handle handle) {
  handle_source source = {kind, handle};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, pushhandle, 1, 1);
}

clua_handle *clua_tohandle(lua_State *L, int index, clua_handle_kind kind) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  if (!same || lua_rawlen(L, index) != size_of(kind)) return NULL;
  clua_kindhandle *held = lua_touserdata(L, index);
  return held->kind == kind ? &held->handle : NULL;
}
