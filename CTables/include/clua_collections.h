/// Lua tables that are collections by type: arrays, sets and dictionaries.
///
/// An array or a set is a table whose keys are in a store from birth: its node stays, and writes
/// are checked. A dictionary is any table with the metatable of dictionaries.
///
///   array: `a[i]`, `#a`, `ipairs`, `table.*`; `a.count` and methods are found behind the elements.
///   set: a member is key and value of the store, never a field: `s.add` is the method, `pairs`
///   gives
///        (member, member), `#s` and `s.count` the number of members.
#ifndef CLUA_COLLECTIONS_H
#define CLUA_COLLECTIONS_H

#include "clua_observed.h"

/// Pops a table, and pushes the metatable of a class of arrays, sets or dictionaries whose methods
/// are in that table. More fields (`__name`, `__metatable`, `__tostring`) may be set in it before
/// its first instance is made; not `__index`, `__newindex`, `__len`. [-1, +1, m]
void clua_collection_class(lua_State *L, clua_kind kind);
/// Pops the metatable of a class, and pushes an empty instance of it. [-1, +1, m]
void clua_collection_make(lua_State *L);
/// The kind of the table at `index`, observed or not. [-0, +0, -]
clua_kind clua_collection_kind(lua_State *L, int index);

/// The kind of the table of a node.
clua_kind clua_node_kind(const clua_node *node);
/// The number of elements, members or entries of the table of a node; of a plain table, `#t`. Lazy
/// keys don't count. From the second call on nothing is counted, as long as the node is observed as
/// a whole. [-0, +0, -]
lua_Integer clua_node_size(lua_State *L, clua_node *node);
/// The number of elements of a list: `#t`, or those before the first lazy key. [-0, +0, -]
lua_Integer clua_node_elementcount(lua_State *L, clua_node *node);
/// (table) -> the number of elements of a list, whether it is observed or not.
int clua_elementcount(lua_State *L);
/// The position of the value at `value` in the list at `list` (absolute), looked for outwards from
/// `hint`; 0 where it is not. [-0, +0, -]
lua_Integer clua_find(lua_State *L, int list, int value, lua_Integer hint);
/// Whether the table of a node has lazy keys, which are no elements.
bool clua_node_haslazies(const clua_node *node);

/// Pushes the text for a member of a set in key paths, without `&` and escapes: strings as `'text`,
/// numbers and booleans as they are spelled, objects as `table:1`. Not for nil and NaN. [-1, +1, m]
void clua_pushmembername(lua_State *L);
/// Pops such a text, and pushes the member; nil where it names nothing (any longer). [-1, +1, m]
void clua_pushnamedmember(lua_State *L);

/// Methods of arrays, as they are in the script API: append insert remove remove_value replace move
/// swap sort reverse clear set index_of. Each may be called with any arguments, and raises where
/// they are wrong.
extern const luaL_Reg clua_array_methods[];
/// Methods of sets: add remove contains union intersect subtract clear key_of object_for values.
extern const luaL_Reg clua_set_methods[];

/// Pushes the functions `array(list)`, `dictionary(entries)` and `set_of(list)`, each with a class
/// of its own that has the methods above. [-0, +3, m]
void clua_pushconstructors(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// As clua_pushconstructors. [-0, +(3|1), -]
int clua_try_pushconstructors(lua_State *L);
/// As clua_pushmembername. [-1, +1, -]
int clua_try_pushmembername(lua_State *L);
/// As clua_pushnamedmember. [-1, +1, -]
int clua_try_pushnamedmember(lua_State *L);

/* ---- Contents, for deep changes (X2) --------------------------------------------------------- */

/// Copies what is stored in a table, for scripts.
///
/// (table, values to leave out, is_list: it may be one, opaque: opaque tables are objects) →
/// - kind: the kind of collection, or nil
/// - copy
/// - n: 1…n are its list
/// - is_sparse: integer keys follow behind a hole
/// - objects: the keys of values that may be objects, positions first; or false
/// - positions: how many of these keys are in 1…n
/// - has_userdata: some value is one
/// - has_fields: there are keys outside of 1…n
int clua_readcontents(lua_State *L);
/// (map, map, n, limit) → at most `limit` keys outside of 1…n whose values are not the same (T5);
/// their number
int clua_differingkeys(lua_State *L);
/// (list, n, list, n) → how many elements at both beginnings are the same (T5), and how many at the
/// ends
int clua_commonends(lua_State *L);
/// (map, keys, map, keys) → how many values at both beginnings are identical, and how many at the
/// ends
int clua_commonvalues(lua_State *L);
/// (list, value) → a copy of the list, with the value at its end unless it is nil
int clua_extended(lua_State *L);
/// (value) → whether it is a table that is a leaf for `**`
int clua_istableopaque(lua_State *L);

#endif
