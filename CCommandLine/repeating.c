#include "ccl_repeating.h"

#include "clua_arena.h"
#include "ccl_commandline.h"
#include "pointers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The arena places the objects of Lua, and pointers of C that Lua hashes or prints are in
   pointers.c. Dictionaries of Swift have no seed: see ccl_startagain. */

static bool isrepeating;
/* The state of the generator of the seeds of `math.random`, splitmix64. */
static uint64_t state;

static uint64_t next_seed(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* ---- Hashes of Swift ------------------------------------------------------------------------- */

/* Whether the hashes have no seed. */
static bool isunseeded;

#ifdef __linux__

/* Swift's library chooses the seed before `main`, and dictionaries may exist by then. With this
   variable in the environment there is no seed. */
static char variable[] = "SWIFT_DETERMINISTIC_HASHING=1";

/* Stands before the variable if ccl_startagain has added it. */
static char mark[] = "OBS_LUA_STARTED_AGAIN=";

void ccl_restoreenvironment(void) {
  char **each = environ;
  while (*each && strcmp(*each, variable) != 0) each++;
  isunseeded = *each != NULL;
  if (!isunseeded || each == environ || strcmp(each[-1], mark) != 0) return;
  do each[-1] = each[1];
  while (*each++);
}

void ccl_startagain(void) {
  size_t count = 0;
  while (environ[count]) count++;
  char **extended = isunseeded ? NULL : malloc((count + 3) * sizeof *extended);
  if (!extended) return;
  // At the end: for Swift, the last variable of a name counts.
  memcpy(extended, environ, count * sizeof *extended);
  memcpy(extended + count, (char *[]){mark, variable, NULL}, 3 * sizeof *extended);
  // The path that Valgrind shows; the other one is for a program that was moved meanwhile.
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  execve(path, ccl_givenarguments(), extended);
  execve("/proc/self/exe", ccl_givenarguments(), extended);
  free(extended);
}

#else

void ccl_restoreenvironment(void) {}

void ccl_startagain(void) {}

#endif

/* ---- Lua ------------------------------------------------------------------------------------- */

void ccl_repeat(uint64_t seed) {
  isrepeating = true;
  state = seed;
  clua_arena_open((uint32_t)next_seed());
  if (!ccl_fixpointers() || !isunseeded) clua_arena_miss();
}

bool ccl_isrepeating(void) { return isrepeating; }

/* The library's `math.randomseed`, whose generator is its only upvalue. */
static lua_CFunction stock;

/* Without arguments the library takes the time. */
static int random_seed(lua_State *L) {
  if (lua_isnone(L, 1)) {
    lua_pushinteger(L, (lua_Integer)next_seed());
    lua_pushinteger(L, (lua_Integer)next_seed());
  }
  return stock(L);
}

int ccl_seedrandom(lua_State *L) {
  if (!isrepeating || lua_getglobal(L, LUA_MATHLIBNAME) != LUA_TTABLE) return 0;
  lua_getfield(L, -1, "randomseed");
  stock = lua_tocfunction(L, -1);
  if (!stock || !lua_getupvalue(L, -1, 1)) return 0;
  lua_pushcclosure(L, random_seed, 1);
  lua_pushvalue(L, -1);
  lua_call(L, 0, 0);
  lua_setfield(L, -3, "randomseed");
  return 0;
}
