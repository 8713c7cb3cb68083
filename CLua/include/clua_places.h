/// The code that runs and where it was written: frames, lines, names of captured variables.
#ifndef CLUA_PLACES_H
#define CLUA_PLACES_H

#include "clua.h"

/// Whether a chunk of that name is Lua code of the module obs: "=obs", or "=obs.prompt" for that of
/// prompts, which an interruption ends at any place.
bool clua_ismodule(const char *source);
/// Copies the place of the innermost Lua function that is running ("file.lua", line) into `source`
/// (LUA_IDSIZE bytes) and returns its line, or 0 when no Lua function runs. [-0, +0, -]
int clua_where(lua_State *L, char *source);
/// Pushes the innermost Lua function that is running and returns the line it is at; 0 and nothing
/// pushed where there is none. [-0, +(0|1), -]
int clua_currentfunction(lua_State *L);
/// The same, also while a write is reported that another function made. [-0, +(0|1), -]
int clua_runningfunction(lua_State *L);
/// In the C function that is running, clua_currentfunction answers with the function at `function`
/// and this line from now on: those of a write that is reported later than it was made. [-0, +0, m]
void clua_setwriter(lua_State *L, int function, int line);
/// Takes that back. [-0, +0, -]
void clua_unsetwriter(lua_State *L);
/// The place where the function at `index` is defined; returns the line, 0 for a main chunk, -1 for
/// C. [-0, +0, -]
int clua_definition(lua_State *L, int index, char *source);
/// Pushes the name of the first upvalue of the function at `function` that is the value at `value`;
/// nothing where there is none. [-0, +0, -]
const char *clua_capturename(lua_State *L, int function, int value);
/// Whether two C strings are equal.
bool clua_equaltext(const char *a, const char *b);

#endif
