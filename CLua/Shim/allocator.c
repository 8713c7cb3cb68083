#include "clua_allocator.h"

#include <stdlib.h>

static bool refuses(clua_allocator *allocator, size_t growth) {
  uint64_t request = ++allocator->requests;
  if (allocator->refuse_from && request >= allocator->refuse_from
      && request <= allocator->refuse_to)
    return true;
  return allocator->limit
      && (allocator->used > allocator->limit || growth > allocator->limit - allocator->used);
}

static void *allocate(void *ud, void *block, size_t old, size_t new) {
  clua_allocator *allocator = ud;
  // For a new block Lua passes its type as the old size.
  if (!block) old = 0;
  if (new == 0) {
    free(block);
    allocator->used -= old;
    return NULL;
  }
  if (new > old && refuses(allocator, new - old)) return NULL;
  void *result = realloc(block, new);
  // Lua relies on it that shrinking never fails.
  if (!result) return new <= old ? block : NULL;
  allocator->used += new - old;
  return result;
}

lua_State *clua_newstate(clua_allocator *allocator) {
  // luaL_newstate, for its handling of warnings. Its blocks come from realloc, as ours do.
  lua_State *L = luaL_newstate();
  if (!L) return NULL;
  allocator->used = (size_t)lua_gc(L, LUA_GCCOUNT) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB);
  lua_setallocf(L, allocate, allocator);
  return L;
}
