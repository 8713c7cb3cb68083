#include "clua_protected.h"

#include "clua_guard.h"
#include "private.h"

#include <string.h>

/* Operands that are not Lua values are passed as a light userdata that points to a struct of the
   caller: on the C stack, below the frame to which a raise returns. */

typedef struct text {
  const char *bytes;
  size_t length;
} text;

/* ---- New values ------------------------------------------------------------------------------ */

static int pushlstring(lua_State *L) {
  const text *source = lua_touserdata(L, 1);
  lua_pushlstring(L, source->bytes, source->length);
  return 1;
}

int clua_try_pushlstring(lua_State *L, const char *bytes, size_t length) {
  text source = {bytes, length};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, pushlstring, 1, 1);
}

static int createtable(lua_State *L) {
  lua_createtable(L, (int)lua_tointeger(L, 1), (int)lua_tointeger(L, 2));
  return 1;
}

int clua_try_createtable(lua_State *L, int elements, int fields) {
  lua_pushinteger(L, elements);
  lua_pushinteger(L, fields);
  return clua_protect(L, createtable, 2, 1);
}

/* ---- Operations on the value at an index ----------------------------------------------------- */

CLUA_OPERATION_AT(clua_try_gettable, 1, 1, lua_gettable(L, 1))
CLUA_OPERATION_AT(clua_try_settable, 2, 0, lua_settable(L, 1))
CLUA_OPERATION_AT(clua_try_rawset, 2, 0, lua_rawset(L, 1))
CLUA_OPERATION_AT(clua_try_tostring, 0, 1, luaL_tolstring(L, 1, NULL))

int clua_try_geti(lua_State *L, int index, lua_Integer key) {
  index = lua_absindex(L, index);
  lua_pushinteger(L, key);
  return clua_try_gettable(L, index);
}

static int getfield(lua_State *L) {
  const text *name = lua_touserdata(L, 1);
  lua_pushlstring(L, name->bytes, name->length);
  lua_gettable(L, 2);
  return 1;
}

int clua_try_getfield(lua_State *L, int index, const char *name, size_t length) {
  text field = {name, length};
  index = lua_absindex(L, index);
  lua_pushlightuserdata(L, &field);
  lua_pushvalue(L, index);
  return clua_protect(L, getfield, 2, 1);
}

static int setfield(lua_State *L) {
  const text *name = lua_touserdata(L, 2);
  lua_pushlstring(L, name->bytes, name->length);
  lua_pushvalue(L, 1);
  lua_settable(L, 3);
  return 0;
}

int clua_try_setfield(lua_State *L, int index, const char *name, size_t length) {
  text field = {name, length};
  index = lua_absindex(L, index);
  lua_pushlightuserdata(L, &field);
  lua_pushvalue(L, index);
  return clua_protect(L, setfield, 3, 0);
}

static int len(lua_State *L) {
  lua_Integer *length = lua_touserdata(L, 2);
  *length = luaL_len(L, 1);
  return 0;
}

int clua_try_len(lua_State *L, int index, lua_Integer *length) {
  lua_pushvalue(L, index);
  lua_pushlightuserdata(L, length);
  return clua_protect(L, len, 2, 0);
}

/* ---- Chunks and libraries -------------------------------------------------------------------- */

typedef struct chunk {
  text source;
  const char *name, *mode;
  int status;
} chunk;

/// Raises the error that a load function left, so that both kinds of failure end the same way.
static int loaded(lua_State *L, chunk *chunk, int status) {
  chunk->status = status;
  return status == LUA_OK ? 1 : lua_error(L);
}

/* The compiler takes some 10 microseconds per byte of a chunk with deeply nested names. */
enum { CHUNK_PIECE = 256 };

static const char *next_piece(lua_State *L, void *data, size_t *size) {
  text *rest = data;
  clua_poll(L);
  const char *piece = rest->bytes;
  *size = rest->length < CHUNK_PIECE ? rest->length : CHUNK_PIECE;
  rest->bytes += *size;
  rest->length -= *size;
  return *size > 0 ? piece : NULL;
}

int clua_loadtext(lua_State *L, const char *bytes, size_t length, const char *name,
                  const char *mode) {
  text rest = {bytes, length};
  int status = lua_load(L, next_piece, &rest, name, mode);
  // Only the host program has compiled code.
  bool ismended = clua_home_of(L)->restricted && (length == 0 || *bytes != *LUA_SIGNATURE);
  return status == LUA_OK && ismended ? clua_mend(L, name) : status;
}

static int load(lua_State *L) {
  chunk *wanted = lua_touserdata(L, 1);
  return loaded(L, wanted,
                clua_loadtext(L, wanted->source.bytes, wanted->source.length, wanted->name,
                              wanted->mode));
}

static int loadfile(lua_State *L) {
  chunk *wanted = lua_touserdata(L, 1);
  return loaded(L, wanted, luaL_loadfilex(L, wanted->name, wanted->mode));
}

static int try_chunk(lua_State *L, lua_CFunction function, chunk *wanted) {
  clua_guard *guard = clua_guard_of(L);
  lua_pushlightuserdata(L, wanted);
  clua_enter(guard, L);
  int status = clua_protect(L, function, 1, 1);
  clua_leave(guard, L);
  return status == LUA_ERRRUN && wanted->status != LUA_OK ? wanted->status : status;
}

int clua_try_load(lua_State *L, const char *bytes, size_t length, const char *name,
                  const char *mode) {
  chunk wanted = {{bytes, length}, name, mode, LUA_OK};
  return try_chunk(L, load, &wanted);
}

const char *clua_skipheading(const char *text, size_t *length) {
  const char *end = text + *length;
  if (*length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
  if (text < end && *text == '#') {
    text = memchr(text, '\n', (size_t)(end - text));
    if (!text) text = end;
    // Bytecode has no lines.
    if (end - text > 1 && text[1] == LUA_SIGNATURE[0]) text++;
  }
  *length = (size_t)(end - text);
  return text;
}

int clua_try_loadfile(lua_State *L, const char *path, const char *mode) {
  chunk wanted = {{NULL, 0}, path, mode, LUA_OK};
  return try_chunk(L, loadfile, &wanted);
}

static const luaL_Reg libraries[] = {
    {LUA_GNAME, luaopen_base},          {LUA_LOADLIBNAME, luaopen_package},
    {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
    {LUA_IOLIBNAME, luaopen_io},        {LUA_OSLIBNAME, luaopen_os},
    {LUA_STRLIBNAME, luaopen_string},   {LUA_MATHLIBNAME, luaopen_math},
    {LUA_UTF8LIBNAME, luaopen_utf8},    {LUA_DBLIBNAME, luaopen_debug},
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

void clua_keepmodules(lua_State *L) {
  // The finalizer of this table unloads them.
  if (lua_getfield(L, LUA_REGISTRYINDEX, "_CLIBS") == LUA_TTABLE) {
    lua_pushnil(L);
    lua_setmetatable(L, -2);
  }
  lua_pop(L, 1);
}

static int openlibs(lua_State *L) {
  uint32_t wanted = (uint32_t)lua_tointeger(L, 1);
  for (size_t i = 0; i < LIBRARIES; i++) {
    if (!(wanted & 1u << i)) continue;
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
  clua_keepmodules(L);
  return 0;
}

int clua_try_openlibs(lua_State *L, uint32_t libraries) {
  lua_pushinteger(L, libraries);
  return clua_protect(L, openlibs, 1, 0);
}

/// Removes the basic functions from the table at 1, the globals. [-0, +0, m]
static void withdrawbase(lua_State *L) {
  // Opening the library once more, into another table, yields the names of its functions.
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushcfunction(L, luaopen_base);
  int status = lua_pcall(L, 0, 0, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  if (status != LUA_OK) lua_error(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushnil(L);
    lua_rawset(L, 1);
  }
  lua_pop(L, 1);
}

static int withdrawlibs(lua_State *L) {
  uint32_t withdrawn = (uint32_t)lua_tointeger(L, 1);
  int *reference = lua_touserdata(L, 2);
  lua_settop(L, 0);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 1);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 2);
  }
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (size_t i = 0; i < LIBRARIES; i++) {
    if (!(withdrawn & 1u << i)) continue;
    lua_pushnil(L);
    lua_setfield(L, 3, libraries[i].name);
    if (libraries[i].func == luaopen_base) {
      withdrawbase(L);
    } else {
      lua_pushstring(L, libraries[i].name);
      lua_pushnil(L);
      lua_rawset(L, 1);
    }
    if (libraries[i].func == luaopen_string) {
      lua_pushliteral(L, "");
      lua_pushnil(L);
      lua_setmetatable(L, -2);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, 2);
  *reference = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

int clua_try_withdrawlibs(lua_State *L, uint32_t withdrawn, int *reference) {
  lua_pushinteger(L, withdrawn);
  lua_pushlightuserdata(L, reference);
  return clua_protect(L, withdrawlibs, 2, 0);
}
