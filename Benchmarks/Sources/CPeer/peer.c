#include "peer.h"

#include <lua5.4/lauxlib.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>
#include <string.h>

struct peer {
  lua_State *L;
};

typedef struct object {
  lua_Integer integer;
  lua_Number number;
  int boolean;
  size_t length;
  char text[64];
} object;

enum { INTEGER = 1, NUMBER, BOOLEAN, TEXT, METHOD };

/* Names are compared by address; as upvalues, they stay alive. */
static inline int slot(lua_State *L) {
  const void *name = lua_topointer(L, 2);
  for (int i = INTEGER; i <= METHOD; i++)
    if (lua_topointer(L, lua_upvalueindex(i)) == name) return i;
  return luaL_error(L, "no property '%s'", luaL_tolstring(L, 2, NULL));
}

static int add(lua_State *L) {
  object *self = luaL_checkudata(L, 1, "object");
  self->integer += luaL_checkinteger(L, 2);
  return 0;
}

static int index_object(lua_State *L) {
  object *self = lua_touserdata(L, 1);
  switch (slot(L)) {
    case INTEGER: lua_pushinteger(L, self->integer); break;
    case NUMBER: lua_pushnumber(L, self->number); break;
    case BOOLEAN: lua_pushboolean(L, self->boolean); break;
    case METHOD: lua_pushvalue(L, lua_upvalueindex(METHOD + 1)); break;
    default: lua_pushlstring(L, self->text, self->length);
  }
  return 1;
}

static int newindex_object(lua_State *L) {
  object *self = lua_touserdata(L, 1);
  switch (slot(L)) {
    case INTEGER: self->integer = luaL_checkinteger(L, 3); break;
    case NUMBER: self->number = luaL_checknumber(L, 3); break;
    case BOOLEAN:
      luaL_checktype(L, 3, LUA_TBOOLEAN);
      self->boolean = lua_toboolean(L, 3);
      break;
    default: {
      const char *text = luaL_checklstring(L, 3, &self->length);
      if (self->length > sizeof self->text) return luaL_error(L, "too long");
      memcpy(self->text, text, self->length);
    }
  }
  return 0;
}

static void setmethod(lua_State *L, const char *event, lua_CFunction function) {
  lua_pushliteral(L, "integer");
  lua_pushliteral(L, "number");
  lua_pushliteral(L, "boolean");
  lua_pushliteral(L, "text");
  lua_pushliteral(L, "add");
  lua_pushcfunction(L, add);
  lua_pushcclosure(L, function, METHOD + 1);
  lua_setfield(L, -2, event);
}

peer *peer_make(void) {
  peer *made = malloc(sizeof *made);
  if (!made) return NULL;
  lua_State *L = made->L = luaL_newstate();
  luaL_openlibs(L);
  object *self = lua_newuserdatauv(L, sizeof *self, 0);
  memset(self, 0, sizeof *self);
  luaL_newmetatable(L, "object");
  setmethod(L, "__index", index_object);
  setmethod(L, "__newindex", newindex_object);
  lua_setmetatable(L, -2);
  lua_setglobal(L, "object");
  return made;
}

int peer_load(peer *peer, const char *script) {
  lua_settop(peer->L, 0);
  return luaL_loadstring(peer->L, script) == LUA_OK && lua_pcall(peer->L, 0, 1, 0) == LUA_OK;
}

int peer_call(peer *peer, long long count) {
  lua_pushvalue(peer->L, 1);
  lua_pushinteger(peer->L, count);
  return lua_pcall(peer->L, 1, 0, 0) == LUA_OK;
}
