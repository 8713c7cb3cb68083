// A clock tick may come while Lua moves a stack. Lua itself then sets the bound that the tick has
// taken away, and the guard must not restore the old one.
#include "../../CLua/Guard/chains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clua_guard guard;
static void *blocks[2];
static size_t sizes[2];
static int count;
static bool ticks;

static void *allocate(void *context, void *block, size_t old, size_t new) {
  (void)context;
  if (new == 0) {
    free(block);
    return NULL;
  }
  void *made = realloc(block, new);
  if (!block && count < 2) {
    blocks[count] = made;
    sizes[count++] = new;
  }
  if (ticks && !block && old == 0) clua_chains_tick(&guard);
  return made;
}

int main(void) {
  lua_State *L = lua_newstate(allocate, NULL);
  clua_chains_learn(L, sizes[0], blocks[1], sizes[1]);
  guard.running = L;
  if (!lua_checkstack(L, 10000)) return 1;
  clua_chains_tick(&guard);
  for (int i = 0; i < 6000; i++) lua_pushnil(L);
  ticks = true;
  if (!lua_checkstack(L, 100000)) return 1;
  ticks = false;
  bool was_taken = guard.chain.thread;
  char before[128], after[128];
  memcpy(before, L, sizeof before);
  clua_chains_reset(&guard);
  memcpy(after, L, sizeof after);
  if (!was_taken || memcmp(before, after, sizeof before) != 0) {
    printf("%s\n", was_taken ? "a bound was given back to another stack" : "no bound was taken");
    return 1;
  }
  lua_close(L);
  return 0;
}
