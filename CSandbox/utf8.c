#include "sandbox.h"

/* `len` and `offset` of the library utf8, which traverse a string of any length. The other
   functions process one character at a time, or are bounded by the stack. */

enum { LARGEST_CODE = 0x10FFFF };

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* The end of the character at `s`; NULL if its bytes are invalid. The text ends with a zero
   byte. */
static const char *character_end(const char *s, bool is_strict) {
  static const uint32_t least[] = {UINT32_MAX, 0x80, 0x800, 0x10000, 0x200000, 0x4000000};
  uint32_t first = (unsigned char)*s, code = 0;
  if (first < 0x80) return s + 1;
  int count = 0;
  for (; first & 0x40; first <<= 1) {
    if (!is_continuation(s[++count])) return NULL;
    code = code << 6 | ((unsigned char)s[count] & 0x3F);
  }
  if (count > 5) return NULL;
  code |= (first & 0x7F) << (count * 5);
  if (code > 0x7FFFFFFF || code < least[count]) return NULL;
  if (is_strict && (code > LARGEST_CODE || (code >= 0xD800 && code <= 0xDFFF))) return NULL;
  return s + count + 1;
}

/* A position counted from 1 at the beginning; 0 if it is before the beginning. */
static lua_Integer absolute(lua_Integer position, size_t length) {
  if (position >= 0) return position;
  if (-(lua_Unsigned)position > length) return 0;
  return (lua_Integer)length + position + 1;
}

static int utf8_len(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer first = absolute(luaL_optinteger(L, 2, 1), length);
  lua_Integer last = absolute(luaL_optinteger(L, 3, -1), length), count = 0;
  bool is_strict = !lua_toboolean(L, 4);
  luaL_argcheck(L, 1 <= first && --first <= (lua_Integer)length, 2,
                "initial position out of bounds");
  luaL_argcheck(L, --last < (lua_Integer)length, 3, "final position out of bounds");
  while (first <= last) {
    if (count % CLUA_STEPS == 0) clua_poll(L);
    const char *end = character_end(text + first, is_strict);
    if (!end) {
      luaL_pushfail(L);
      lua_pushinteger(L, first + 1);
      return 2;
    }
    first = end - text;
    count++;
  }
  lua_pushinteger(L, count);
  return 1;
}

static int utf8_offset(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  lua_Integer start = count >= 0 ? 1 : (lua_Integer)length + 1;
  lua_Integer at = absolute(luaL_optinteger(L, 3, start), length);
  luaL_argcheck(L, 1 <= at && --at <= (lua_Integer)length, 3, "position out of bounds");
  unsigned steps = 0;
  if (count == 0) {
    for (; at > 0 && is_continuation(text[at]); at--)
      if (++steps % CLUA_STEPS == 0) clua_poll(L);
    lua_pushinteger(L, at + 1);
    return 1;
  }
  if (is_continuation(text[at])) return luaL_error(L, "initial position is a continuation byte");
  if (count < 0) {
    while (count < 0 && at > 0) {
      do {
        at--;
        if (++steps % CLUA_STEPS == 0) clua_poll(L);
      } while (at > 0 && is_continuation(text[at]));
      count++;
    }
  } else {
    count--;
    while (count > 0 && at < (lua_Integer)length) {
      do {
        at++;
        if (++steps % CLUA_STEPS == 0) clua_poll(L);
      } while (is_continuation(text[at]));
      count--;
    }
  }
  if (count == 0) lua_pushinteger(L, at + 1);
  else luaL_pushfail(L);
  return 1;
}

void clua_stoppable_utf8(lua_State *L, int utf8) {
  static const luaL_Reg functions[] = {{"len", utf8_len}, {"offset", utf8_offset}, {0}};
  lua_pushvalue(L, utf8);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
