/* A C module whose functions access tables directly, as other modules do. */
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <pthread.h>

static const char address = 0;

static int get(lua_State *L) {
  lua_settop(L, 2);
  lua_rawget(L, -2);
  return 1;
}

static int geti(lua_State *L) {
  lua_rawgeti(L, 1, luaL_checkinteger(L, 2));
  return 1;
}

static int getp(lua_State *L) {
  lua_rawgetp(L, 1, &address);
  return 1;
}

/* Returns the table: the stack has to be as the library leaves it. */
static int set(lua_State *L) {
  lua_settop(L, 3);
  lua_rawset(L, -3);
  return lua_gettop(L);
}

static int seti(lua_State *L) {
  lua_Integer key = luaL_checkinteger(L, 2);
  lua_settop(L, 3);
  lua_rawseti(L, 1, key);
  lua_settop(L, 1);
  return 1;
}

static int setp(lua_State *L) {
  lua_settop(L, 2);
  lua_rawsetp(L, -2, &address);
  return lua_gettop(L);
}

static int len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
  return 1;
}

static int next(lua_State *L) {
  lua_settop(L, 2);
  if (lua_next(L, 1)) return lua_gettop(L) - 1;
  lua_pushnil(L);
  return lua_gettop(L) - 1;
}

/* (table) -> the number of pairs, keys and values in the order of `lua_next` */
static int all(lua_State *L) {
  lua_Integer count = 0;
  lua_settop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_rawseti(L, 3, ++count);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 2, count);
  }
  lua_pushinteger(L, count);
  lua_insert(L, 2);
  return 3;
}

/* (table, values …): replaces the list with the values. */
static int fill(lua_State *L) {
  int count = lua_gettop(L) - 1;
  lua_Integer old = (lua_Integer)lua_rawlen(L, 1);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(L, i + 1);
    lua_rawseti(L, 1, i);
  }
  for (lua_Integer i = old; i > count; i--) {
    lua_pushnil(L);
    lua_rawseti(L, 1, i);
  }
  return 0;
}

/* (table, value): inserts at the front. */
static int push_front(lua_State *L) {
  for (lua_Integer i = (lua_Integer)lua_rawlen(L, 1); i >= 1; i--) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, 1, i + 1);
  }
  lua_rawseti(L, 1, 1);
  return 0;
}

static int get_metatable(lua_State *L) {
  lua_settop(L, 1);
  if (!lua_getmetatable(L, 1)) lua_pushnil(L);
  return lua_gettop(L) - 1;
}

static int set_metatable(lua_State *L) {
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

/* (key): reads a key of the table in the upvalue. */
static int bound_get(lua_State *L) {
  lua_settop(L, 1);
  lua_rawget(L, lua_upvalueindex(1));
  return 1;
}

static int bound_set(lua_State *L) {
  lua_settop(L, 2);
  lua_rawset(L, lua_upvalueindex(1));
  return 0;
}

static int bind(lua_State *L) {
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, bound_get, 1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, bound_set, 1);
  return 2;
}

/* (table, f): calls f with each pair, inside the loop. */
static int each(lua_State *L) {
  lua_settop(L, 2);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 0);
    lua_pop(L, 1);
  }
  return 0;
}

static int ref(lua_State *L) {
  lua_settop(L, 2);
  lua_pushinteger(L, luaL_ref(L, 1));
  return 1;
}

static int unref(lua_State *L) {
  luaL_unref(L, 1, (int)luaL_checkinteger(L, 2));
  return 0;
}

/* (table, name): the result of luaL_getmetafield. */
static int field(lua_State *L) {
  if (luaL_getmetafield(L, 1, luaL_checkstring(L, 2)) == LUA_TNIL) lua_pushnil(L);
  return 1;
}

static int text(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

static volatile unsigned long turns;

static void *spin(void *unused) {
  for (;;) turns++;
  return unused;
}

/* Starts a thread that runs this module's code until the process ends. */
static int start(lua_State *L) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, spin, NULL) != 0) return luaL_error(L, "no thread");
  while (turns == 0) continue;
  return 0;
}

int luaopen_rawaccess(lua_State *L) {
  static const luaL_Reg functions[] = {
    {"get", get}, {"geti", geti}, {"getp", getp}, {"set", set}, {"seti", seti}, {"setp", setp},
    {"len", len}, {"next", next}, {"all", all}, {"fill", fill}, {"push_front", push_front},
    {"getmetatable", get_metatable}, {"setmetatable", set_metatable}, {"bind", bind},
    {"each", each}, {"ref", ref}, {"unref", unref}, {"field", field}, {"text", text},
    {"start", start},
    {NULL, NULL},
  };
  luaL_newlib(L, functions);
  return 1;
}
