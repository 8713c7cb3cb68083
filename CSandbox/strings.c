#include "sandbox.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* Functions of `string` that copy any number of bytes, in pieces. The other functions are bounded:
   by the size of the stack (`byte`, `char`), by one copy (`sub`, `format`), or by the length of a
   format, which is limited here. */

/* The largest format, in bytes; far longer than anyone writes by hand. */
enum { LONGEST_FORMAT = 1 << 14 };
/* The largest string for `%q`, in bytes: `%q` reads each one. */
enum { LONGEST_QUOTED = 1 << 16 };

/* ---- Copies ---------------------------------------------------------------------------------- */

static int string_rep(lua_State *L) {
  size_t length, gap;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  const char *separator = luaL_optlstring(L, 3, "", &gap);
  if (count <= 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (length + gap < length || length + gap > (size_t)INT_MAX / (size_t)count)
    return luaL_error(L, "resulting string too large");
  size_t total = (size_t)count * length + (size_t)(count - 1) * gap, unit = length + gap;
  luaL_Buffer b;
  char *result = luaL_buffinitsize(L, &b, total);
  // Copying the part that exists already doubles it.
  size_t done = total < unit ? total : unit;
  memcpy(result, text, done < length ? done : length);
  if (done > length) memcpy(result + length, separator, done - length);
  while (done < total) {
    clua_poll(L);
    size_t piece = done < CLUA_PIECE ? done : CLUA_PIECE / unit * unit;
    if (piece == 0) piece = unit;
    if (piece > total - done) piece = total - done;
    memcpy(result + done, result, piece);
    done += piece;
  }
  luaL_pushresultsize(&b, total);
  return 1;
}

/* Pushes the string at 1 with each byte changed. */
static int push_changed(lua_State *L, int (*change)(int)) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  luaL_Buffer b;
  char *result = luaL_buffinitsize(L, &b, length);
  for (size_t i = 0; i < length; i++) {
    if (i % CLUA_STEPS == 0) clua_poll(L);
    result[i] = (char)change((unsigned char)text[i]);
  }
  luaL_pushresultsize(&b, length);
  return 1;
}

static int string_lower(lua_State *L) { return push_changed(L, tolower); }
static int string_upper(lua_State *L) { return push_changed(L, toupper); }

static int string_reverse(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  luaL_Buffer b;
  char *result = luaL_buffinitsize(L, &b, length);
  for (size_t i = 0; i < length; i++) {
    if (i % CLUA_STEPS == 0) clua_poll(L);
    result[i] = text[length - 1 - i];
  }
  luaL_pushresultsize(&b, length);
  return 1;
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* Calls the library's function, unless its format is too long. Upvalue: that function. */
static int call_with_format(lua_State *L) {
  size_t length = 0;
  if (lua_type(L, 1) == LUA_TSTRING) lua_tolstring(L, 1, &length);
  if (length > LONGEST_FORMAT)
    return luaL_error(L, "the format is longer than %d bytes", LONGEST_FORMAT);
  lua_CFunction function = lua_tocfunction(L, lua_upvalueindex(1));
  return function(L);
}

/* The same for `format`. Upvalue: the library's function. */
static int string_format(lua_State *L) {
  const char *format = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "";
  for (int i = 2; strstr(format, "%q") && i <= lua_gettop(L); i++) {
    if (lua_type(L, i) == LUA_TSTRING && lua_rawlen(L, i) > LONGEST_QUOTED)
      return luaL_error(L, "bad argument #%d to 'format' (longer than %d bytes)", i,
                        LONGEST_QUOTED);
  }
  return call_with_format(L);
}

static void replace(lua_State *L, int table, const char *name, lua_CFunction function) {
  table = lua_absindex(L, table);
  if (lua_getfield(L, table, name) == LUA_TFUNCTION) {
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, table, name);
  } else {
    lua_pop(L, 1);
  }
}

void clua_limitformats(lua_State *L, int table, const char *name) {
  replace(L, table, name, call_with_format);
}

void clua_stoppable_strings(lua_State *L, int string) {
  static const luaL_Reg functions[] = {
      {"rep", string_rep}, {"lower", string_lower}, {"upper", string_upper},
      {"reverse", string_reverse}, {0}};
  lua_pushvalue(L, string);
  luaL_setfuncs(L, functions, 0);
  static const char *const formats[] = {"pack", "packsize", "unpack"};
  for (int i = 0; i < 3; i++) clua_limitformats(L, -1, formats[i]);
  replace(L, -1, "format", string_format);
  lua_pop(L, 1);
}
