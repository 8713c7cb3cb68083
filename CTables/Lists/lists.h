/// Lists, arrays, sets and dictionaries. For this target only.
#ifndef CLUA_LISTS_H
#define CLUA_LISTS_H

#include "../Store/store.h"

/* ---- Arguments of methods ------------------------------------------------------------------- */

/// Raises that `argument`, a method's object, is not an instance of `class`. [-0, +0, v]
int clua_selferror(lua_State *L, int argument, const char *class);
/// Raises unless the argument at `index` is a table or a collection of the host program; replaces
/// the latter by a list of its elements. [-0, +0, v]
void clua_checklist(lua_State *L, int index);

/* ---- Lists ---------------------------------------------------------------------------------- */

/// The functions of the library `table` that tables observed as lists need; their first upvalue is
/// the state's shared data.
int clua_tableconcat(lua_State *L);
int clua_tableunpack(lua_State *L);
int clua_tableinsert(lua_State *L);
int clua_tableremove(lua_State *L);
int clua_tablemove(lua_State *L);
int clua_tablesort(lua_State *L);
/// Makes the metatable of the guard that ends a sort. [-0, +0, m]
void clua_install_sort(lua_State *L);

/// The node of the table at `index` if a list function may work in its store: the table moved as a
/// whole, and no metamethod would have been called. Pushes the store. [-0, +(0|1), -]
clua_node *clua_listat(lua_State *L, clua_shared *shared, int index);

/* Operations on the list of `length` elements in the store at `store`. They are reported as one
   edit if a slot or a journal wants it. Indices are absolute, positions are valid. */

/// Inserts the value at `value`. [-0, +0, m]
void clua_listinsert(lua_State *L, clua_node *node, int table, int store, lua_Integer length,
                     lua_Integer position, int value);
/// Removes an element and pushes it. [-0, +1, m]
void clua_listremove(lua_State *L, clua_node *node, int table, int store, lua_Integer length,
                     lua_Integer position);
/// Writes the values first…first + count - 1 of the list at `source`, starting at `position`.
/// [-0, +0, m]
void clua_listwrite(lua_State *L, clua_node *node, int table, int store,
                    lua_Integer position, int source, lua_Integer first, lua_Integer count);
/// Sorts the elements 1…length of the table at `list` with the comparison at 2, or with `<` if that
/// is nil. [-0, +0, e]
void clua_sortlist(lua_State *L, int list, lua_Unsigned length);
/// Pushes a guard that is closed when the sort of a copy ends: the array may change again.
/// [-0, +1, m]
void clua_pushsortguard(lua_State *L, clua_node *node);

/* ---- Collections ---------------------------------------------------------------------------- */

/// Called when a node's metatable was set: checks whether it makes a dictionary. [-0, +0, -]
void clua_learnkind(lua_State *L, clua_node *node, int user, int shared);

/// `__newindex` of arrays and sets.
int clua_arraynewindex(lua_State *L);
int clua_setnewindex(lua_State *L);
/// `check_array` of clua_handlers.
lua_Integer clua_arraycheck(lua_State *L, clua_node *node, int userdata, int key, int value);
/// `assign_array` of clua_handlers.
void clua_arrayassign(lua_State *L, clua_node *node, int table, int userdata, int key, int value);
/// Raises unless the array may take the value at `value`, or 0. [-0, +0, v]
void clua_checkelement(lua_State *L, clua_node *node, int value);
/// Raises unless the array may take the values of the list at `source` from `first` on, starting at
/// `position`. [-0, +0, v]
void clua_checkelements(lua_State *L, clua_node *node, int store, lua_Integer position, int source,
                        lua_Integer first, lua_Integer count);
/// The method `sort`, also used by `table.sort`.
int clua_arraysort(lua_State *L);

#endif
