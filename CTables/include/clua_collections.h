/// Lua tables that are collections by type: arrays, sets and dictionaries.
///
/// An array or a set is a table whose keys are always in a store: its node is permanent, and writes
/// are checked. A dictionary is any table with the metatable of dictionaries.
///
///   array: `a[i]`, `#a`, `ipairs`, `table.*`; `a.count` and methods are found behind the elements.
///   set: a member is key and value of the store, never a field: `s.add` is the method, `pairs`
///   gives
///        (member, member), `#s` and `s.count` the number of members.
#ifndef CLUA_COLLECTIONS_H
#define CLUA_COLLECTIONS_H

#include "clua_observed.h"

/// Pops a table of methods, and pushes the metatable of a class of arrays, sets or dictionaries
/// with these methods. Until the first instance is made, further fields may be set (`__name`,
/// `__metatable`, `__tostring`), but not `__index`, `__newindex` or `__len`. [-1, +1, m]
void clua_collection_class(lua_State *L, clua_kind kind);
/// Pops the metatable of a class, and pushes an empty instance of it. [-1, +1, m]
void clua_collection_make(lua_State *L);
/// The kind of the table at `index`, observed or not. [-0, +0, -]
clua_kind clua_collection_kind(lua_State *L, int index);

/// The kind of the table of a node.
clua_kind clua_node_kind(const clua_node *node);
/// The number of elements, members or entries of a node's table; for a plain table, `#t`. Lazy keys
/// do not count. After the first call the size is known without counting, as long as the node is
/// observed as a whole. [-0, +0, -]
lua_Integer clua_node_size(lua_State *L, clua_node *node);
/// The number of elements of a list: `#t`, at most up to the first lazy key. [-0, +0, -]
lua_Integer clua_node_elementcount(lua_State *L, clua_node *node);
/// (table) -> the number of elements of a list, observed or not.
int clua_elementcount(lua_State *L);
/// The position of the value at `value` in the list at `list` (absolute), searched outwards from
/// `hint`; 0 if not found. [-0, +0, -]
lua_Integer clua_find(lua_State *L, int list, int value, lua_Integer hint);
/// Whether the table of a node has lazy keys, which are not elements.
bool clua_node_haslazies(const clua_node *node);

/// Pushes the text for a member of a set in key paths, without `&` and escapes: strings as `'text`,
/// numbers and booleans as in source, objects as `table:1`. Not for nil and NaN. [-1, +1, m]
void clua_pushmembername(lua_State *L);
/// Pops such a text, and pushes the member; nil if it names no member (any longer). [-1, +1, m]
void clua_pushnamedmember(lua_State *L);

/// Methods of arrays, as in the script API: append insert remove remove_value replace move swap
/// sort reverse clear set index_of. They accept any arguments, and raise if these are wrong.
extern const luaL_Reg clua_array_methods[];
/// Methods of sets: add remove contains union intersect subtract clear key_of object_for values.
extern const luaL_Reg clua_set_methods[];

/// Pushes the functions `array(list)`, `dictionary(entries)` and `set_of(list)`, each with a
/// separate class that has the methods above. [-0, +3, m]
void clua_pushconstructors(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// Like clua_pushconstructors. [-0, +(3|1), -]
int clua_try_pushconstructors(lua_State *L);
/// Like clua_pushmembername. [-1, +1, -]
int clua_try_pushmembername(lua_State *L);
/// Like clua_pushnamedmember. [-1, +1, -]
int clua_try_pushnamedmember(lua_State *L);

/* ---- Contents, for deep changes (X2) --------------------------------------------------------- */

/// Copies the stored contents of a table, for scripts.
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
/// (table) For a tracked getter that has reached the table: it reads all contents, and reaches all
/// tables in them.
int clua_trackcontents(lua_State *L);
/// (table → copy, list of tables) fills the copies of the listed tables, and those of all tables in
/// them. Returns a table that it does not copy, because it may have lazy or computed keys or a
/// tracked getter reads it; nothing if all are filled.
int clua_copytables(lua_State *L);
/// (map, map, n, limit) → at most `limit` keys outside of 1…n whose values differ (T5); their
/// number
int clua_differingkeys(lua_State *L);
/// (list, n, list, n) → how many elements at the beginning of both are the same (T5), and how many
/// at the end; the end is counted first
int clua_commonends(lua_State *L);
/// (map, keys, map, keys) → how many values at the beginning of both are identical, and how many at
/// the end
int clua_commonvalues(lua_State *L);
/// (object, object, values left out of trees, is_data: the second one is data) → true if both have
/// the same values in their trees (T5), so that nothing has to change; false if they may differ
int clua_arealike(lua_State *L);
/// (table, fields) → true, after the table has got exactly these fields. If the table is observed,
/// does and returns nothing.
int clua_restorefields(lua_State *L);
/// (list, value) → a copy of the list, with the value appended unless it is nil
int clua_extended(lua_State *L);
/// (value, keys, count) → the value under the first keys, until a read could call a function; and
/// the number of the next key
int clua_followkeys(lua_State *L);
/// (value) → whether it is a table that is a leaf for `**`
int clua_istableopaque(lua_State *L);

#endif
