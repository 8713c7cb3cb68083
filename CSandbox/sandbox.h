/// Declarations shared by this folder: library functions with loops that can be stopped.
#ifndef CLUA_SANDBOX_INTERNAL_H
#define CLUA_SANDBOX_INTERNAL_H

#include "clua_guard.h"
#include "clua_sandbox.h"

/// Bytes that are copied or compared between two checks of the guard.
enum { CLUA_PIECE = 1 << 18 };

/// These replace functions in the tables of the libraries. [-0, +0, m]
void clua_stoppable_patterns(lua_State *L, int string);
void clua_stoppable_strings(lua_State *L, int string);
void clua_stoppable_tables(lua_State *L, int table);
void clua_stoppable_utf8(lua_State *L, int utf8);
/// Makes a library function reject formats that are too long to be read at once. [-0, +0, m]
void clua_limitformats(lua_State *L, int table, const char *name);

#endif
