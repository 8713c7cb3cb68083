#include "clua_allocator.h"

#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "clua_guard.h"

static bool refuses(clua_allocator *allocator, size_t growth) {
  uint64_t request = ++allocator->requests;
  if (allocator->refuse_from && request >= allocator->refuse_from
      && request <= allocator->refuse_to)
    return true;
  return allocator->limit
      && (allocator->used > allocator->limit || growth > allocator->limit - allocator->used);
}

/* Calling a table whose `__call` is a table, and so on, moves the arguments for each: scripts that
   are to stop would fill the stack that way before they come to an instruction. Where it grows it
   has thousands of values already, which no other call has then. */
enum { CALL_CHAIN = 4096, GROWN_STACK = 1 << 16 };

static bool is_call_chain(const clua_allocator *allocator, size_t new) {
  const clua_guard *guard = allocator->home ? allocator->home->guard : NULL;
  return guard && guard->stopped && new >= GROWN_STACK && guard->running
      && lua_gettop(guard->running) > CALL_CHAIN;
}

static void *allocate(void *ud, void *block, size_t old, size_t new) {
  clua_allocator *allocator = ud;
  // For a new block Lua passes its type as the old size; a stack has none.
  if (!block && old == 0 && is_call_chain(allocator, new)) return NULL;
  if (!block) old = 0;
  if (new == 0) {
    clua_block_free(&allocator->pages, block, old);
    allocator->used -= old;
    // The last block is the state itself.
    if (allocator->used == 0) clua_pages_release(&allocator->pages);
    return NULL;
  }
  if (new > old && refuses(allocator, new - old)) return NULL;
  void *result = block ? clua_block_resize(&allocator->pages, block, old, new)
                       : clua_block_make(&allocator->pages, new);
  if (result) allocator->used += new - old;
  return result;
}

/* ---- Warnings, and errors outside of protected calls ----------------------------------------- */

/* What luaL_newstate does, which brings an allocator of its own. */

static int panic(lua_State *L) {
  const char *message = lua_tostring(L, -1);
  if (!message) message = "error object is not a string";
  fprintf(stderr, "PANIC: unprotected error in call to Lua API (%s)\n", message);
  fflush(stderr);
  return 0;
}

static void warn_off(void *ud, const char *message, int goes_on);
static void warn_on(void *ud, const char *message, int goes_on);

/* Whether the message is a word to this function, which it has obeyed. */
static bool is_control(lua_State *L, const char *message, int goes_on) {
  if (goes_on || *message != '@') return false;
  if (strcmp(message, "@off") == 0) lua_setwarnf(L, warn_off, L);
  else if (strcmp(message, "@on") == 0) lua_setwarnf(L, warn_on, L);
  return true;
}

static void warn_off(void *ud, const char *message, int goes_on) {
  is_control(ud, message, goes_on);
}

/* A part of a warning, but for the first. */
static void go_on(void *ud, const char *message, int goes_on) {
  fputs(message, stderr);
  if (goes_on) {
    lua_setwarnf(ud, go_on, ud);
  } else {
    fputs("\n", stderr);
    lua_setwarnf(ud, warn_on, ud);
  }
  fflush(stderr);
}

static void warn_on(void *ud, const char *message, int goes_on) {
  if (is_control(ud, message, goes_on)) return;
  fputs("Lua warning: ", stderr);
  go_on(ud, message, goes_on);
}

lua_State *clua_newstate(clua_allocator *allocator, clua_home *home) {
  lua_State *L = lua_newstate(allocate, allocator);
  if (!L) return NULL;
  allocator->home = home;
  clua_sethome(L, home);
  lua_atpanic(L, panic);
  lua_setwarnf(L, warn_off, L);
  return L;
}
