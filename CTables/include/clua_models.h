/// Models: metatables whose instances have declared names.
///
/// A model is a table that is the metatable of its instances. Its record, a table, lists the names
/// of the instances' properties: `declared[name]` is true for a stored property, and the
/// declaration of a lazy one. An instance is a plain table: its lazy properties are declared on it
/// on demand.
#ifndef CLUA_MODELS_H
#define CLUA_MODELS_H

#include "clua_observed.h"

/// The meaning of a key for the table of a node.
typedef enum clua_name {
  CLUA_NAME_FREE,      // not an instance of a model, or the table has the key anyway, or
                       // it is not text
  CLUA_NAME_PROPERTY,  // declared, and stored
  CLUA_NAME_LAZY,      // declared and lazy; to be declared on the instance
  CLUA_NAME_METHOD,
  CLUA_NAME_UNKNOWN,
} clua_name;

/// The meaning of the key at `key` for the table of a node. [-0, +0, -]
clua_name clua_node_name(lua_State *L, clua_node *node, int key);
/// Whether the table of a node is an instance of a model with lazy properties. [-0, +0, -]
bool clua_node_hasmodel(lua_State *L, clua_node *node);
/// Declares the lazy property at `key` on the table of a node, an instance. [-0, +0, e]
void clua_node_declare(lua_State *L, clua_node *node, int key);
/// Declares all lazy properties that the table of a node has as an instance. [-0, +0, e]
void clua_node_declareall(lua_State *L, clua_node *node);
/// Pushes the record of the model of the table at `index`; returns false and pushes nothing if the
/// table is not an instance. [-0, +(0|1), -]
bool clua_pushmodelof(lua_State *L, int index);
/// Pushes the methods used by the `__index` of a model's instances, which is on top of the stack;
/// returns false and pushes nothing if that is another function. [-0, +(0|1), -]
bool clua_pushmethods(lua_State *L);

/// (class, record) -> constructor. Makes `class`, which has no instance yet, a model. Fields of the
/// record:
///
///   name       text
///   declared   see above
///   values name -> the initial value of each instance's property
///   size the initial number of fields of an instance
///   own_access whether `__index` has to be a function: some name is lazy, or hides a method
///   complete nil | function(fields): sets further fields that are missing
///   refuse function(fields, name): raises that `fields` is not a table, or has a wrong name
///   declare function(instance, name, declaration) -> whether the property exists now
///   instantiate  function(instance): declares all lazy properties
int clua_model_make(lua_State *L);
/// (value) -> the record of the model, or nil if the value is not a model.
int clua_model_record(lua_State *L);
/// (value) -> the record of the instance's model, or nil.
int clua_model_of(lua_State *L);
/// (table, name) -> whether the key was declared lazy on this very table.
int clua_model_isdeclared(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// Like clua_node_declare for the key on top. [-1, +(0|1), -]
int clua_try_node_declare(lua_State *L, clua_node *node);
/// Like clua_node_declareall. [-0, +(0|1), -]
int clua_try_node_declareall(lua_State *L, clua_node *node);

#endif
