#include "clua_errors.h"
#include "clua_protected.h"

#include "clua_places.h"

#include <string.h>

#include "private.h"

/// The instructions that a `__tostring` may take: well below a second, and ample.
enum { DESCRIPTION_INSTRUCTIONS = 10 * 1000 * 1000 };

static const char error_key, traceback_key, swift_key, inner_error_key, inner_traceback_key;

/* ---- Tracebacks ------------------------------------------------------------------------------ */

/* Going to a level costs O(levels above it), and luaL_traceback visits fifty: after a stack
   overflow that takes seconds. */
enum { TRACED_LEVELS = 10000, SHOWN_LEVELS = 21 };

bool clua_isdeep(lua_State *thread) {
  lua_Debug activation;
  return lua_getstack(thread, TRACED_LEVELS, &activation);
}

/* Pushes a line of a traceback. [-0, +1, m] */
static void push_level(lua_State *L, const lua_Debug *activation) {
  const char *tail = "";
  lua_pushfstring(L, "\n\t%s:", activation->short_src);
  if (activation->currentline > 0) lua_pushfstring(L, "%d:", activation->currentline);
  else lua_pushliteral(L, "");
  if (activation->istailcall) tail = "\n\t(...tail calls...)";
  if (*activation->namewhat) {
    bool global = strcmp(activation->namewhat, "global") == 0;
    lua_pushfstring(L, " in %s '%s'", global ? "function" : activation->namewhat, activation->name);
  } else if (*activation->what == 'm') {
    lua_pushliteral(L, " in main chunk");
  } else if (*activation->what == 'C') {
    lua_pushliteral(L, " in ?");
  } else {
    lua_pushfstring(L, " in function <%s:%d>", activation->short_src, activation->linedefined);
  }
  lua_pushstring(L, tail);
  lua_concat(L, 4);
}

/* Pushes a traceback of a thread from `level` on, with as many lines as a long traceback shows. It
   ends above the C function `last`. Returns whether there are more levels. [-0, +1, m] */
static bool push_levels(lua_State *L, lua_State *thread, int level, lua_CFunction last) {
  lua_Debug activation;
  lua_pushliteral(L, "stack traceback:");
  for (int end = level + SHOWN_LEVELS; lua_getstack(thread, level, &activation); level++) {
    if (last) {
      lua_getinfo(thread, "f", &activation);
      bool is_last = lua_tocfunction(thread, -1) == last;
      lua_pop(thread, 1);
      if (is_last) break;
    }
    if (level == end) return true;
    lua_getinfo(thread, "Slnt", &activation);
    push_level(L, &activation);
    lua_concat(L, 2);
  }
  return false;
}

static bool begins(const char *line, const char *text) {
  return strncmp(line, text, strlen(text)) == 0;
}

/* Whether a line of a traceback, with the line feed before it, belongs to the checks of
   fixtures. */
static bool is_check_line(const char *line) { return begins(line, "\n\t[checks]:"); }

/* Whether a line of a traceback belongs to our own Lua code. */
static bool is_own_line(const char *line) {
  return begins(line, "\n\tobs:") || is_check_line(line);
}

void clua_hideown(lua_State *L) {
  const char *line = lua_tostring(L, -1);
  if (!line || !(strstr(line, "\n\tobs:") || strstr(line, "\n\t[checks]:"))) return;
  luaL_Buffer kept;
  luaL_buffinit(L, &kept);
  bool hidden = false;
  while (line) {
    const char *next = strchr(line + 1, '\n');
    const char *end = next ? next : line + strlen(line);
    bool own = is_own_line(line), called = next && is_own_line(next) && begins(line, "\n\t[C]:");
    const char *shown = is_check_line(line) ? " in function '" : " in function 'obs.";
    const char *name = own ? strstr(line, shown) : NULL;
    hidden = own || called || (hidden && begins(line, "\n\t(...tail calls...)"));
    if (name && name < end) {
      luaL_addstring(&kept, "\n\t[C]:");
      luaL_addlstring(&kept, name, (size_t)(end - name));
    } else if (!hidden) {
      luaL_addlstring(&kept, line, (size_t)(end - line));
    }
    line = next;
  }
  luaL_pushresult(&kept);
  // Our compiled code has no names of variables for the functions that it calls.
  luaL_gsub(L, lua_tostring(L, -1), " in upvalue '?'", " in function");
  lua_replace(L, -3);
  lua_pop(L, 1);
}

CLUA_OPERATION(clua_try_hideown, 1, 1, clua_hideown(L))

/* luaL_traceback searches for each function among the fields of all modules, the globals included.
   With more fields than this, tracebacks are made without the search. */
enum { SEARCHED_FIELDS = 10000 };

/* Counts the fields of the table on top, up to `limit`. [-0, +0, -] */
static int count_fields(lua_State *L, int limit) {
  int count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    lua_pop(L, 1);
    if (++count >= limit) break;
  }
  if (count >= limit && limit > 0) lua_pop(L, 1);
  return count;
}

/* Whether the search for a function among the modules would take too long. [-0, +0, m] */
static bool has_many_fields(lua_State *L) {
  int top = lua_gettop(L), left = SEARCHED_FIELDS;
  if (!lua_checkstack(L, 6)) return true;
  if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) == LUA_TTABLE) {
    lua_pushnil(L);
    while (left > 0 && lua_next(L, top + 1)) {
      left -= 1 + (lua_type(L, -1) == LUA_TTABLE ? count_fields(L, left) : 0);
      lua_settop(L, top + 2);
    }
  }
  lua_settop(L, top);
  return left <= 0;
}

void clua_traceback(lua_State *L, lua_State *thread, int level) {
  bool deep = clua_isdeep(thread);
  if (!deep && !has_many_fields(L)) {
    luaL_traceback(L, thread, NULL, level);
  } else if (push_levels(L, thread, level, NULL)) {
    if (deep) lua_pushfstring(L, "\n\t...\t(of more than %d levels)", TRACED_LEVELS);
    else lua_pushliteral(L, "\n\t...");
    lua_concat(L, 2);
  }
  clua_hideown(L);
}

/* Pushes a traceback of only the functions above `last`. [-0, +1, m] */
static void push_traceback_above(lua_State *L, lua_CFunction last) {
  if (push_levels(L, L, 1, last)) {
    lua_pushliteral(L, "\n\t...");
    lua_concat(L, 2);
  }
  clua_hideown(L);
}

void clua_addinner(lua_State *L, int error) {
  static const char header[] = "stack traceback:";
  lua_rawgetp(L, LUA_REGISTRYINDEX, &inner_error_key);
  bool same = lua_rawequal(L, -1, error);
  lua_pop(L, 1);
  if (!same) return;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &inner_traceback_key);
  if (lua_type(L, -1) == LUA_TSTRING) {
    lua_pushstring(L, lua_tostring(L, -2) + sizeof header - 1);
    lua_concat(L, 2);
    lua_replace(L, -2);
  } else {
    lua_pop(L, 1);
  }
  clua_forgetinner(L);
}

void clua_forgetinner(lua_State *L) {
  lua_pushboolean(L, false);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &inner_error_key);
}

void clua_leaveinner(lua_State *L, int error, int traceback) {
  // Only text is remembered, as this would keep an object alive.
  bool is_text = lua_type(L, error) == LUA_TSTRING;
  if (is_text) lua_pushvalue(L, error);
  else lua_pushboolean(L, false);
  if (is_text && lua_type(L, traceback) == LUA_TSTRING) lua_pushvalue(L, traceback);
  else lua_pushboolean(L, false);
  // Both keys were made at installation and are never nil.
  lua_rawsetp(L, LUA_REGISTRYINDEX, &inner_traceback_key);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &inner_error_key);
}

/* The rest of a message handler; its traceback ends above `last`, if that is not NULL. */
static int handle(lua_State *L, lua_CFunction last) {
  lua_Debug raiser;
  bool swift = false;
  lua_settop(L, 1);
  if (lua_getstack(L, 1, &raiser) && lua_getinfo(L, "f", &raiser)) {
    swift = clua_isfunction(L, -1);
    lua_settop(L, 1);
  }
  // luaL_traceback checks for fewer slots than it may use, and an overflow leaves none.
  if (!lua_checkstack(L, 10)) return 1;
  lua_pushboolean(L, swift);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &swift_key);
  if (last) push_traceback_above(L, last);
  else clua_traceback(L, L, 1);
  clua_addinner(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &traceback_key);
  return 1;
}

int clua_messagehandler(lua_State *L) { return handle(L, NULL); }

int clua_handleabove(lua_State *L, lua_CFunction last) { return handle(L, last); }

void clua_pushtraceback(lua_State *L, bool *swift) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &swift_key);
  *swift = lua_toboolean(L, -1);
  lua_pop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &traceback_key);
  // Both keys were made at installation and are never nil: assigning them allocates nothing.
  lua_pushboolean(L, false);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &traceback_key);
  lua_pushboolean(L, false);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &swift_key);
}

void clua_leavetraceback(lua_State *L) {
  // Both keys were made at installation and are never nil.
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, false);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &traceback_key);
}

/* (light thread, error) */
static int trace(lua_State *L) {
  lua_State *thread = lua_touserdata(L, 1);
  clua_traceback(L, thread, 0);
  clua_addinner(L, 2);
  clua_leavetraceback(L);
  return 0;
}

void clua_tracethread(lua_State *L, lua_State *thread) {
  lua_pushlightuserdata(L, thread);
  lua_pushvalue(L, -2);
  if (clua_protect(L, trace, 2, 0) != LUA_OK) lua_pop(L, 1);
}

/* ---- Error values that hold a Swift error ---------------------------------------------------- */

typedef struct error_source {
  clua_box box;
  const char *message;
  size_t length;
} error_source;

/// The chunk name of the function at a level; "" if there is no such level.
static const char *source_at(lua_State *L, int level) {
  lua_Debug activation;
  bool exists = lua_getstack(L, level, &activation) && lua_getinfo(L, "S", &activation);
  return exists ? activation.source : "";
}

/// Whether the function at a level is Lua code of the module obs or a function made by clua_outer.
static bool is_ours(lua_State *L, int level) {
  lua_Debug activation;
  if (clua_ismodule(source_at(L, level))) return true;
  if (!lua_getstack(L, level, &activation)) return false;
  lua_getinfo(L, "f", &activation);
  bool outer = clua_isouter(lua_tocfunction(L, -1));
  lua_pop(L, 1);
  return outer;
}

static bool is_native(lua_State *L, int level) {
  return strcmp(source_at(L, level), "=[C]") == 0;
}

/// Pushes the message after its position. Level 0 is the protected function, 1 the trampoline.
static void pushpositioned(lua_State *L, const error_source *source) {
  // Lua code of the module obs works for its caller, also when it calls itself through `pcall`.
  int level = 2;
  while (is_ours(L, level) || (is_ours(L, level + 1) && is_native(L, level))) level++;
  luaL_where(L, level);
  lua_pushlstring(L, source->message, source->length);
  lua_concat(L, 2);
}

static int pushmessage(lua_State *L) {
  pushpositioned(L, lua_touserdata(L, 1));
  return 1;
}

int clua_try_pushmessage(lua_State *L, const char *message, size_t length) {
  error_source source = {.message = message, .length = length};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, pushmessage, 1, 1);
}

static int pusherror(lua_State *L) {
  const error_source *source = lua_touserdata(L, 1);
  clua_box *box = clua_newbox(L, &error_key, 1);
  pushpositioned(L, source);
  lua_setiuservalue(L, -2, 1);
  clua_fillbox(box, &source->box);
  return 1;
}

int clua_try_pusherror(lua_State *L, void *object, clua_finalizer release, const char *message,
                       size_t length) {
  error_source source = {{.context = object, .release = release}, message, length};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, pusherror, 1, 1);
}

static bool iserror(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

void *clua_toerror(lua_State *L, int index) {
  return iserror(L, index) ? ((clua_box *)lua_touserdata(L, index))->context : NULL;
}

static int error_tostring(lua_State *L) {
  if (!iserror(L, 1)) return luaL_typeerror(L, 1, "SwiftError");
  lua_getiuservalue(L, 1, 1);
  return 1;
}

static int error_concat(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  luaL_tolstring(L, 2, NULL);
  lua_concat(L, 2);
  return 1;
}

void clua_install_errors(lua_State *L) {
  static const luaL_Reg metamethods[] = {
      {"__tostring", error_tostring}, {"__concat", error_concat}, {0}};
  lua_createtable(L, 0, 4);
  luaL_setfuncs(L, metamethods, 0);
  lua_pushliteral(L, "SwiftError");
  lua_setfield(L, -2, "__name");
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
  const void *const keys[] = {&traceback_key, &swift_key, &inner_error_key, &inner_traceback_key};
  for (int i = 0; i < 4; i++) {
    lua_pushboolean(L, false);
    lua_rawsetp(L, LUA_REGISTRYINDEX, keys[i]);
  }
}

/* ---- Texts of error values ------------------------------------------------------------------- */

static int describe(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING || lua_type(L, 1) == LUA_TNUMBER) {
    lua_tolstring(L, 1, NULL);
    return 1;
  }
  if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  return 1;
}

/// Descriptions in progress on this thread. A coroutine made by a `__tostring` inherits the hook.
static _Thread_local int descriptions;

/// Stops a description. The hook is set again for each instruction, so that a `pcall` in a loop
/// does not continue after it caught the error.
static void stop_description(lua_State *L, lua_Debug *activation) {
  (void)activation;
  if (descriptions == 0) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  lua_sethook(L, stop_description, LUA_MASKCOUNT, 1);
  luaL_error(L, "__tostring takes too long");
}

int clua_try_describe(lua_State *L, int index) {
  lua_Hook hook = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  lua_pushvalue(L, index);
  lua_sethook(L, stop_description, LUA_MASKCOUNT, DESCRIPTION_INSTRUCTIONS);
  descriptions++;
  int status = clua_protect(L, describe, 1, 1);
  descriptions--;
  // A signal handler may have set another hook in the meantime.
  if (lua_gethook(L) == stop_description) lua_sethook(L, hook, mask, count);
  return status;
}
