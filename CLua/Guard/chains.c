#include "chains.h"

#include <stdint.h>

/* Calling a table whose `__call` is a table, and so on, moves the arguments up by one for each, in
   a loop of Lua's own. It comes to no instruction, and to no function of ours as long as the stack
   has room; a script that has been in a deep recursion before has room for a million values, which
   takes minutes. So once scripts are to stop, and two ticks have come without an instruction while
   the stack became higher, Lua is made to believe that its stack is full. It asks for a larger one
   then: that is where the error is raised.

   The bounds of a stack are fields of lua_State that no function of Lua gives. Where they are is
   learned from the first state, whose stack is at a known address; where they are not found, such a
   chain goes on until its stack has to grow. */

/* A stack has so many values more than it says, and so many at first. */
enum { EXTRA = 5, FIRST = 2 * LUA_MINSTACK };
/* What a value takes. */
enum { VALUE = 16 };
/* Where a stack grows at this height of a call, it is by a chain: no other call has so many
   values. */
enum { CHAIN = 4096 };
/* With so much room left no function of Lua makes the stack grow. */
enum { ROOM = 256 };

/* The indices of the bounds in a state as a list of pointers; 0 where they are not known. */
static int place_of_top, place_of_last, place_of_base;

/* The only place of an address in a state, or 0. */
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

/* Whether it must be a chain: a function in Lua is at a call. A function in C may have called, or
   pushes values itself, but hardly as many. */
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
  // The signal may have come while the stack is being moved.
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

/* Gives the stack its bound back. */
static void restore(clua_chain *chain) {
  if (!chain->thread) return;
  bounds(chain->thread)[place_of_last] = chain->last;
  chain->thread = NULL;
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
    // Lua asks again after it has collected garbage.
    chain->refused = 0;
    return true;
  }
  char *volatile *words = bounds(L);
  if (!chain->thread) {
    size_t room = (size_t)(words[place_of_last] - words[place_of_base]);
    return size == 2 * room + EXTRA * VALUE && lua_gettop(L) > CHAIN;
  }
  restore(chain);
  size_t used = (size_t)(words[place_of_top] - words[place_of_base]);
  if (size <= used) return false;
  // A stack was asked for with the wrong bound, so it must not be given.
  chain->refused = size;
  // Only a chain asks for one value; functions of Swift, which must not be left, ask for more.
  if (size == used + (1 + EXTRA) * VALUE) {
    chain->israising = true;
    clua_raisestop(L);
  }
  return true;
}
