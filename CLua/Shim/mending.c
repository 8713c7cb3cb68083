#include "private.h"

#include <stdint.h>
#include <string.h>

/* Lua before 5.4.8 compiles three kinds of source wrongly, and a script can exploit this: the code
   reads registers that the function has not written, which may hold values of other functions, or
   does not close a value. Safe hosts accept text only, so all code comes from Lua's compiler. Two
   kinds of wrong code are mended in place; a chunk with the third is refused. Correct code never
   looks like the first two. It may look like the third, which is refused only if the library has
   the fault.

   lua_dump writes the code of a function as one block, after a block with the number of
   instructions. No other block has four times as many bytes as the number in the block before
   it. */

typedef uint32_t instruction;

/* Opcodes of all releases of Lua 5.4. */
enum {
  LOADI = 1, LOADK = 3, LFALSESKIP = 6, LOADTRUE = 7, GETUPVAL = 9, BAND = 41, BXOR = 43,
  MMBIN = 46, MMBINK = 48, CLOSE = 54, JMP = 56, TESTSET = 67, TFORLOOP = 77, EXTRAARG = 82,
};

static instruction at(const char *code, size_t index) {
  instruction result;
  memcpy(&result, code + index * sizeof result, sizeof result);
  return result;
}

static void put(char *code, size_t index, instruction value) {
  memcpy(code + index * sizeof value, &value, sizeof value);
}

static int op(instruction i) { return i & 0x7f; }
static int a(instruction i) { return i >> 7 & 0xff; }
static int b(instruction i) { return i >> 16 & 0xff; }
static int c(instruction i) { return i >> 24; }
static int64_t jump(instruction i) { return (int64_t)(i >> 7) - ((1 << 24) - 1); }

/* ---- Wrong code ------------------------------------------------------------------------------ */

/* The end of a `for … in` whose body has a `break` and captured variables: the instruction closes
   only registers above the fourth value, which has to be closed, too (997f11f5). */
static bool forgets_closing(const char *code, size_t index, size_t count) {
  return index + 1 < count && op(at(code, index)) == TFORLOOP
      && op(at(code, index + 1)) == CLOSE && a(at(code, index + 1)) > a(at(code, index));
}

static void close_all(char *code, size_t index) {
  instruction loop = at(code, index), close = at(code, index + 1);
  put(code, index + 1, (close & ~(0xffu << 7)) | (instruction)a(loop) << 7);
}

/* `t[a < b]`, where t is a variable of an outer function: the code loads t only if the comparison
   is false (782ef85b). */
static bool skips_table(const char *code, size_t index, size_t count) {
  return index + 3 < count && op(at(code, index)) == JMP && jump(at(code, index)) == 2
      && op(at(code, index + 1)) == GETUPVAL && op(at(code, index + 2)) == LFALSESKIP
      && op(at(code, index + 3)) == LOADTRUE;
}

/* Moves the load after the two instructions that make a boolean of the comparison: both paths reach
   it there. */
static void load_always(char *code, size_t index) {
  instruction load = at(code, index + 1);
  put(code, index, at(code, index) - (1u << 7));
  put(code, index + 1, at(code, index + 2));
  put(code, index + 2, at(code, index + 3));
  put(code, index + 3, load);
}

/* Whether the instruction at `load` loads the first operand of the one at `end`, a constant, next
   to an instruction that makes the second operand. */
static bool comes_between(const char *code, size_t load, size_t end) {
  int kind = op(at(code, load)), second = c(at(code, end));
  if ((kind != LOADI && kind != LOADK) || a(at(code, load)) != b(at(code, end))) return false;
  if (load + 1 < end) return a(at(code, load + 1)) == second || op(at(code, load + 1)) == JMP;
  do load--;
  while (load > 0 && (op(at(code, load)) == EXTRAARG || (op(at(code, load)) >= MMBIN
                      && op(at(code, load)) <= MMBINK)));
  return a(at(code, load)) == second && op(at(code, load)) != JMP;
}

/* `1 & (a or b)` where the number cannot be an operand, because the function already has too many
   constants: the code loads it only if `a` is false (c764ca71). */
static bool skips_constant(const char *code, size_t index, size_t count) {
  instruction way = at(code, index);
  if (op(way) != JMP || jump(way) < 1) return false;
  size_t target = index + 1 + (size_t)jump(way), end = target;
  // A comparison jumps to one of two instructions that make a boolean.
  if (end < count && op(at(code, end)) == LFALSESKIP) end++;
  if (end < count && op(at(code, end)) == LOADTRUE) end++;
  if (end >= count || op(at(code, end)) < BAND || op(at(code, end)) > BXOR) return false;
  if (index > 0 && op(at(code, index - 1)) == TESTSET
      && a(at(code, index - 1)) == b(at(code, end)))
    return false;
  size_t first = end > index + 5 ? end - 5 : index + 1;
  for (size_t load = first; load < end; load++)
    if (comes_between(code, load, end)) return true;
  return false;
}

/* ---- Traversing a chunk ---------------------------------------------------------------------- */

typedef struct survey {
  size_t size;       // of the chunk as lua_dump writes it
  size_t number;     // the number in the last block, if it has one
  bool may_skip;     // the last block is code that skips a constant if the function has many
  bool is_wrong;     // some code has to be mended
  bool is_refused;   // some code cannot be mended
  char *copy;        // where to write the mended chunk, or NULL
} survey;

/* The number in a block: seven bits in each byte, the last byte marked. */
static size_t number_of(const unsigned char *bytes, size_t size) {
  size_t number = 0;
  if (size > 5 || !(bytes[size - 1] & 0x80)) return 0;
  for (size_t i = 0; i < size; i++) number = number << 7 | (bytes[i] & 0x7f);
  return number;
}

enum { OPERANDS = 256 };

static int survey_block(lua_State *L, const void *block, size_t size, void *data) {
  (void)L;
  survey *survey = data;
  size_t count = size / sizeof(instruction);
  bool is_code = size > 0 && size == survey->number * sizeof(instruction);
  char *copy = survey->copy ? survey->copy + survey->size : NULL;
  if (copy) memcpy(copy, block, size);
  survey->size += size;
  survey->number = is_code || size == 0 ? 0 : number_of(block, size);
  if (survey->may_skip && survey->number > OPERANDS) survey->is_refused = true;
  survey->may_skip = false;
  for (size_t i = 0; is_code && i < count; i++) {
    int kind = op(at(block, i));
    if (kind != JMP && kind != TFORLOOP) continue;
    bool forgets = forgets_closing(block, i, count), skips = skips_table(block, i, count);
    if (forgets && copy) close_all(copy, i);
    if (skips && copy) load_always(copy, i);
    if (forgets || skips) survey->is_wrong = true;
    if (skips_constant(block, i, count)) survey->may_skip = true;
  }
  return 0;
}

static survey survey_function(lua_State *L, char *copy, bool is_whole) {
  survey result = {.copy = copy};
  lua_dump(L, survey_block, &result, !is_whole);
  return result;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Whether Lua has the fault for which chunks are refused: surveys code that Lua compiles for this
   test. [-0, +0, m] */
static bool can_skip_constants(lua_State *L) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addstring(&text, "local t = {");
  for (int i = 1; i <= OPERANDS; i++) {
    lua_pushfstring(L, "%d.5,", i);
    luaL_addvalue(&text);
  }
  luaL_addstring(&text, "} return 1 & (t or 2)");
  luaL_pushresult(&text);
  size_t length;
  const char *bytes = lua_tolstring(L, -1, &length);
  bool can = luaL_loadbufferx(L, bytes, length, "=", "t") == LUA_OK
      && survey_function(L, NULL, false).is_refused;
  lua_pop(L, 2);
  return can;
}

typedef struct mended {
  const char *bytes;
  size_t size;
} mended;

static const char *read_mended(lua_State *L, void *data, size_t *size) {
  (void)L;
  mended *rest = data;
  *size = rest->size;
  rest->size = 0;
  return *size > 0 ? rest->bytes : NULL;
}

int clua_mend(lua_State *L, const char *name) {
  // Without names and lines the survey has half as much to traverse.
  survey found = survey_function(L, NULL, false);
  if (found.is_refused && can_skip_constants(L)) {
    lua_pop(L, 1);
    lua_pushliteral(L, "a function with more than 256 constants cannot have a constant before '&', "
                       "'|' or '~': this release of Lua compiles that wrongly");
    return LUA_ERRSYNTAX;
  }
  if (!found.is_wrong) return LUA_OK;
  size_t size = survey_function(L, NULL, true).size;
  char *copy = lua_newuserdatauv(L, size, 0);
  lua_insert(L, -2);
  survey_function(L, copy, true);
  lua_pop(L, 1);
  mended chunk = {copy, size};
  int status = lua_load(L, read_mended, &chunk, name, "b");
  lua_remove(L, -2);
  return status;
}
