#include "clua_allocator.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "clua_guard.h"

static bool is_beyond(size_t limit, size_t used, size_t growth) {
  return used > limit || growth > limit - used;
}

/* When a request is refused, Lua collects garbage and asks again. Lua before 5.4.8 does not anchor
   the table to which `__newindex` has led: where only a weak metatable refers to it, the collection
   frees it while it grows. Nothing uses it any more if the second request is refused, too. So the
   second request for a part of a table, or anything else that is no object, is always refused. Half
   of the limit is a reserve for these parts, so that garbage does not make them fail: a part that
   passes the limit has it collected at the next instruction. */
static bool refuses_part(clua_allocator *allocator, size_t growth) {
  size_t limit = allocator->limit, most = limit <= SIZE_MAX / 2 ? limit + limit / 2 : SIZE_MAX;
  if (is_beyond(most, allocator->used, growth)) return true;
  if (allocator->used <= limit && allocator->home) clua_guard_collect(allocator->home->guard);
  return false;
}

static bool is_to_fail(const clua_allocator *allocator) {
  return allocator->refuse_from && allocator->requests >= allocator->refuse_from
      && allocator->requests <= allocator->refuse_to;
}

static bool refuses(clua_allocator *allocator, size_t growth, bool is_object) {
  if (!allocator->limit || !is_beyond(allocator->limit, allocator->used, growth)) return false;
  return is_object || refuses_part(allocator, growth);
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

/* For a new object Lua passes its type as the old size; for parts of objects zero. */
static void *allocate(void *ud, void *block, size_t old, size_t new) {
  clua_allocator *allocator = ud;
  bool is_object = !block && old != 0;
  if (!block && old == 0 && is_call_chain(allocator, new)) return NULL;
  if (!block) old = 0;
  if (new == 0) {
    clua_block_free(&allocator->pages, block, old);
    allocator->used -= old;
    // The last block is the state itself.
    if (allocator->used == 0) clua_pages_release(&allocator->pages);
    return NULL;
  }
  if (new > old) {
    uint64_t request = ++allocator->requests;
    if (is_to_fail(allocator)) return NULL;
    bool again = request == allocator->refused + 1 && new == allocator->refusedsize;
    if ((again && !is_object) || refuses(allocator, new - old, is_object)) {
      allocator->refused = again ? 0 : request;
      allocator->refusedsize = new;
      return NULL;
    }
  }
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
