#include "ccl_repeating.h"

#include "clua_arena.h"
#include "pointers.h"

/* The arena places the objects of Lua. Pointers of C that Lua hashes or prints are in pointers.c,
   and dictionaries of Swift take the seed here. */

static bool isrepeating;
/* The state of the generator of the seeds of `math.random`, splitmix64. */
static uint64_t state;

static uint64_t next_seed(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Swift's library reads these at each hash, so no dictionary may exist when they change. */
typedef struct hashing_parameters {
  uint64_t seed0, seed1;
  bool deterministic;
} hashing_parameters;

extern hashing_parameters _swift_stdlib_Hashing_parameters __attribute__((weak));

void ccl_repeat(uint64_t seed) {
  isrepeating = true;
  state = seed;
  clua_arena_open((uint32_t)next_seed());
  if (!ccl_fixpointers()) clua_arena_miss();
  hashing_parameters *parameters = &_swift_stdlib_Hashing_parameters;
  if (!parameters) return;
  parameters->seed0 = next_seed();
  parameters->seed1 = next_seed();
  parameters->deterministic = true;
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
