/// What C modules see of an observed table (M1): all that scripts see of it, and nothing of how it
/// is kept.
///
/// These are for a program that defines the functions of the library by their names, as C modules
/// and the library itself call them. Each does the same as its namesake, on the table that a script
/// sees: stored keys, the valid lazy ones, and the script's own metatable. None runs code of the
/// program. Values are stored at once, and reported later: see clua_hear.
#ifndef CLUA_MODULES_H
#define CLUA_MODULES_H

#include "clua.h"

/// Set when the first table of the process is observed: until then the functions of the library do.
extern int clua_observing;
/// How many writes were not reported yet, of all states.
extern int clua_unheardcount;

/// Whether a table was ever observed in this process.
static inline bool clua_isobserving(void) {
  return __atomic_load_n(&clua_observing, __ATOMIC_RELAXED) != 0;
}
/// Whether there may be writes to report.
static inline bool clua_isunheard(void) {
  return __atomic_load_n(&clua_unheardcount, __ATOMIC_RELAXED) != 0;
}

/// Where that count is, for callers that ask often.
const int *clua_waitingwrites(void);

int clua_modulenext(lua_State *L, int index);
int clua_modulerawget(lua_State *L, int index);
int clua_modulerawgeti(lua_State *L, int index, lua_Integer key);
int clua_modulerawgetp(lua_State *L, int index, const void *key);
void clua_modulerawset(lua_State *L, int index);
void clua_modulerawseti(lua_State *L, int index, lua_Integer key);
void clua_modulerawsetp(lua_State *L, int index, const void *key);
lua_Unsigned clua_modulerawlen(lua_State *L, int index);
int clua_modulegetmetatable(lua_State *L, int index);
int clua_modulesetmetatable(lua_State *L, int index);
/// The metamethods of observed tables have the names that they have in plain ones.
int clua_modulegetinfo(lua_State *L, const char *what, lua_Debug *info);

/// Reports the writes of C modules, in order; of the list part of a table as one edit. Watchers and
/// functions of backed properties run in it. [-0, +0, e]
void clua_hear(lua_State *L);
/// The same, protected. [-0, +(0|1), -]
int clua_try_hear(lua_State *L);

#endif
