#include "lazy.h"
#include "clua_models.h"

/* ---- Records --------------------------------------------------------------------------------- */

/* Replaces the model on top by its record; pops it if it is not a model. [-1, +(0|1), -] */
static bool record_of_class(lua_State *L) {
  clua_pushshared(L, CLUA_SHARED_MODELS);
  if (lua_type(L, -1) == LUA_TTABLE) {
    lua_pushvalue(L, -2);
    if (lua_rawget(L, -2) == LUA_TTABLE) {
      lua_replace(L, -3);
      lua_pop(L, 1);
      return true;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return false;
}

bool clua_pushmodelof(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !clua_getmetatable(L, index)) return false;
  return record_of_class(L);
}

/* Pushes a node's table and the record of its model. [-0, +(0|2), -] */
static bool push_node_model(lua_State *L, clua_node *node) {
  if (!node->inherits) return false;
  int table = lua_gettop(L) + 1;
  if (!clua_pushnode(L, node)) return false;
  if (lua_getiuservalue(L, table + 2, CLUA_NODE_METATABLE) == LUA_TTABLE && record_of_class(L)) {
    lua_replace(L, table + 1);
    lua_settop(L, table + 1);
    return true;
  }
  lua_settop(L, table - 1);
  return false;
}

/* [-0, +1, -] */
static int push_field(lua_State *L, int record, const char *name) {
  record = lua_absindex(L, record);
  lua_pushstring(L, name);
  return lua_rawget(L, record);
}

/* Pushes the declaration of the key at `key` in the record at `record`. [-0, +1, -] */
static int push_declared(lua_State *L, int record, int key) {
  push_field(L, record, "declared");
  lua_pushvalue(L, key);
  int type = lua_rawget(L, -2);
  lua_replace(L, -2);
  return type;
}

/* Whether the key at `key` is already lazy on the table at `table`; both absolute. [-0, +0, -] */
static bool is_declared_at(lua_State *L, int table, int key) {
  clua_node *node = clua_node_at(L, table);
  return node && clua_node_islazy(L, node, key);
}

clua_name clua_node_name(lua_State *L, clua_node *node, int key) {
  int top = lua_gettop(L), table = top + 1;
  key = lua_absindex(L, key);
  if (lua_type(L, key) != LUA_TSTRING || !lua_checkstack(L, 16) || !push_node_model(L, node)) {
    return CLUA_NAME_FREE;
  }
  clua_name name = CLUA_NAME_FREE;
  switch (push_declared(L, table + 1, key)) {
  case LUA_TNIL:
    // A key that the instance has itself was not misspelt, declared or not.
    lua_pushvalue(L, key);
    if (clua_rawget(L, table) != LUA_TNIL) break;
    lua_pushvalue(L, key);
    switch (clua_inheritedget(L, table)) {
    case LUA_TNIL: name = CLUA_NAME_UNKNOWN; break;
    case LUA_TFUNCTION: name = CLUA_NAME_METHOD; break;
    default: break;
    }
    break;
  case LUA_TTABLE:
    name = clua_node_islazy(L, node, key) ? CLUA_NAME_PROPERTY : CLUA_NAME_LAZY;
    break;
  default: name = CLUA_NAME_PROPERTY; break;
  }
  lua_settop(L, top);
  return name;
}

bool clua_node_hasmodel(lua_State *L, clua_node *node) {
  if (!lua_checkstack(L, 12) || !push_node_model(L, node)) return false;
  bool lazy = push_field(L, -1, "instantiate") != LUA_TNIL;
  lua_pop(L, 3);
  return lazy;
}

void clua_node_declare(lua_State *L, clua_node *node, int key) {
  int top = lua_gettop(L), table = top + 1;
  key = lua_absindex(L, key);
  clua_checkstack(L, 16, NULL);
  if (push_node_model(L, node)) {
    push_field(L, table + 1, "declare");
    lua_pushvalue(L, table);
    lua_pushvalue(L, key);
    push_declared(L, table + 1, key);
    lua_call(L, 3, 0);
  }
  lua_settop(L, top);
}

void clua_node_declareall(lua_State *L, clua_node *node) {
  int top = lua_gettop(L), table = top + 1;
  clua_checkstack(L, 16, NULL);
  if (push_node_model(L, node) && push_field(L, table + 1, "instantiate") != LUA_TNIL) {
    lua_pushvalue(L, table);
    lua_call(L, 1, 0);
  }
  lua_settop(L, top);
}

/* ---- Access to instances --------------------------------------------------------------------- */

static int pass_on(lua_State *L, int status, lua_KContext context) {
  (void)L, (void)status, (void)context;
  return 1;
}

/* (instance, key, whether the property exists) */
static int compute(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  // The declaration was removed on this instance: the property no longer exists.
  if (!lua_toboolean(L, 3)) return 0;
  lua_pushcfunction(L, clua_lazycompute);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_callk(L, 2, 1, 0, pass_on);
  return 1;
}

/* Calls `declare`, which is at `function`, with the instance and the key at 1 and 2 and the
   declaration on top; replaces the declaration by the result. [-1, +1, e] */
static void declare(lua_State *L, int function, lua_KFunction next) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushvalue(L, function);
  lua_insert(L, -2);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_pushvalue(L, 2);
  lua_insert(L, -2);
  lua_callk(L, 3, 1, 0, next);
}

/* `__index` of instances. Upvalues: the declared names, the class, `declare`. (instance, key) */
static int model_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  switch (lua_rawget(L, lua_upvalueindex(1))) {
  case LUA_TNIL:
    lua_settop(L, 2);
    lua_gettable(L, lua_upvalueindex(2));
    return 1;
  case LUA_TTABLE:
    declare(L, lua_upvalueindex(3), compute);
    return compute(L, LUA_OK, 0);
  default:
    // The property is declared and nil, even if a parent class has a method of this name.
    return 0;
  }
}

bool clua_pushmethod(lua_State *L) {
  int function = lua_gettop(L);
  if (lua_tocfunction(L, function) != model_index) return false;
  lua_getupvalue(L, function, 1);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) {
    lua_settop(L, function);
    return false;
  }
  lua_settop(L, function);
  lua_getupvalue(L, function, 2);
  lua_pushvalue(L, 2);
  lua_gettable(L, function + 1);
  lua_replace(L, function + 1);
  return true;
}

/* instance, key, value, … */
static int store(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  clua_scriptrawset(L, 1, 2, 3, true);
  return 0;
}

/* Assigns like `__newindex` of instances: a lazy property is declared before it is assigned, so
   that the lifetime of the value is known. `declared` and `declaring` are the indices of the
   declarations and of `declare`. [-0, +any, e] */
static int assign(lua_State *L, int declared, int declaring) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, declared) == LUA_TTABLE && !is_declared_at(L, 1, 2)) {
    declare(L, declaring, store);
  }
  return store(L, LUA_OK, 0);
}

/* Upvalues: the declared names, `declare`. (instance, key, value) */
static int model_newindex(lua_State *L) {
  lua_settop(L, 3);
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_isnil(L, 2)) return luaL_error(L, "table index is nil");
  if (lua_type(L, 2) == LUA_TNUMBER && lua_tonumber(L, 2) != lua_tonumber(L, 2)) {
    return luaL_error(L, "table index is NaN");
  }
  return assign(L, lua_upvalueindex(1), lua_upvalueindex(2));
}

bool clua_ismodelnewindex(lua_State *L, int index) {
  return lua_tocfunction(L, index) == model_newindex;
}

int clua_modelassign(lua_State *L) {
  if (!clua_ismodelnewindex(L, 4)) return -1;
  lua_getupvalue(L, 4, 1);
  lua_getupvalue(L, 4, 2);
  return assign(L, 5, 6);
}

bool clua_pushmethods(lua_State *L) {
  return lua_tocfunction(L, -1) == model_index && lua_getupvalue(L, -1, 2) != NULL;
}

/* ---- Making instances ------------------------------------------------------------------------ */

/* The upvalues of a constructor. */
enum { CLASS = 1, DECLARED, VALUES, SIZE, COMPLETE, REFUSE };

/* Raises why the values on top, the fields and the name of one of them, are refused, at the
   script's place. [-arguments, +0, v] */
static int refuse(lua_State *L, int arguments) {
  lua_pushvalue(L, lua_upvalueindex(REFUSE));
  lua_insert(L, -1 - arguments);
  lua_call(L, arguments, 1);
  return luaL_error(L, "%s", luaL_tolstring(L, -1, NULL));
}

/* Sets the stored properties among the fields at 2 on the instance at 3; returns whether there are
   other fields. [-0, +0, v] */
static bool set_fields(lua_State *L) {
  bool others = false;
  lua_pushnil(L);
  while (clua_next(L, 2)) {
    lua_pushvalue(L, 4);
    int declared = lua_rawget(L, lua_upvalueindex(DECLARED));
    lua_pop(L, 1);
    if (declared == LUA_TNIL) {
      lua_pushvalue(L, 2);
      lua_pushvalue(L, 4);
      refuse(L, 2);
    }
    if (declared == LUA_TBOOLEAN) {
      lua_pushvalue(L, 4);
      lua_insert(L, 5);
      lua_rawset(L, 3);
    } else {
      others = true;
      lua_pop(L, 1);
    }
  }
  return others;
}

/* `__call` of classes. (class, fields) */
static int construct(lua_State *L) {
  lua_settop(L, 2);
  bool given = !lua_isnil(L, 2);
  if (given && lua_type(L, 2) != LUA_TTABLE) {
    return refuse(L, 1);
  }
  lua_createtable(L, 0, (int)lua_tointeger(L, lua_upvalueindex(SIZE)));
  lua_pushnil(L);
  while (lua_next(L, lua_upvalueindex(VALUES))) {
    lua_pushvalue(L, 4);
    lua_insert(L, 5);
    lua_rawset(L, 3);
  }
  bool others = given && set_fields(L);
  if (!lua_isnil(L, lua_upvalueindex(COMPLETE))) {
    lua_pushvalue(L, lua_upvalueindex(COMPLETE));
    lua_pushvalue(L, 3);
    lua_call(L, 1, 0);
  }
  lua_pushvalue(L, lua_upvalueindex(CLASS));
  // The class is open: it may have got a finalizer since it was made.
  clua_refusefinalizer(L, -1);
  lua_setmetatable(L, 3);
  if (others) {
    lua_pushnil(L);
    while (clua_next(L, 2)) {
      lua_pushvalue(L, 4);
      if (lua_rawget(L, lua_upvalueindex(DECLARED)) == LUA_TTABLE) {
        lua_pushvalue(L, 4);
        lua_pushvalue(L, 5);
        lua_settable(L, 3);
      }
      lua_settop(L, 4);
    }
  }
  return 1;
}

/* ---- Making models --------------------------------------------------------------------------- */

/* Remembers the record at 2 of the class at 1. [-0, +0, m] */
static void remember(lua_State *L) {
  clua_pushsharedtable(L, CLUA_SHARED_MODELS, "k");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_rawset(L, -3);
  lua_settop(L, 2);
}

int clua_model_make(lua_State *L) {
  lua_settop(L, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushliteral(L, "__index");
  push_field(L, 2, "own_access");
  bool own_access = lua_toboolean(L, -1);
  lua_pop(L, 1);
  if (own_access) {
    push_field(L, 2, "declared");
    lua_pushvalue(L, 1);
    push_field(L, 2, "declare");
    lua_pushcclosure(L, model_index, 3);
    lua_rawset(L, 1);
    lua_pushliteral(L, "__newindex");
    push_field(L, 2, "declared");
    push_field(L, 2, "declare");
    lua_pushcclosure(L, model_newindex, 2);
  } else {
    lua_pushvalue(L, 1);
  }
  lua_rawset(L, 1);
  remember(L);
  lua_pushvalue(L, 1);
  static const char *const fields[] = {"declared", "values", "size", "complete", "refuse"};
  for (int i = 0; i < 5; i++) push_field(L, 2, fields[i]);
  lua_pushcclosure(L, construct, 6);
  return 1;
}

int clua_model_record(lua_State *L) {
  lua_settop(L, 1);
  if (!record_of_class(L)) lua_pushnil(L);
  return 1;
}

int clua_model_of(lua_State *L) {
  if (!clua_pushmodelof(L, 1)) lua_pushnil(L);
  return 1;
}

int clua_model_isdeclared(lua_State *L) {
  lua_settop(L, 2);
  lua_pushboolean(L, is_declared_at(L, 1, 2));
  return 1;
}
