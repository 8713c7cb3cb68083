/// Access of C modules to an observed table (M1): they see the same as scripts, and not how the
/// table is stored.
///
/// These are for a program that defines the library's functions under their names, as C modules and
/// the library itself call them. Each does the same as its namesake, on the table visible to
/// scripts: stored keys, valid lazy keys, and the script's own metatable. None runs code of the
/// program. Values are stored at once, and reported later: see clua_hear.
#ifndef CLUA_MODULES_H
#define CLUA_MODULES_H

#include "clua.h"

/// The numbers of modules in a state: each loading of a module gets a new one.
typedef struct clua_modules {
  uint32_t running;  ///< of the module whose code runs; 0 for other code
  uint32_t last;
} clua_modules;

/// Replaces the global function `require` by one that notes which module's chunk runs. Takes the
/// library `package` from the stack, and pushes a function (name) -> the loader that `require`
/// would call, and its data; and the table of loads: name -> number, and number -> the loader's
/// data. [-1, +(2|1), -]
int clua_try_setrequire(lua_State *L, clua_modules *modules);
/// Called before `require` runs a loader in Lua with a text as its data, usually the name of the
/// file that the searcher has read; NULL at first.
extern void (*clua_onrequire)(const char *data);

/// Set when the process observes its first table: until then the library's functions suffice.
extern int clua_observing;
/// The number of unreported writes in all states.
extern int clua_unheardcount;

/// Whether any table was ever observed in this process.
static inline bool clua_isobserving(void) {
  return __atomic_load_n(&clua_observing, __ATOMIC_RELAXED) != 0;
}
/// Whether there may be writes to report.
static inline bool clua_isunheard(void) {
  return __atomic_load_n(&clua_unheardcount, __ATOMIC_RELAXED) != 0;
}

/// The address of that count, for frequent callers.
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
/// Metamethods of observed tables have the same names as in plain tables.
int clua_modulegetinfo(lua_State *L, const char *what, lua_Debug *info);

/// Reports the writes of C modules, in order; writes to the list part of a table as one edit.
/// Watchers and functions of backed properties run in it. [-0, +0, e]
void clua_hear(lua_State *L);
/// Does the same, protected. [-0, +(0|1), -]
int clua_try_hear(lua_State *L);

#endif
