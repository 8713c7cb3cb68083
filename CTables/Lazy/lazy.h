/// Lazy keys, reads of tracked getters, and instances of models. For this target only.
#ifndef CLUA_LAZY_KEYS_H
#define CLUA_LAZY_KEYS_H

#include "../Store/store.h"

/* ---- Models --------------------------------------------------------------------------------- */

/// Pushes the value that the `__index` of a model's instances, on top of the stack, has for the key
/// at 2, unless it is a property. Returns false and pushes nothing if `__index` is another
/// function. [-0, +(0|1), e]
bool clua_pushmethod(lua_State *L);
/// Whether the value at `index` is the `__newindex` of a model's instances. [-0, +0, -]
bool clua_ismodelnewindex(lua_State *L, int index);
/// `assign_instance` of clua_handlers.
int clua_modelassign(lua_State *L);

/* ---- Lazy keys ------------------------------------------------------------------------------ */

/// If the key at `key` is lazy, pushes a function and the table to call it with. [-0, +(0|2), -]
bool clua_pushlazy(lua_State *L, int table, int key);
/// (table, key) -> the value of a lazy key, computed.
int clua_lazycompute(lua_State *L);
/// Makes the metatable by which a store inherits through a function: allocates, so that
/// clua_setstoremetatable need not. [-0, +0, m]
void clua_makestoremetatable(lua_State *L, int userdata);
/// Called when the node's table was garbage and is back: lists its cells again. `userdata` is
/// absolute. [-0, +0, m]
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
