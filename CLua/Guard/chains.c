#include "chains.h"

#include <stdint.h>

/* If the `__call` of a table is a table whose `__call` is a table again, and so on, calling it is a
   loop inside Lua: each step moves all arguments up by one. The loop executes no instruction, and
   calls none of our functions as long as the stack has room. After a deep recursion there is room
   for a million values, which takes minutes. So if scripts have to stop and the stack grew between
   two ticks without an instruction, the handler sets the limit of the stack to its base. Lua then
   asks for a larger stack, and the allocator raises the error.

   The bounds of a stack are fields of lua_State that no function of Lua returns. Their offsets are
   learned from the first state, whose stack is at a known address. If they are not found, a chain
   continues until its stack has to grow. */

/* The values that a stack has beyond its limit, and the limit of a new stack. */
enum { EXTRA = 5, FIRST = 2 * LUA_MINSTACK };
/* Bytes per value. */
enum { VALUE = 16 };
/* A call with more values than this is a chain if its stack has to grow: no other call has as
   many. */
enum { CHAIN = 4096 };
/* With room for this many values, no function of Lua makes the stack grow. */
enum { ROOM = 256 };

/* The indices of the bounds among the pointers of a state; 0 if unknown. Hosts on several threads
   may find them at the same time. `place_of_top` is set last: once it is known, the others are. */
static _Atomic int place_of_top, place_of_last, place_of_base;

/* The only index at which a state has an address; 0 if it has it nowhere or more than once. */
static int place_of(char *const *words, int count, const char *address) {
  int found = 0;
  for (int i = 1; i < count; i++) {
    if (words[i] != address) continue;
    if (found) return 0;
    found = i;
  }
  return found;
}

void clua_chains_learn(lua_State *L, size_t size, const void *stack, size_t stacksize) {
  if (place_of_top || stacksize != (FIRST + EXTRA) * VALUE) return;
  char *const *words = (char *const *)L;
  const char *base = stack;
  int count = (int)(size / sizeof(char *)) < 32 ? (int)(size / sizeof(char *)) : 32;
  int top = place_of(words, count, base + VALUE);
  int last = place_of(words, count, base + FIRST * VALUE);
  if (!top || !last || last + 1 >= count || words[last + 1] != base || lua_gettop(L) != 0) return;
  place_of_base = last + 1;
  place_of_last = last;
  place_of_top = top;
}

static inline char *volatile *bounds(lua_State *L) { return (char *volatile *)L; }

/* Whether the top of a stack is an offset from its base. Releases after 5.4.4 have offsets instead
   of addresses while they move a stack. */
static inline bool is_offset(const char *top, const char *base) {
  return (uintptr_t)top < (uintptr_t)base;
}

/* Whether a chain must have made the stack higher: a Lua function waits for a call, or more values
   were added than a C function pushes. */
static bool is_sure(lua_State *L, size_t growth) {
  lua_Debug activation;
  if (growth >= 64 * VALUE) return true;
  return lua_getstack(L, 0, &activation) && lua_getinfo(L, "S", &activation)
      && *activation.what != 'C';
}

void clua_chains_tick(clua_guard *guard) {
  clua_chain *chain = &guard->chain;
  lua_State *L = guard->running;
  if (!L || !place_of_top || chain->thread || chain->israising) return;
  char *volatile *words = bounds(L);
  char *top = words[place_of_top], *base = words[place_of_base], *last = words[place_of_last];
  if (is_offset(top, base)) return;
  // The signal may have arrived while Lua was moving the stack.
  if (!chain->height || base != chain->base || last != chain->last) {
    chain->height = top;
    chain->base = base;
    chain->last = last;
    return;
  }
  if (top <= chain->height || top - base < CHAIN * VALUE || last - top < ROOM * VALUE) return;
  if (!is_sure(L, (size_t)(top - chain->height))) return;
  chain->thread = L;
  words[place_of_last] = base;
}

/* Restores the stack's limit; false if there is nothing to restore: the limit was not changed, or
   the signal arrived while Lua was moving the stack, which sets the limit in the end. */
static bool restore(clua_chain *chain) {
  lua_State *L = chain->thread;
  chain->thread = NULL;
  if (!L || bounds(L)[place_of_base] != chain->base || bounds(L)[place_of_last] != chain->base)
    return false;
  bounds(L)[place_of_last] = chain->last;
  return true;
}

void clua_chains_reset(clua_guard *guard) {
  restore(&guard->chain);
  guard->chain.height = NULL;
  guard->chain.refused = 0;
  guard->chain.israising = false;
}

bool clua_chains_refuse(clua_guard *guard, size_t size) {
  clua_chain *chain = &guard->chain;
  lua_State *L = guard->running;
  if (!L || !place_of_top || chain->israising) return false;
  if (chain->refused == size) {
    // Lua asks again after a garbage collection.
    chain->refused = 0;
    return true;
  }
  char *volatile *words = bounds(L);
  if (!restore(chain)) {
    size_t room = (size_t)(words[place_of_last] - words[place_of_base]);
    return size == 2 * room + EXTRA * VALUE && lua_gettop(L) > CHAIN;
  }
  size_t used = (size_t)(words[place_of_top] - words[place_of_base]);
  if (size <= used) return false;
  // The request was computed from the wrong limit, so it must be refused.
  chain->refused = size;
  // Only a chain asks for one value. Swift functions, through which nothing may raise, ask for
  // more.
  if (size == used + (1 + EXTRA) * VALUE) {
    chain->israising = true;
    clua_raisestop(L);
  }
  return true;
}

bool clua_chains_refuse_growth(clua_guard *guard, const void *block) {
  lua_State *L = guard->running;
  if (!L || !place_of_top || bounds(L)[place_of_base] != block) return false;
  return restore(&guard->chain) || lua_gettop(L) > CHAIN;
}
