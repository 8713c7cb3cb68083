/// Lazy keys, what tracked getters read, and the instances of models. For this target only.
#ifndef CLUA_LAZY_KEYS_H
#define CLUA_LAZY_KEYS_H

#include "../Store/store.h"

/* ---- Models --------------------------------------------------------------------------------- */

/// Pushes the value that the `__index` of the instances of a model, on top of the stack, has for
/// the key at 2, where that is no property; false and nothing elsewhere. [-0, +(0|1), e]
bool clua_pushmethod(lua_State *L);
/// Whether the value at `index` is the `__newindex` of the instances of a model. [-0, +0, -]
bool clua_ismodelnewindex(lua_State *L, int index);
/// `assign_instance` of clua_handlers.
int clua_modelassign(lua_State *L);

/* ---- Lazy keys ------------------------------------------------------------------------------ */

/// Pushes a function and the table to call it with where the key at `key` is lazy. [-0, +(0|2), -]
bool clua_pushlazy(lua_State *L, int table, int key);
/// (table, key) -> the value of a lazy key, computed.
int clua_lazycompute(lua_State *L);
/// Makes the metatable by which a store inherits where that is by a function: takes memory, so that
/// clua_setstoremetatable takes none after this. [-0, +0, m]
void clua_makestoremetatable(lua_State *L, int userdata);
/// The table of the node was garbage, and is back: lists its cells again. `userdata` is absolute.
/// [-0, +0, m]
void clua_listcells(lua_State *L, clua_node *node, int userdata);
/// `store_replaced` of clua_handlers.
void clua_storereplaced(lua_State *L, const clua_node *node, int userdata, int store);
/// `read_lazy` of clua_handlers.
int clua_readlazy(lua_State *L, clua_node *node, clua_record *record, int table, int userdata,
                  int key);
/// `index_behind` of clua_handlers.
int clua_indexbehind(lua_State *L, clua_node *node, int userdata);
/// `assign_lazy` of clua_handlers.
void clua_assignlazy(lua_State *L, clua_node *node, clua_record *record, int userdata, int key,
                     int value);

#endif
