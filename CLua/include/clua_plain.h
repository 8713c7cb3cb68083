/// The library's functions that access a table without its metamethods, and `getinfo`, which names
/// functions.
///
/// A program may define functions of these names, so that C modules see an observed table as
/// scripts do (clua_modules.h). Code that works with the parts of such a table needs the library's
/// functions, so it calls them through pointers: one instruction less than a call by name.
#ifndef CLUA_PLAIN_H
#define CLUA_PLAIN_H

typedef struct clua_plainfunctions {
  int (*next)(lua_State *L, int index);
  int (*rawget)(lua_State *L, int index);
  int (*rawgeti)(lua_State *L, int index, lua_Integer key);
  int (*rawgetp)(lua_State *L, int index, const void *key);
  void (*rawset)(lua_State *L, int index);
  void (*rawseti)(lua_State *L, int index, lua_Integer key);
  void (*rawsetp)(lua_State *L, int index, const void *key);
  lua_Unsigned (*rawlen)(lua_State *L, int index);
  int (*getmetatable)(lua_State *L, int index);
  int (*setmetatable)(lua_State *L, int index);
  int (*getinfo)(lua_State *L, const char *what, lua_Debug *info);
} clua_plainfunctions;

/// The library's functions. A program that defines functions of these names sets this before it
/// makes a state; other code leaves it alone.
extern clua_plainfunctions clua_plain;

#define lua_next(L, index) clua_plain.next(L, index)
#define lua_rawget(L, index) clua_plain.rawget(L, index)
#define lua_rawgeti(L, index, key) clua_plain.rawgeti(L, index, key)
#define lua_rawgetp(L, index, key) clua_plain.rawgetp(L, index, key)
#define lua_rawset(L, index) clua_plain.rawset(L, index)
#define lua_rawseti(L, index, key) clua_plain.rawseti(L, index, key)
#define lua_rawsetp(L, index, key) clua_plain.rawsetp(L, index, key)
#define lua_rawlen(L, index) clua_plain.rawlen(L, index)
#define lua_getmetatable(L, index) clua_plain.getmetatable(L, index)
#define lua_setmetatable(L, index) clua_plain.setmetatable(L, index)

/* Swift does not see macros. */

/// Like lua_rawget. [-1, +1, -]
static inline int clua_plainget(lua_State *L, int index) { return lua_rawget(L, index); }
/// Like lua_rawgeti. [-0, +1, -]
static inline int clua_plaingeti(lua_State *L, int index, lua_Integer key) {
  return lua_rawgeti(L, index, key);
}
/// Like lua_rawgetp. [-0, +1, -]
static inline int clua_plaingetp(lua_State *L, int index, const void *key) {
  return lua_rawgetp(L, index, key);
}
/// Like lua_rawseti. [-1, +0, m]
static inline void clua_plainseti(lua_State *L, int index, lua_Integer key) {
  lua_rawseti(L, index, key);
}
/// Like lua_rawlen. [-0, +0, -]
static inline lua_Unsigned clua_plainlen(lua_State *L, int index) { return lua_rawlen(L, index); }
/// Like lua_getmetatable. [-0, +(0|1), -]
static inline int clua_plaingetmetatable(lua_State *L, int index) {
  return lua_getmetatable(L, index);
}
/// Like lua_setmetatable. [-1, +0, -]
static inline int clua_plainsetmetatable(lua_State *L, int index) {
  return lua_setmetatable(L, index);
}

#endif
