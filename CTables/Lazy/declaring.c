#include "lazy.h"
#include "clua_lazy.h"

/* The upvalues of both functions: the Swift function and its context. */
enum { FUNCTION = 1, CONTEXT };

/* The prelude checks longer lists of paths. */
enum { MOST_PATHS = 16 };

/* Makes Swift declare a lazy property: table, key, declaration, getter and flags are at 1 to 5. The
   key is prepared first. [-0, +any, e] */
static int declare_at(lua_State *L) {
  bool may = lua_type(L, 1) == LUA_TTABLE && lua_type(L, 3) == LUA_TTABLE;
  if (may && !clua_shared_of(L)->closed) {
    lua_Integer flags = lua_tointeger(L, 5);
    int whole = flags & CLUA_LAZY_TRACKED ? CLUA_PREPARE_WHOLE : 0;
    const clua_node *node = clua_node_prepare(L, 1, 2, CLUA_PREPARE_DECLARED | whole);
    // Most properties depend on one key of their table, and are read.
    if ((!node->inherits || flags & CLUA_LAZY_ONSTORED) && lua_rawgeti(L, 3, 1) == LUA_TSTRING)
      clua_node_prepare(L, 1, 6, CLUA_PREPARE_STORED);
    lua_settop(L, 5);
  }
  clua_function function = (clua_function)lua_touserdata(L, lua_upvalueindex(FUNCTION));
  int results = function(L, lua_touserdata(L, lua_upvalueindex(CONTEXT)));
  return results == CLUA_RAISE ? lua_error(L) : results;
}

/* (table, key, declaration, getter, flags) */
static int declare(lua_State *L) {
  lua_settop(L, 5);
  return declare_at(L);
}

/* Whether the table at 1 lists the text at `index` for this use. [-0, +0, -] */
static bool is_checked(lua_State *L, int index, int use) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  lua_pushvalue(L, index);
  lua_rawget(L, 1);
  bool checked = lua_tointeger(L, -1) & use;
  lua_pop(L, 1);
  return checked;
}

/* Whether the value at `index` is a table without a metatable visible to scripts. [-0, +0, -] */
static bool is_plain(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  if (!lua_getmetatable(L, index)) return true;
  const clua_node *node = clua_pushnodeof(L, -1);
  lua_pop(L, node ? 2 : 1);
  return node && !node->inherits && node->kind == CLUA_KIND_PLAIN;
}

static void set_field(lua_State *L, int table, const char *name, int value) {
  lua_pushstring(L, name);
  lua_pushvalue(L, value);
  lua_rawset(L, table);
}

/* Replaces the arguments of `declare_usual` by arguments for `declare`, at 2 to 6. Returns false,
   with the stack in any state, if the prelude must check them. [-0, +any, m] */
static bool compile_usual(lua_State *L) {
  int getter = lua_gettop(L), paths = 4, declaration = getter + 1, flags = getter + 2;
  bool tracked = getter == paths;
  if ((getter != 5 && !tracked) || lua_type(L, getter) != LUA_TFUNCTION) return false;
  if (!is_checked(L, 3, CLUA_CHECKED_NAME) || !is_plain(L, 2)) return false;
  lua_Integer count = 0;
  if (!tracked) {
    if (lua_type(L, paths) != LUA_TTABLE || lua_getmetatable(L, paths)) return false;
    count = (lua_Integer)lua_rawlen(L, paths);
    if (count == 0 || count > MOST_PATHS) return false;
  }
  lua_createtable(L, (int)count, 3);
  lua_pushinteger(L, tracked ? CLUA_LAZY_TRACKED : 0);
  set_field(L, declaration, "get", getter);
  set_field(L, declaration, "origin", getter);
  set_field(L, declaration, "flags", flags);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, paths, i);
    if (!is_checked(L, flags + 1, CLUA_CHECKED_PATH)) return false;
    lua_rawseti(L, declaration, i);
  }
  lua_pushvalue(L, getter);
  lua_insert(L, flags);
  lua_rotate(L, paths, 3);
  lua_settop(L, 6);
  return true;
}

/* (checked texts, table, name, [paths,] getter) -> whether the property is declared now. Handles
   the usual case: a plain table, with names that were checked before. */
static int declare_usual(lua_State *L) {
  bool usual = compile_usual(L);
  if (usual) {
    lua_remove(L, 1);
    declare_at(L);
  }
  lua_pushboolean(L, usual);
  return 1;
}

/* (function, context, table) */
static int set_declaring(lua_State *L) {
  static const struct { const char *name; int value; } numbers[] = {
#define FLAG(name, bit) {#name, bit},
    CLUA_LAZY_FLAGS(FLAG)
#undef FLAG
    {"CHECKED_NAME", CLUA_CHECKED_NAME}, {"CHECKED_PATH", CLUA_CHECKED_PATH},
  };
  lua_newtable(L);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    lua_pushinteger(L, numbers[i].value);
    lua_setfield(L, -2, numbers[i].name);
  }
  lua_setfield(L, 3, "flags");
  lua_pushvalue(L, FUNCTION);
  lua_pushvalue(L, CONTEXT);
  lua_pushcclosure(L, declare, 2);
  lua_setfield(L, 3, "declare");
  lua_pushvalue(L, FUNCTION);
  lua_pushvalue(L, CONTEXT);
  lua_pushcclosure(L, declare_usual, 2);
  lua_setfield(L, 3, "declare_usual");
  return 0;
}

int clua_try_setdeclaring(lua_State *L, clua_function function, void *context) {
  clua_notefunction(CLUA_FUNCTION_DECLARE, declare);
  clua_notefunction(CLUA_FUNCTION_DECLARE_USUAL, declare_usual);
  int table = lua_gettop(L);
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushvalue(L, table);
  return clua_protect(L, set_declaring, 3, 0);
}
