/// Errors on their way between Lua and Swift.
#ifndef CLUA_ERRORS_H
#define CLUA_ERRORS_H

#include "clua.h"

/// A message handler for lua_pcallk. Keeps the error value as it is and leaves the traceback for
/// clua_pushtraceback. [-1, +1, m]
int clua_messagehandler(lua_State *L);
/// A message handler whose traceback ends above the C function `last`. [-1, +1, m]
int clua_handleabove(lua_State *L, lua_CFunction last);
/// Pushes the traceback that the last message handler left, false if none, and forgets it. `swift`
/// is set to whether a Swift function raised the error. [-0, +1, -]
void clua_pushtraceback(lua_State *L, bool *swift);

/// Pops a traceback and leaves it for clua_pushtraceback. [-1, +0, -]
void clua_leavetraceback(lua_State *L);
/// Takes the lines of our own code in Lua out of the traceback on top, and those of what it has
/// called in C: they mean nothing to those who write scripts. A function of the module is shown as
/// one in C. [-0, +0, m]
void clua_hideown(lua_State *L);
/// [-1, +1, -]
int clua_try_hideown(lua_State *L);
/// Whether more functions are running in a thread than tracebacks go through. [-0, +0, -]
bool clua_isdeep(lua_State *thread);
/// Leaves the traceback at `traceback`, of the place where the error at `error` arose, as that is
/// about to be raised again: the next handler puts it before its own (`clua_addinner`). [-0, +0, -]
void clua_leaveinner(lua_State *L, int error, int traceback);
/// Drops the traceback that clua_leaveinner left, if no handler has taken it. [-0, +0, -]
void clua_forgetinner(lua_State *L);
/// Completes the traceback on top, which is that of the error at `error`. [-1, +1, m]
void clua_addinner(lua_State *L, int error);
/// Leaves the traceback of a coroutine that the error on top has ended. [-0, +0, -]
void clua_tracethread(lua_State *L, lua_State *thread);
/// Pushes `message` behind the position of the caller of the running C function. [-0, +1, -]
int clua_try_pushmessage(lua_State *L, const char *message, size_t length);
/// Pushes an error value that holds `object` and reads as clua_try_pushmessage does. Lua owns
/// `object` from success on. [-0, +1, -]
int clua_try_pusherror(lua_State *L, void *object, clua_finalizer release, const char *message,
                       size_t length);
/// The object in an error value made by clua_try_pusherror, or NULL. [-0, +0, -]
void *clua_toerror(lua_State *L, int index);
/// Pushes the text of the error value at `index`. Its `__tostring` is called, protected and within
/// bounds of time. Needs five free slots. [-0, +1, -]
int clua_try_describe(lua_State *L, int index);

#endif
