/// The running code and where it was written: frames, lines, names of captured variables.
#ifndef CLUA_PLACES_H
#define CLUA_PLACES_H

#include "clua.h"

/// Whether a chunk of this name is Lua code of the module obs: "=obs", or "=obs.prompt" for code of
/// prompts, which an interruption may end anywhere.
bool clua_ismodule(const char *source);
/// Copies the place of the innermost running Lua function outside of the module ("file.lua", line)
/// into `source` (LUA_IDSIZE bytes) and returns its line; 0 if there is none. [-0, +0, -]
int clua_where(lua_State *L, char *source);
/// Writes the calls of Lua functions under way into `text`, the innermost first, a line for each,
/// as far as there is room. Allocates nothing. [-0, +0, -]
void clua_calls(lua_State *L, char *text, size_t size);
/// Pushes the first running Lua function at a level greater than `*level`, the innermost first,
/// sets `*level` to its level, and returns its current line; returns 0 and pushes nothing if there
/// is none. With 0, the search begins at the caller of the running C function. [-0, +(0|1), -]
int clua_runningfunction(lua_State *L, int *level);
/// While clua_setwriter is in effect, pushes that function, and leaves `*level`; otherwise like
/// clua_runningfunction. [-0, +(0|1), -]
int clua_currentfunction(lua_State *L, int *level);
/// Makes clua_currentfunction return this line and the function at `function` while the running C
/// function reports a write that was made earlier. [-0, +0, m]
void clua_setwriter(lua_State *L, int function, int line);
/// Ends the effect of clua_setwriter. [-0, +0, -]
void clua_unsetwriter(lua_State *L);
/// The place where the function at `index` is defined; returns the line, 0 for a main chunk, -1 for
/// C. [-0, +0, -]
int clua_definition(lua_State *L, int index, char *source);
/// Pushes the name of the first upvalue of the function at `function` that equals the value at
/// `value`; pushes nothing if there is no such upvalue. [-0, +0, -]
const char *clua_capturename(lua_State *L, int function, int value);
/// Whether two C strings are equal.
bool clua_equaltext(const char *a, const char *b);

#endif
