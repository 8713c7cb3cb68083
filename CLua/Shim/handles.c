#include "clua_handles.h"
#include "clua_allocator.h"

#include <string.h>

#include "private.h"

static const char handle_keys[CLUA_HANDLE_KINDS];

/* The handle of any kind at 1, NULL where there is none. */
static clua_handle *anyhandle(lua_State *L) {
  if (lua_type(L, 1) != LUA_TUSERDATA || !lua_getmetatable(L, 1)) return NULL;
  bool same = false;
  for (int kind = 0; kind < CLUA_HANDLE_KINDS && !same; kind++) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
    same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  bool fits = same && lua_rawlen(L, 1) == sizeof(clua_kindhandle);
  return fits ? &((clua_kindhandle *)lua_touserdata(L, 1))->handle : NULL;
}

static int collect(lua_State *L) {
  // A script may call this function itself, with any arguments.
  clua_handle *handle = anyhandle(L);
  if (handle != NULL && handle->release != NULL) {
    clua_finalizer release = handle->release;
    // A script may use the handle afterwards.
    void *object = handle->object;
    handle->release = NULL;
    handle->object = NULL;
    clua_owe(L, 2 * sizeof(clua_kindhandle));
    release(object);
  }
  return 0;
}

static int sethandlekind(lua_State *L) {
  lua_Integer kind = lua_tointeger(L, 2);
  lua_settop(L, 1);
  if (kind == CLUA_HANDLE_PATH || kind == CLUA_HANDLE_OBJECT) {
    // The others own nothing: without a finalizer the first cycle of the collector frees them.
    lua_pushcfunction(L, collect);
    lua_setfield(L, 1, "__gc");
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  return 0;
}

int clua_try_sethandlekind(lua_State *L, clua_handle_kind kind) {
  lua_pushinteger(L, kind);
  return clua_protect(L, sethandlekind, 2, 0);
}

/* Upvalues: the methods, and the function for other keys. (handle, key) */
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
  clua_kindhandle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
  memset(handle, 0, sizeof *handle);
  handle->kind = kind;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  lua_setmetatable(L, -2);
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
  if (!same || lua_rawlen(L, index) != sizeof(clua_kindhandle)) return NULL;
  clua_kindhandle *held = lua_touserdata(L, index);
  return held->kind == kind ? &held->handle : NULL;
}
