#include "sandbox.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* `find`, `match`, `gmatch` and `gsub`, with the same results and errors as Lua's. A pattern is
   read while it is matched: `match_at` tries its items one by one, and calls itself only for items
   that may match in several ways, or open or close a capture. So the depth depends only on the
   pattern, and has the same limit as in Lua. The time, which grows exponentially with the number of
   such items, is counted in steps; every few thousand of them check the guard. */

enum { CAPTURES = 32, DEPTH = 200, ESCAPE = '%' };
enum { OPEN = -1, POSITION = -2 };

typedef unsigned char byte;

typedef struct capture {
  const char *start;
  ptrdiff_t length;  // or OPEN, or POSITION
} capture;

typedef struct matcher {
  clua_steps steps;
  const char *subject, *end;  // the whole subject
  const char *pattern_end;
  int depth;                  // how many more nested calls are allowed
  int level;                  // the number of captures
  capture captures[CAPTURES];
} matcher;

static const char *match_at(matcher *m, const char *s, const char *p);

/* ---- Single characters ----------------------------------------------------------------------- */

/* Whether the character belongs to the class of a letter, such as `%a`. */
static bool is_in_class(int c, int letter) {
  bool result;
  switch (tolower(letter)) {
    case 'a': result = isalpha(c); break;
    case 'c': result = iscntrl(c); break;
    case 'd': result = isdigit(c); break;
    case 'g': result = isgraph(c); break;
    case 'l': result = islower(c); break;
    case 'p': result = ispunct(c); break;
    case 's': result = isspace(c); break;
    case 'u': result = isupper(c); break;
    case 'w': result = isalnum(c); break;
    case 'x': result = isxdigit(c); break;
    case 'z': result = c == 0; break;
    default: return letter == c;
  }
  return isupper(letter) ? !result : result;
}

/* The end of the single item that begins at `p`, without its suffix. */
static const char *item_end(matcher *m, const char *p) {
  lua_State *L = m->steps.L;
  char first = *p++;
  if (first == ESCAPE) {
    if (p == m->pattern_end) luaL_error(L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  if (first != '[') return p;
  if (p < m->pattern_end && *p == '^') p++;
  // A `]` directly after the opening bracket is a member of the set.
  do {
    clua_step(&m->steps);
    if (p == m->pattern_end) luaL_error(L, "malformed pattern (missing ']')");
    char c = *p++;
    if (c == ESCAPE) {
      if (p == m->pattern_end) luaL_error(L, "malformed pattern (missing ']')");
      p++;
    }
  } while (p == m->pattern_end || *p != ']');
  return p + 1;
}

/* Whether a set contains the character; `p` is at its `[`, `last` at its `]`. */
static bool is_in_set(matcher *m, int c, const char *p, const char *last) {
  bool found = true;
  if (p[1] == '^') {
    found = false;
    p++;
  }
  while (++p < last) {
    clua_step(&m->steps);
    if (*p == ESCAPE) {
      p++;
      if (is_in_class(c, (byte)*p)) return found;
    } else if (p[1] == '-' && p + 2 < last) {
      p += 2;
      if ((byte)p[-2] <= c && c <= (byte)*p) return found;
    } else if ((byte)*p == c) {
      return found;
    }
  }
  return !found;
}

/* Whether the item from `p` to `ending` matches the character at `s`. */
static bool is_match(matcher *m, const char *s, const char *p, const char *ending) {
  if (s >= m->end) return false;
  int c = (byte)*s;
  switch (*p) {
    case '.': return true;
    case ESCAPE: return is_in_class(c, (byte)p[1]);
    case '[': return is_in_set(m, c, p, ending - 1);
    default: return (byte)*p == c;
  }
}

/* ---- Items that match several characters ----------------------------------------------------- */

/* `%bxy`; `p` is at the x. */
static const char *match_balance(matcher *m, const char *s, const char *p) {
  if (p >= m->pattern_end - 1)
    luaL_error(m->steps.L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != *p) return NULL;
  int nested = 1;
  while (++s < m->end) {
    clua_step(&m->steps);
    if (*s == p[1]) {
      if (--nested == 0) return s + 1;
    } else if (*s == *p) {
      nested++;
    }
  }
  return NULL;
}

/* Tries as many characters as possible first. */
static const char *match_most(matcher *m, const char *s, const char *p, const char *ending) {
  ptrdiff_t count = 0;
  while (is_match(m, s + count, p, ending)) {
    clua_step(&m->steps);
    count++;
  }
  for (; count >= 0; count--) {
    const char *result = match_at(m, s + count, ending + 1);
    if (result) return result;
  }
  return NULL;
}

/* Tries as few characters as possible first. */
static const char *match_least(matcher *m, const char *s, const char *p, const char *ending) {
  for (;;) {
    const char *result = match_at(m, s, ending + 1);
    if (result) return result;
    if (!is_match(m, s, p, ending)) return NULL;
    s++;
  }
}

/* ---- Captures -------------------------------------------------------------------------------- */

static const char *open_capture(matcher *m, const char *s, const char *p, ptrdiff_t kind) {
  if (m->level >= CAPTURES) luaL_error(m->steps.L, "too many captures");
  m->captures[m->level++] = (capture){s, kind};
  const char *result = match_at(m, s, p);
  if (!result) m->level--;
  return result;
}

static const char *close_capture(matcher *m, const char *s, const char *p) {
  int open = m->level - 1;
  while (open >= 0 && m->captures[open].length != OPEN) open--;
  if (open < 0) luaL_error(m->steps.L, "invalid pattern capture");
  m->captures[open].length = s - m->captures[open].start;
  const char *result = match_at(m, s, p);
  if (!result) m->captures[open].length = OPEN;
  return result;
}

/* `%1` to `%9`: matches the text of a capture again. */
static const char *match_capture(matcher *m, const char *s, int digit) {
  int index = digit - '1';
  if (index < 0 || index >= m->level || m->captures[index].length == OPEN)
    luaL_error(m->steps.L, "invalid capture index %%%d", index + 1);
  // A position capture has no characters: its length, as a size, exceeds any subject.
  size_t length = (size_t)m->captures[index].length;
  if ((size_t)(m->end - s) < length) return NULL;
  return memcmp(m->captures[index].start, s, length) == 0 ? s + length : NULL;
}

/* `%f[set]`: the border where the set begins to match; `p` is after the f. */
static bool is_frontier(matcher *m, const char *s, const char *p, const char *ending) {
  int before = s == m->subject ? 0 : (byte)s[-1];
  int after = s == m->end ? 0 : (byte)*s;
  return !is_in_set(m, before, p, ending - 1) && is_in_set(m, after, p, ending - 1);
}

/* ---- Matching -------------------------------------------------------------------------------- */

/* The end of the match of the pattern from `p` on at `s`; NULL if it does not match. */
static const char *match_at(matcher *m, const char *s, const char *p) {
  if (m->depth-- == 0) luaL_error(m->steps.L, "pattern too complex");
  const char *result = s;
  while (result && p != m->pattern_end) {
    clua_step(&m->steps);
    s = result;
    if (*p == '(') {
      bool is_position = p + 1 < m->pattern_end && p[1] == ')';
      result = open_capture(m, s, p + (is_position ? 2 : 1), is_position ? POSITION : OPEN);
      break;
    }
    if (*p == ')') {
      result = close_capture(m, s, p + 1);
      break;
    }
    if (*p == '$' && p + 1 == m->pattern_end) {
      result = s == m->end ? s : NULL;
      break;
    }
    if (*p == ESCAPE && p + 1 < m->pattern_end) {
      char kind = p[1];
      if (kind == 'b') {
        result = match_balance(m, s, p + 2);
        p += 4;
        continue;
      }
      if (kind == 'f') {
        p += 2;
        if (p >= m->pattern_end || *p != '[')
          luaL_error(m->steps.L, "missing '[' after '%%f' in pattern");
        const char *ending = item_end(m, p);
        if (!is_frontier(m, s, p, ending)) result = NULL;
        p = ending;
        continue;
      }
      if (isdigit((byte)kind)) {
        result = match_capture(m, s, (byte)kind);
        p += 2;
        continue;
      }
    }
    const char *ending = item_end(m, p);
    char suffix = ending < m->pattern_end ? *ending : '\0';
    bool matches = is_match(m, s, p, ending);
    if (suffix == '*' || suffix == '-' || suffix == '?') {
      // If not even one character matches, the item matches none.
      if (!matches) {
        p = ending + 1;
        continue;
      }
      if (suffix == '?') {
        if ((result = match_at(m, s + 1, ending + 1))) break;
        result = s;
        p = ending + 1;
        continue;
      }
      result = suffix == '*' ? match_most(m, s, p, ending) : match_least(m, s, p, ending);
      break;
    }
    if (suffix == '+') {
      result = matches ? match_most(m, s + 1, p, ending) : NULL;
      break;
    }
    result = matches ? s + 1 : NULL;
    p = ending;
  }
  m->depth++;
  return result;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Pushes a capture; without captures the first one is the whole match. [-0, +1, e] */
static void push_capture(matcher *m, int index, const char *s, const char *e) {
  lua_State *L = m->steps.L;
  if (index >= m->level) {
    if (index != 0) luaL_error(L, "invalid capture index %%%d", index + 1);
    lua_pushlstring(L, s, (size_t)(e - s));
    return;
  }
  const capture *found = &m->captures[index];
  if (found->length == OPEN) luaL_error(L, "unfinished capture");
  if (found->length == POSITION) lua_pushinteger(L, found->start - m->subject + 1);
  else lua_pushlstring(L, found->start, (size_t)found->length);
}

/* Pushes all captures; without captures the whole match, unless `s` is NULL. */
static int push_captures(matcher *m, const char *s, const char *e) {
  int count = m->level == 0 && s ? 1 : m->level;
  clua_checkstack(m->steps.L, count, "too many captures");
  for (int i = 0; i < count; i++) push_capture(m, i, s, e);
  return count;
}

static void begin(matcher *m, lua_State *L, const char *subject, size_t length,
                  const char *pattern_end) {
  m->steps = (clua_steps){L, 0};
  m->subject = subject;
  m->end = subject + length;
  m->pattern_end = pattern_end;
}

static const char *attempt(matcher *m, const char *s, const char *p) {
  m->level = 0;
  m->depth = DEPTH;
  return match_at(m, s, p);
}

/* ---- find and match -------------------------------------------------------------------------- */

static bool has_specials(const char *p, size_t length) {
  static const char specials[] = "^$*+?.([%-";
  for (size_t i = 0; i < length; i++)
    if (p[i] && strchr(specials, p[i])) return true;
  return false;
}

/* The first occurrence of the text in the subject; NULL if it does not occur. */
static const char *find_plain(lua_State *L, const char *s, size_t length, const char *text,
                              size_t size) {
  clua_steps steps = {L, 0};
  if (size == 0) return s;
  const char *last = s + length - size;
  for (; size <= length && s <= last; s++) {
    // In pieces: a single search in a very long subject would take too long.
    size_t rest = (size_t)(last - s) + 1, piece = rest < CLUA_PIECE ? rest : CLUA_PIECE;
    const char *found = memchr(s, *text, piece);
    if (!found) {
      s += piece - 1;
      clua_poll(L);
      continue;
    }
    s = found;
    // If both consist of one repeated letter, each comparison runs to the end.
    if (memcmp(s, text, size) == 0) return s;
    steps.count += (unsigned)(size / 64);
    clua_step(&steps);
  }
  return NULL;
}

/* The start position from a function's third argument, counted from 0. */
static size_t start_of(lua_State *L, int index, size_t length) {
  lua_Integer start = luaL_optinteger(L, index, 1);
  if (start > 0) return (size_t)start - 1;
  if (start == 0 || start < -(lua_Integer)length) return 0;
  return length + (size_t)start;
}

static int find(lua_State *L, bool is_find) {
  size_t length, size;
  const char *s = luaL_checklstring(L, 1, &length), *p = luaL_checklstring(L, 2, &size);
  size_t start = start_of(L, 3, length);
  if (start > length) {
    luaL_pushfail(L);
    return 1;
  }
  if (is_find && (lua_toboolean(L, 4) || !has_specials(p, size))) {
    const char *found = find_plain(L, s + start, length - start, p, size);
    if (found) {
      lua_pushinteger(L, found - s + 1);
      lua_pushinteger(L, found - s + (ptrdiff_t)size);
      return 2;
    }
    luaL_pushfail(L);
    return 1;
  }
  bool is_anchored = size > 0 && *p == '^';
  matcher m;
  begin(&m, L, s, length, p + size);
  if (is_anchored) p++;
  const char *at = s + start;
  do {
    clua_step(&m.steps);
    const char *e = attempt(&m, at, p);
    if (!e) continue;
    if (!is_find) return push_captures(&m, at, e);
    lua_pushinteger(L, at - s + 1);
    lua_pushinteger(L, e - s);
    return push_captures(&m, NULL, NULL) + 2;
  } while (at++ < m.end && !is_anchored);
  luaL_pushfail(L);
  return 1;
}

static int string_find(lua_State *L) { return find(L, true); }
static int string_match(lua_State *L) { return find(L, false); }

/* ---- gmatch ---------------------------------------------------------------------------------- */

/* The state of an iteration. Upvalues: subject, pattern, and this. */
typedef struct iteration {
  size_t next;
  ptrdiff_t last_end;  // of the last match, which must not match again; -1 before the first
} iteration;

static int gmatch_next(lua_State *L) {
  size_t length, size;
  const char *s = lua_tolstring(L, lua_upvalueindex(1), &length);
  const char *p = lua_tolstring(L, lua_upvalueindex(2), &size);
  iteration *state = lua_touserdata(L, lua_upvalueindex(3));
  matcher m;
  begin(&m, L, s, length, p + size);
  for (size_t at = state->next; at <= length; at++) {
    clua_step(&m.steps);
    const char *e = attempt(&m, s + at, p);
    if (e && e - s != state->last_end) {
      state->next = (size_t)(e - s);
      state->last_end = e - s;
      return push_captures(&m, s + at, e);
    }
  }
  return 0;
}

static int string_gmatch(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  luaL_checkstring(L, 2);
  size_t start = start_of(L, 3, length);
  lua_settop(L, 2);
  iteration *state = lua_newuserdatauv(L, sizeof *state, 0);
  *state = (iteration){start > length ? length + 1 : start, -1};
  lua_pushcclosure(L, gmatch_next, 3);
  return 1;
}

/* ---- gsub ------------------------------------------------------------------------------------ */

/* Adds the replacement text, in which `%` refers to captures. */
static void add_text(matcher *m, luaL_Buffer *b, const char *s, const char *e) {
  lua_State *L = m->steps.L;
  size_t length;
  const char *text = lua_tolstring(L, 3, &length), *end = text + length, *escape;
  while ((escape = memchr(text, ESCAPE, (size_t)(end - text)))) {
    clua_step(&m->steps);
    luaL_addlstring(b, text, (size_t)(escape - text));
    // The text is followed by a zero byte.
    char c = escape[1];
    if (c == ESCAPE) {
      luaL_addchar(b, ESCAPE);
    } else if (c == '0') {
      luaL_addlstring(b, s, (size_t)(e - s));
    } else if (isdigit((byte)c)) {
      push_capture(m, c - '1', s, e);
      if (lua_type(L, -1) == LUA_TNUMBER) luaL_tolstring(L, -1, NULL), lua_remove(L, -2);
      luaL_addvalue(b);
    } else {
      luaL_error(L, "invalid use of '%c' in replacement string", ESCAPE);
    }
    text = escape + 2;
  }
  luaL_addlstring(b, text, (size_t)(end - text));
}

/* Adds the replacement of a match; false if the match stays unchanged. */
static bool add_replacement(matcher *m, luaL_Buffer *b, const char *s, const char *e, int type) {
  lua_State *L = m->steps.L;
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    int count = push_captures(m, s, e);
    lua_call(L, count, 1);
  } else if (type == LUA_TTABLE) {
    push_capture(m, 0, s, e);
    lua_gettable(L, 3);
  } else {
    add_text(m, b, s, e);
    return true;
  }
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    luaL_addlstring(b, s, (size_t)(e - s));
    return false;
  }
  if (!lua_isstring(L, -1)) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  }
  luaL_addvalue(b);
  return true;
}

static int string_gsub(lua_State *L) {
  size_t length, size;
  const char *s = luaL_checklstring(L, 1, &length), *p = luaL_checklstring(L, 2, &size);
  int type = lua_type(L, 3);
  lua_Integer limit = luaL_optinteger(L, 4, (lua_Integer)length + 1), count = 0;
  luaL_argexpected(L,
                   type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                       type == LUA_TTABLE,
                   3, "string/function/table");
  bool is_anchored = size > 0 && *p == '^', has_changed = false;
  matcher m;
  begin(&m, L, s, length, p + size);
  if (is_anchored) p++;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  const char *last_end = NULL;
  while (count < limit) {
    clua_step(&m.steps);
    const char *e = attempt(&m, s, p);
    if (e && e != last_end) {
      count++;
      has_changed = add_replacement(&m, &b, s, e, type) || has_changed;
      s = last_end = e;
    } else if (s < m.end) {
      luaL_addchar(&b, *s++);
    } else {
      break;
    }
    if (is_anchored) break;
  }
  if (has_changed) {
    luaL_addlstring(&b, s, (size_t)(m.end - s));
    luaL_pushresult(&b);
  } else {
    lua_pushvalue(L, 1);
  }
  lua_pushinteger(L, count);
  return 2;
}

void clua_stoppable_patterns(lua_State *L, int string) {
  static const luaL_Reg functions[] = {
      {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch},
      {"gsub", string_gsub}, {0}};
  lua_pushvalue(L, string);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
