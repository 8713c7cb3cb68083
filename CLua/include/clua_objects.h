/// Properties of host objects, found by the address of their names: Lua interns short strings, so a
/// name that is kept alive keeps its address.
#ifndef CLUA_OBJECTS_H
#define CLUA_OBJECTS_H

#include "clua.h"
#include "clua_handles.h"

typedef enum clua_property_kind {
  CLUA_PROPERTY_NONE,  // Swift looks it up
  CLUA_PROPERTY_INTEGER,
  CLUA_PROPERTY_NUMBER,
  CLUA_PROPERTY_BOOLEAN,
  CLUA_PROPERTY_TEXT,
  CLUA_PROPERTY_OPTIONAL,  // one of these types, or nil
  CLUA_PROPERTY_OBJECT,
  CLUA_PROPERTY_METHOD,
} clua_property_kind;

/// The functions by which C calls Swift. `object` comes from the handle and `access` from the
/// property. None of them may raise.
typedef struct clua_accessors {
  lua_Integer (*integer)(void *object, void *access);
  lua_Number (*number)(void *object, void *access);
  bool (*boolean)(void *object, void *access);
  /// Copies as much of the text as fits; returns its full length.
  size_t (*text)(void *object, void *access, char *buffer, size_t room);
  /// Pushes the value; or returns false and pushes an error value.
  bool (*optional)(lua_State *L, void *object, void *access);
  /// Pushes the object or another value; or returns false and pushes an error value.
  bool (*object)(lua_State *L, void *object, void *access);
  void (*set_integer)(void *object, void *access, lua_Integer value);
  void (*set_number)(void *object, void *access, lua_Number value);
  void (*set_boolean)(void *object, void *access, bool value);
  /// Sets a text; false if the bytes are not UTF-8.
  bool (*set_text)(void *object, void *access, const char *bytes, size_t length);
  /// Sets the value at index 3, which may be nil; false if it has another type.
  bool (*set_optional)(lua_State *L, void *object, void *access);
  /// Sets the object of a handle, or NULL for nil; false if it is of another class.
  bool (*set_object)(void *object, void *access, void *value);
} clua_accessors;

typedef struct clua_property {
  const void *name;
  void *access;
  clua_property_kind kind;
  int pin;  // of the function, for a method
  bool writable;
} clua_property;

/// The properties of a class in a state; the `id` of handles of its objects.
typedef struct clua_class {
  const clua_accessors *accessors;
  lua_State **current;    // the coroutine of the latest call of Swift
  const uint32_t *stamp;  // not 0 while reads are tracked
  int pins;               // the registry index of the table of pins
  uint32_t mask;          // the size of the table, a power of 2, minus one; the table
                          // is never full
  clua_property *properties;
} clua_class;

/// Makes a class with room for `count` properties; NULL if out of memory.
clua_class *clua_class_make(size_t count);
/// Frees a class.
void clua_class_free(clua_class *type);
/// Pops a name, keeps it as a key of the table now on top, and adds the property. [-1, +(0|1), -]
int clua_try_class_add(lua_State *L, clua_class *type, clua_property property);

/// Replaces the function of the Swift closure on top, the `__index` of host objects (`__newindex`
/// if `writes`), by a function that looks for known properties first. `release` is the release
/// function of host objects' handles. [-1, +1, -]
int clua_try_accelerate(lua_State *L, bool writes, clua_finalizer release);

/// The handle of a host object at `index`, or NULL. [-0, +0, -]
clua_handle *clua_toobject(lua_State *L, int index);

#endif
