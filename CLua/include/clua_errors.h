/// Errors passed between Lua and Swift.
#ifndef CLUA_ERRORS_H
#define CLUA_ERRORS_H

#include "clua.h"

/// A message handler for lua_pcallk. Keeps the error value unchanged and leaves the traceback for
/// clua_pushtraceback. [-1, +1, m]
int clua_messagehandler(lua_State *L);
/// A message handler whose traceback ends above the C function `last`. [-1, +1, m]
int clua_handleabove(lua_State *L, lua_CFunction last);
/// Pushes the traceback that the last message handler left, or false, and forgets it. Sets `swift`
/// to whether a Swift function raised the error. [-0, +1, -]
void clua_pushtraceback(lua_State *L, bool *swift);

/// Pops a traceback and leaves it for clua_pushtraceback. [-1, +0, -]
void clua_leavetraceback(lua_State *L);
/// Removes the lines of our own Lua code, and of C functions that it called, from the traceback on
/// top: they mean nothing to script authors. A function of the module appears as a C function.
/// [-0, +0, m]
void clua_hideown(lua_State *L);
/// [-1, +1, -]
int clua_try_hideown(lua_State *L);
/// Pushes a traceback of a thread like luaL_traceback, without our own Lua code. Of a deep stack it
/// has only the top levels. If the modules have very many fields, it does not name functions by
/// their modules. [-0, +1, m]
void clua_traceback(lua_State *L, lua_State *thread, int level);
/// Whether more functions are running in a thread than tracebacks visit. [-0, +0, -]
bool clua_isdeep(lua_State *thread);
/// Leaves the traceback at `traceback`, which shows where the error at `error` arose, as that error
/// is about to be raised again: the next handler puts it before its own (`clua_addinner`).
/// [-0, +0, -]
void clua_leaveinner(lua_State *L, int error, int traceback);
/// Drops the traceback that clua_leaveinner left, if no handler has taken it. [-0, +0, -]
void clua_forgetinner(lua_State *L);
/// Completes the traceback on top, which belongs to the error at `error`. [-1, +1, m]
void clua_addinner(lua_State *L, int error);
/// Leaves the traceback of a coroutine that ended with the error on top. [-0, +0, -]
void clua_tracethread(lua_State *L, lua_State *thread);
/// Pushes `message` after the position of the running C function's caller. [-0, +1, -]
int clua_try_pushmessage(lua_State *L, const char *message, size_t length);
/// Pushes an error value that holds `object`, with the text of clua_try_pushmessage. On success Lua
/// owns `object`. [-0, +1, -]
int clua_try_pusherror(lua_State *L, void *object, clua_finalizer release, const char *message,
                       size_t length);
/// The object in an error value made by clua_try_pusherror, or NULL. [-0, +0, -]
void *clua_toerror(lua_State *L, int index);
/// Pushes the text of the error value at `index`. Calls its `__tostring`, protected and with
/// limited time. Needs five free slots. [-0, +1, -]
int clua_try_describe(lua_State *L, int index);

#endif
