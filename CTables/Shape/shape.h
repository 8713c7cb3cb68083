/// Observed tables as scripts see them: metatables, base functions. For this target only.
#ifndef CLUA_SHAPE_H
#define CLUA_SHAPE_H

#include "../Store/store.h"

/* ---- Metatables ----------------------------------------------------------------------------- */

/// Compiles the forwarding closures and keeps the values shared by metatables. The state's userdata
/// is at `shared`. [-0, +0, m]
void clua_install_metatables(lua_State *L, int shared);
/// `fill` of clua_handlers.
void clua_fill(lua_State *L, clua_node *node, int table, int metatable, int userdata, bool mark);
/// `metamethod_set` of clua_handlers.
void clua_metamethodset(lua_State *L, clua_node *node, int key);

/// Records that the forwarder one level up ends in a call of the function on top, for
/// clua_modulegetinfo. [-0, +0, -]
void clua_noteforwarded(lua_State *L);

/* ---- Base functions ------------------------------------------------------------------------- */

/// [-0, +0, m]
void clua_install_base(lua_State *L, clua_shared *shared);

#endif
