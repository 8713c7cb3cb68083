#include "clua_objects.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "private.h"
#include "clua_protected.h"

/* The room for a text on its way to Lua: Swift reads longer texts a second time. */
enum { TEXT_ROOM = 256 };

/* ---- Classes --------------------------------------------------------------------------------- */

clua_class *clua_class_make(size_t count) {
  size_t size = 4;
  while (size < 2 * count) size *= 2;
  clua_class *type = calloc(1, sizeof *type);
  if (!type) return NULL;
  type->properties = calloc(size, sizeof *type->properties);
  type->mask = (uint32_t)(size - 1);
  if (!type->properties) {
    free(type);
    return NULL;
  }
  return type;
}

void clua_class_free(clua_class *type) {
  free(type->properties);
  free(type);
}

static inline uint32_t place(const void *name) {
  uintptr_t bits = (uintptr_t)name;
  return (uint32_t)(bits >> 4) ^ (uint32_t)(bits >> 12);
}

static inline const clua_property *find(const clua_class *type, const void *name) {
  // Numbers have no address.
  if (!name) return NULL;
  for (uint32_t i = place(name);; i++) {
    const clua_property *property = &type->properties[i & type->mask];
    if (property->name == name) return property;
    if (!property->name) return NULL;
  }
}

int clua_try_class_add(lua_State *L, clua_class *type, clua_property property) {
  property.name = lua_topointer(L, -1);
  lua_pushboolean(L, true);
  int status = clua_try_rawset(L, -3);
  if (status != LUA_OK) return status;
  uint32_t i = place(property.name) & type->mask;
  while (type->properties[i].name && type->properties[i].name != property.name)
    i = (i + 1) & type->mask;
  type->properties[i] = property;
  return LUA_OK;
}

/* ---- Access ---------------------------------------------------------------------------------- */

/* The function that releases host objects, the same in all states. */
static _Atomic(clua_finalizer) object_release;

clua_handle *clua_toobject(lua_State *L, int index) {
  clua_handle *handle = lua_touserdata(L, index);
  // The address of this function distinguishes a handle of this kind from other userdata of the
  // same size.
  if (!handle || lua_rawlen(L, index) != sizeof(clua_ownhandle)) return NULL;
  clua_finalizer release = atomic_load_explicit(&object_release, memory_order_relaxed);
  return handle->release == release ? handle : NULL;
}

/* The handle of an object whose class is known, or NULL. */
static inline clua_handle *object_at(lua_State *L, int index) {
  clua_handle *handle = clua_toobject(L, index);
  return handle && handle->id ? handle : NULL;
}

/* The property of the object at 1 whose name is at 2; NULL if Swift has to look it up. */
static inline const clua_property *known(lua_State *L, clua_handle **object) {
  clua_handle *handle = object_at(L, 1);
  if (!handle) return NULL;
  *object = handle;
  return find((const clua_class *)(uintptr_t)handle->id, lua_topointer(L, 2));
}

static int index_object(lua_State *L) {
  clua_handle *handle;
  const clua_property *property = known(L, &handle);
  if (!property) return clua_call_box(L);
  const clua_class *type = (const clua_class *)(uintptr_t)handle->id;
  if (*type->stamp) return clua_call_box(L);
  if (property->kind == CLUA_PROPERTY_METHOD) {
    clua_pushpin(L, type->pins, property->pin);
    return 1;
  }
  const clua_accessors *accessors = type->accessors;
  lua_State *outer = *type->current;
  *type->current = L;
  char buffer[TEXT_ROOM];
  size_t length = 0;
  bool done = true;
  switch (property->kind) {
    case CLUA_PROPERTY_INTEGER:
      lua_pushinteger(L, accessors->integer(handle->object, property->access));
      break;
    case CLUA_PROPERTY_NUMBER:
      lua_pushnumber(L, accessors->number(handle->object, property->access));
      break;
    case CLUA_PROPERTY_BOOLEAN:
      lua_pushboolean(L, accessors->boolean(handle->object, property->access));
      break;
    case CLUA_PROPERTY_TEXT:
      length = accessors->text(handle->object, property->access, buffer, sizeof buffer);
      break;
    case CLUA_PROPERTY_OPTIONAL:
      done = accessors->optional(L, handle->object, property->access);
      break;
    default:
      done = accessors->object(L, handle->object, property->access);
  }
  *type->current = outer;
  // Swift has returned: from here on errors may be raised.
  if (!done) return lua_error(L);
  if (property->kind == CLUA_PROPERTY_TEXT) {
    if (length > sizeof buffer) return clua_call_box(L);
    lua_pushlstring(L, buffer, length);
  }
  return 1;
}

static int newindex_object(lua_State *L) {
  clua_handle *handle;
  const clua_property *property = known(L, &handle);
  if (!property || !property->writable) return clua_call_box(L);
  const clua_class *type = (const clua_class *)(uintptr_t)handle->id;
  const clua_accessors *accessors = type->accessors;
  int given = lua_type(L, 3);
  bool done = false;
  lua_State *outer = *type->current;
  *type->current = L;
  switch (property->kind) {
    case CLUA_PROPERTY_INTEGER:
      if ((done = lua_isinteger(L, 3)))
        accessors->set_integer(handle->object, property->access, lua_tointeger(L, 3));
      break;
    case CLUA_PROPERTY_NUMBER:
      if ((done = given == LUA_TNUMBER))
        accessors->set_number(handle->object, property->access, lua_tonumber(L, 3));
      break;
    case CLUA_PROPERTY_BOOLEAN:
      if ((done = given == LUA_TBOOLEAN))
        accessors->set_boolean(handle->object, property->access, lua_toboolean(L, 3));
      break;
    case CLUA_PROPERTY_TEXT:
      if (given == LUA_TSTRING) {
        size_t length;
        const char *bytes = lua_tolstring(L, 3, &length);
        done = accessors->set_text(handle->object, property->access, bytes, length);
      }
      break;
    case CLUA_PROPERTY_OPTIONAL:
      done = accessors->set_optional(L, handle->object, property->access);
      break;
    case CLUA_PROPERTY_OBJECT: {
      clua_handle *value = object_at(L, 3);
      if (value || given == LUA_TNIL)
        done = accessors->set_object(handle->object, property->access,
                                     value ? value->object : NULL);
      break;
    }
    default: break;
  }
  *type->current = outer;
  // Swift makes the error if the value does not fit.
  return done ? 0 : clua_call_box(L);
}

static int accelerate(lua_State *L) {
  bool writes = lua_toboolean(L, 2);
  lua_settop(L, 1);
  lua_pushcclosure(L, writes ? newindex_object : index_object, 1);
  return 1;
}

int clua_try_accelerate(lua_State *L, bool writes, clua_finalizer release) {
  atomic_store_explicit(&object_release, release, memory_order_relaxed);
  lua_getupvalue(L, -1, 1);
  lua_pushboolean(L, writes);
  clua_remove(L, -3);
  return clua_protect(L, accelerate, 2, 1);
}

bool clua_isaccelerated(lua_CFunction function) {
  return function == index_object || function == newindex_object;
}
