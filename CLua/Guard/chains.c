#include "chains.h"

#include <stdint.h>

/* Calling a table whose `__call` is a table, whose `__call` is a table again, is a loop inside of
   Lua: each step moves all arguments up by one. It executes no instruction, and calls no function
   of ours as long as the stack has room. After a deep recursion there is room for a million values,
   which takes minutes. So where scripts are to stop, and the stack became higher between two ticks
   without an instruction, the bound of the stack is set to its bottom. Lua then asks for a larger
   stack, and the allocator raises the error.

   The bounds of a stack are fields of lua_State that no function of Lua returns. Their places are
   learned from the first state, whose stack is at a known address. Where they are not found, a
   chain goes on until its stack has to grow. */

/* The values that a stack has beyond its bound, and up to it when it is new. */
enum { EXTRA = 5, FIRST = 2 * LUA_MINSTACK };
/* The bytes of a value. */
enum { VALUE = 16 };
/* A call with more values than this is a chain, if its stack has to grow: no other call has as
   many. */
enum { CHAIN = 4096 };
/* With room for so many more values no function of Lua makes the stack grow. */
enum { ROOM = 256 };

/* The indices of the bounds among the pointers of a state; 0 where they are not known. Hosts on
   several threads may find them at the same time. That of the top comes last: where it is known,
   the others are. */
static _Atomic int place_of_top, place_of_last, place_of_base;

/* The index at which a state has an address; 0 where there is none, or several. */
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

/* Whether a stack that has become higher must be that of a chain: a function in Lua waits for a
   call, or so many values were added as no function in C pushes. */
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

/* Gives the stack its bound back; false where it has its own: none was taken, or the signal came
   while the stack was being moved, which sets the bound at its end. */
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
    // Lua asks again after it has collected garbage.
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
  // A stack was asked for with the wrong bound, so it must not be given.
  chain->refused = size;
  // Only a chain asks for one value. Functions of Swift, through which nothing may raise, ask for
  // more.
  if (size == used + (1 + EXTRA) * VALUE) {
    chain->israising = true;
    clua_raisestop(L);
  }
  return true;
}
