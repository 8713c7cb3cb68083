/// Pointers of C that Lua hashes or prints: in a run that can be repeated, Lua gets others, which
/// are the same in each run.
#ifndef CCL_POINTERS_H
#define CCL_POINTERS_H

#include "clua.h"

/// Fixes the pointers that Lua gets from now on in this thread. False if the system or the
/// processor does not allow it for functions.
bool ccl_fixpointers(void);

/// lua_rawgetp and lua_rawsetp, as the functions in modules.c call them.
typedef struct ccl_rawpointers {
  int (*get)(lua_State *L, int index, const void *key);
  void (*set)(lua_State *L, int index, const void *key);
} ccl_rawpointers;

/// Exchanges lua_rawgetp and lua_rawsetp everywhere in the program; returns the former functions.
ccl_rawpointers ccl_exchangeraw(ccl_rawpointers functions);

#endif
