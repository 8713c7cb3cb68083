/// The shape that a script sees of an observed table: metatables, traversal, base functions. Not
/// for others than this target.
#ifndef CLUA_SHAPE_H
#define CLUA_SHAPE_H

#include "../Store/store.h"

/* ---- Metatables ----------------------------------------------------------------------------- */

/// Compiles the forwarding closures and keeps all that metatables share. The state's userdata is at
/// `shared`. [-0, +0, m]
void clua_install_metatables(lua_State *L, int shared);
/// Fills the private metatable of the table at `table` from the user's, which is in the node, or
/// fills it anew. `mark` says that the table shall be finalized as by setmetatable. Indices are
/// absolute. [-0, +0, m]
void clua_fill(lua_State *L, clua_node *node, int table, int metatable, int userdata, bool mark);
/// Makes the user's metatable of a node report new metamethods. [-0, +0, m]
void clua_watchmetatable(lua_State *L, clua_node *node, int userdata);
/// Ends that. [-0, +0, -]
void clua_unwatchmetatable(clua_node *node);
/// The metamethod at `key` of the table behind `node` was set: tells the metatables that forward to
/// it. [-0, +0, m]
void clua_metamethodset(lua_State *L, clua_node *node, int key);

/* ---- Traversal ------------------------------------------------------------------------------ */

/// As clua_next for an observed table; `table` and `userdata` absolute. [-1, +(2|0), v]
int clua_nodenext(lua_State *L, clua_node *node, int table, int userdata);
/// Pushes the key after `key` in the table itself, or something that is no key; false and nothing
/// if the table doesn't know the key any more. Indices are absolute. [-0, +(0|1), m]
bool clua_successor(lua_State *L, int table, int key);
/// Remembers the place of a key that is about to leave the table. Indices are absolute. [-0, +0, m]
void clua_keepplace(lua_State *L, clua_node *node, int table, int userdata, int key);
/// Forgets all places. [-0, +0, -]
void clua_forgetplaces(lua_State *L, clua_node *node, int userdata);

/* ---- Base functions ------------------------------------------------------------------------- */

/// [-0, +0, m]
void clua_install_base(lua_State *L, clua_shared *shared);

#endif
