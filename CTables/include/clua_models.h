/// Models: metatables whose instances have declared names.
///
/// A model is a table that is the metatable of its instances. Its record, a table, says which names
/// the instances have: `declared[name]` is true for a stored property, and the declaration of a
/// lazy one. An instance is a plain table: its lazy properties are declared on it when they are
/// needed.
#ifndef CLUA_MODELS_H
#define CLUA_MODELS_H

#include "clua_observed.h"

/// The meaning of a key for the table of a node.
typedef enum clua_name {
  CLUA_NAME_FREE,      // the table is no instance of a model, has the key all the same, or
                       // it is no text
  CLUA_NAME_PROPERTY,  // declared, and stored
  CLUA_NAME_LAZY,      // declared, and lazy; to be declared on the instance
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
/// Pushes the record of the model that the table at `index` is an instance of; false and nothing
/// where it is none. [-0, +(0|1), -]
bool clua_pushmodelof(lua_State *L, int index);
/// Pushes the methods that the `__index` of a model's instances on top of the stack looks into;
/// false and nothing where that is another function. [-0, +(0|1), -]
bool clua_pushmethods(lua_State *L);

/// (class, record) -> constructor. Makes `class`, which has no instance yet, a model. The record
/// has
///
///   name       text
///   declared   see above
///   values     name -> what the property of each instance is to begin with
///   size       how many fields an instance has to begin with
///   own_access whether `__index` has to be a function: some name is lazy, or hides a method
///   complete   nil | function(fields): sets further fields where there are none
///   refuse     function(fields, name): says that `fields` are no table, or have a wrong name
///   declare    function(instance, name, declaration) -> whether the property is there now
///   instantiate  function(instance): declares all lazy properties
int clua_model_make(lua_State *L);
/// (value) -> the record of the model that it is, or nil.
int clua_model_record(lua_State *L);
/// (value) -> the record of the model that it is an instance of, or nil.
int clua_model_of(lua_State *L);
/// (table, name) -> whether the key was declared lazy on that very table.
int clua_model_isdeclared(lua_State *L);

/* ---- Protected: status as lua_pcall ---------------------------------------------------------- */

/// As clua_node_declare for the key on top. [-1, +(0|1), -]
int clua_try_node_declare(lua_State *L, clua_node *node);
/// As clua_node_declareall. [-0, +(0|1), -]
int clua_try_node_declareall(lua_State *L, clua_node *node);

#endif
