/// Lazy keys, what tracked getters read, and the instances of models. Not for others than this
/// target.
#ifndef CLUA_LAZY_KEYS_H
#define CLUA_LAZY_KEYS_H

#include "../Store/store.h"

/* ---- Models --------------------------------------------------------------------------------- */

/// Pushes what the `__index` of the instances of a model, on top of the stack, gives for the key at
/// 2, where that is no property; false and nothing elsewhere. [-0, +(0|1), e]
bool clua_pushmethod(lua_State *L);
/// Whether the value at `index` is the `__newindex` of the instances of a model. [-0, +0, -]
bool clua_ismodelnewindex(lua_State *L, int index);
/// What that function, which is at 4, does with an instance, a key and a value, at 1…3; returns how
/// many results it has. [-0, +any, e]
int clua_modelassign(lua_State *L);

/* ---- Lazy keys ------------------------------------------------------------------------------ */

/// Pushes a function and the table to call it with where the key at `key` is lazy. [-0, +(0|2), -]
bool clua_pushlazy(lua_State *L, int table, int key);
/// (table, key) -> the value of a lazy key, computed.
int clua_lazycompute(lua_State *L);
/// Gives a store the metatable by which it inherits. [-0, +0, -]
void clua_setstoremetatable(lua_State *L, clua_node *node, int userdata, int store);
/// … which takes memory where it inherits by a function, and none after this. [-0, +0, m]
void clua_makestoremetatable(lua_State *L, int userdata);
/// The store of a node became another table. [-0, +0, -]
void clua_storereplaced(lua_State *L, clua_node *node, int userdata, int store);
/// Returns the value of the lazy key of a record, which the store does not have; what remains of
/// the function that calls this. Indices are absolute. [-0, +any, e]
int clua_readlazy(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                  int key);
/// Returns what the key at 2 gives through the user's metatable. [-0, +any, e]
int clua_indexbehind(lua_State *L, clua_node *node, int userdata);
/// Assigns to a lazy key. Indices are absolute. [-0, +0, e]
void clua_assignlazy(lua_State *L, clua_node *node, clua_record *record, int userdata, int key,
                     int value);

#endif
