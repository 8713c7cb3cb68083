#include "clua_bridge.h"

#include <string.h>

#include "clua_collections.h"
#include "clua_errors.h"
#include "clua_interruption.h"
#include "clua_lazy.h"
#include "clua_models.h"
#include "private.h"

/* ---- Observed tables, protected -------------------------------------------------------------- */

typedef struct node_operation {
  clua_node *node;
  clua_slot *slot;
  lua_Integer key;
} node_operation;

static int protect_operation(lua_State *L, lua_CFunction function, int nargs,
                             node_operation *data) {
  lua_pushlightuserdata(L, data);
  clua_insert(L, -(nargs + 1));
  return clua_protect(L, function, nargs + 1, 0);
}

static int install(lua_State *L) {
  clua_observation_install(L, lua_touserdata(L, 1));
  return 0;
}

int clua_try_observation_install(lua_State *L, const clua_observation *observation) {
  lua_pushlightuserdata(L, (void *)observation);
  return clua_protect(L, install, 1, 0);
}

static int make(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  data->node = clua_node_make(L, 2);
  return 0;
}

int clua_try_node_make(lua_State *L, int index, clua_node **node) {
  node_operation data = {0};
  lua_pushvalue(L, index);
  int status = protect_operation(L, make, 1, &data);
  *node = data.node;
  return status;
}

static int watch(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  clua_node_watch(L, data->node, 2, data->slot);
  return 0;
}

int clua_try_node_watch(lua_State *L, clua_node *node, clua_slot *slot) {
  node_operation data = {node, slot, 0};
  return protect_operation(L, watch, 1, &data);
}

static int watchevery(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  clua_node_watchevery(L, data->node, data->slot);
  return 0;
}

int clua_try_node_watchevery(lua_State *L, clua_node *node, clua_slot *slot) {
  node_operation data = {node, slot, 0};
  return protect_operation(L, watchevery, 0, &data);
}

static int settle(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  clua_node_settle(L, data->node);
  return 0;
}

int clua_try_node_settle(lua_State *L, clua_node *node) {
  node_operation data = {node, NULL, 0};
  return protect_operation(L, settle, 0, &data);
}

int clua_try_heal(lua_State *L, int index) {
  index = lua_absindex(L, index);
  lua_pushcfunction(L, clua_healtable);
  lua_pushvalue(L, index);
  return lua_pcall(L, 1, 0, 0);
}

typedef struct lazy_operation {
  clua_node *node;
  int flags;
  lua_Integer number;
} lazy_operation;

/* (operation, key, getter, declaration) */
static int lazy(lua_State *L) {
  const lazy_operation *data = lua_touserdata(L, 1);
  clua_node_lazy(L, data->node, 2, 3, 4, data->flags, data->number);
  return 0;
}

int clua_try_node_lazy(lua_State *L, clua_node *node, int flags, lua_Integer number) {
  lazy_operation data = {node, flags, number};
  lua_pushlightuserdata(L, &data);
  clua_insert(L, -4);
  return clua_protect(L, lazy, 4, 0);
}

static int declare(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  clua_node_declare(L, data->node, 2);
  return 0;
}

int clua_try_node_declare(lua_State *L, clua_node *node) {
  node_operation data = {node, NULL, 0};
  return protect_operation(L, declare, 1, &data);
}

static int declareall(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  clua_node_declareall(L, data->node);
  return 0;
}

int clua_try_node_declareall(lua_State *L, clua_node *node) {
  node_operation data = {node, NULL, 0};
  return protect_operation(L, declareall, 0, &data);
}

/* (operation, value, what is kept so far) */
static int keep(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  if (lua_type(L, 3) != LUA_TTABLE) {
    lua_settop(L, 2);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    clua_node_setuservalue(L, data->node);
  }
  lua_pushvalue(L, 2);
  lua_rawseti(L, 3, data->key);
  return 0;
}

int clua_try_node_keep(lua_State *L, clua_node *node, lua_Integer key) {
  node_operation data = {node, NULL, key};
  clua_node_pushuservalue(L, node);
  return protect_operation(L, keep, 2, &data);
}

void clua_node_pushkept(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushuservalue(L, node);
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_pushnil(L);
    return;
  }
  lua_rawgeti(L, -1, key);
  lua_remove(L, -2);
}

void clua_node_forget(lua_State *L, clua_node *node, lua_Integer key) {
  int top = lua_gettop(L);
  clua_node_pushuservalue(L, node);
  // Assigning nil to a key that is there allocates nothing.
  if (lua_type(L, -1) == LUA_TTABLE && lua_rawgeti(L, -1, key) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawseti(L, top + 1, key);
  }
  lua_settop(L, top);
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* (light count, table) -> list */
static int entries(lua_State *L) {
  lua_Integer *count = lua_touserdata(L, 1);
  lua_newtable(L);
  lua_pushnil(L);
  for (*count = 0; clua_next(L, 2); ++*count) {
    lua_rawseti(L, 3, 2 * *count + 2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, 3, 2 * *count + 1);
  }
  return 1;
}

int clua_try_entries(lua_State *L, int index, lua_Integer *count) {
  index = lua_absindex(L, index);
  bool running = lua_gc(L, LUA_GCISRUNNING) == 1;
  if (running) lua_gc(L, LUA_GCSTOP);
  lua_pushlightuserdata(L, count);
  lua_pushvalue(L, index);
  int status = clua_protect(L, entries, 2, 1);
  if (running) lua_gc(L, LUA_GCRESTART);
  return status;
}

/* ---- Journals -------------------------------------------------------------------------------- */

/* Pushes the table of what is kept, made when it isn't there. [-0, +1, m] */
static void pushjournal(lua_State *L, clua_node *node) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  clua_node_setjournal(L, node);
}

/* (operation, value) */
static int journal_keep(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  pushjournal(L, data->node);
  lua_pushvalue(L, 2);
  lua_rawseti(L, 3, data->key);
  return 0;
}

int clua_try_journal_keep(lua_State *L, clua_node *node, lua_Integer key) {
  node_operation data = {node, NULL, key};
  return protect_operation(L, journal_keep, 1, &data);
}

/* (operation, length) */
static int journal_keeplist(lua_State *L) {
  node_operation *data = lua_touserdata(L, 1);
  lua_Integer length = lua_tointeger(L, 2);
  clua_node_pushtable(L, data->node);
  if (lua_type(L, 3) != LUA_TTABLE) return 0;
  lua_createtable(L, length < INT32_MAX ? (int)length : 0, 0);
  for (lua_Integer i = 1; i <= length; i++) {
    lua_pushinteger(L, i);
    clua_rawget(L, 3);
    lua_rawseti(L, 4, i);
  }
  pushjournal(L, data->node);
  lua_pushvalue(L, 4);
  lua_rawseti(L, 5, data->key);
  return 0;
}

int clua_try_journal_keeplist(lua_State *L, clua_node *node, lua_Integer key, lua_Integer length) {
  node_operation data = {node, NULL, key};
  lua_pushinteger(L, length);
  return protect_operation(L, journal_keeplist, 1, &data);
}

void clua_journal_push(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) lua_rawgeti(L, -1, key);
  else lua_pushnil(L);
  lua_remove(L, -2);
}

void clua_journal_forget(lua_State *L, clua_node *node, lua_Integer first, lua_Integer last) {
  clua_node_pushjournal(L, node);
  if (lua_type(L, -1) == LUA_TTABLE) {
    for (lua_Integer key = first; key <= last; key++) {
      // Assigning nil to a key that is there allocates nothing.
      bool kept = lua_rawgeti(L, -1, key) != LUA_TNIL;
      lua_pop(L, 1);
      if (!kept) continue;
      lua_pushnil(L);
      lua_rawseti(L, -2, key);
    }
  }
  lua_pop(L, 1);
}

/* ---- Collections, protected ------------------------------------------------------------------ */

static int constructors(lua_State *L) {
  clua_pushconstructors(L);
  return 3;
}

int clua_try_pushconstructors(lua_State *L) { return clua_protect(L, constructors, 0, 3); }

static int membername(lua_State *L) {
  clua_pushmembername(L);
  return 1;
}

int clua_try_pushmembername(lua_State *L) { return clua_protect(L, membername, 1, 1); }

static int namedmember(lua_State *L) {
  clua_pushnamedmember(L);
  return 1;
}

int clua_try_pushnamedmember(lua_State *L) { return clua_protect(L, namedmember, 1, 1); }

/* ---- Handles --------------------------------------------------------------------------------- */

static const char handle_keys[CLUA_HANDLE_KINDS];

/* The handle of any kind at 1, NULL where there is none. */
static clua_handle *anyhandle(lua_State *L) {
  if (lua_type(L, 1) != LUA_TUSERDATA || !lua_getmetatable(L, 1)) return NULL;
  bool same = false;
  for (int kind = 0; kind < CLUA_HANDLE_KINDS && !same; kind++) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
    same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  bool fits = same && lua_rawlen(L, 1) == sizeof(clua_kindhandle);
  return fits ? &((clua_kindhandle *)lua_touserdata(L, 1))->handle : NULL;
}

static int collect(lua_State *L) {
  // A script may call this itself, with anything.
  clua_handle *handle = anyhandle(L);
  if (handle != NULL && handle->release != NULL) {
    clua_finalizer release = handle->release;
    // A script may use the handle afterwards.
    void *object = handle->object;
    handle->release = NULL;
    handle->object = NULL;
    release(object);
  }
  return 0;
}

static int sethandlekind(lua_State *L) {
  lua_Integer kind = lua_tointeger(L, 2);
  lua_settop(L, 1);
  if (kind != CLUA_HANDLE_WATCHER) {
    // Watchers own nothing: without a finalizer they cost the collector nothing either.
    lua_pushcfunction(L, collect);
    lua_setfield(L, 1, "__gc");
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  return 0;
}

int clua_try_sethandlekind(lua_State *L, clua_handle_kind kind) {
  lua_pushinteger(L, kind);
  return clua_protect(L, sethandlekind, 2, 0);
}

/* Upvalues: the methods, and the function for other keys. (handle, key) */
static int handle_index(lua_State *L) {
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 1;
}

/* (methods, function, kind) */
static int sethandleindex(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[lua_tointeger(L, 3)]);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, handle_index, 2);
  lua_setfield(L, -2, "__index");
  return 0;
}

int clua_try_sethandleindex(lua_State *L, clua_handle_kind kind) {
  lua_pushinteger(L, kind);
  return clua_protect(L, sethandleindex, 3, 0);
}

static void newhandle(lua_State *L, clua_handle_kind kind) {
  clua_kindhandle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
  memset(handle, 0, sizeof *handle);
  handle->kind = kind;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  lua_setmetatable(L, -2);
}

typedef struct handle_source {
  clua_handle_kind kind;
  clua_handle handle;
} handle_source;

static int pushhandle(lua_State *L) {
  const handle_source *source = lua_touserdata(L, 1);
  newhandle(L, source->kind);
  *(clua_handle *)lua_touserdata(L, -1) = source->handle;
  return 1;
}

int clua_try_pushhandle(lua_State *L, clua_handle_kind kind, clua_handle handle) {
  handle_source source = {kind, handle};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, pushhandle, 1, 1);
}

clua_handle *clua_tohandle(lua_State *L, int index, clua_handle_kind kind) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &handle_keys[kind]);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  if (!same || lua_rawlen(L, index) != sizeof(clua_kindhandle)) return NULL;
  clua_kindhandle *held = lua_touserdata(L, index);
  return held->kind == kind ? &held->handle : NULL;
}

/* ---- Registering a watcher ------------------------------------------------------------------- */

/* Keeps the callback, the third argument, as `key` of the node of the first. */
static void keepcallback(lua_State *L, clua_node *node, lua_Integer key) {
  clua_node_pushvalueat(L, 1);
  if (lua_type(L, -1) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -1);
    clua_node_setuservalue(L, node);
  }
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, key);
  lua_pop(L, 1);
}

/* Upvalues: 1 the Swift function, 2 its context, 3 where the next watcher's number is. */
static int observe(lua_State *L) {
  lua_settop(L, 4);
  clua_registration made = {NULL, 0, NULL};
  // Other arguments are Swift's to judge.
  bool plain = lua_type(L, 1) == LUA_TTABLE && lua_type(L, 3) == LUA_TFUNCTION;
  if (plain) {
    made.node = clua_node_at(L, 1);
    if (made.node == NULL) made.node = clua_node_make(L, 1);
  }
  newhandle(L, CLUA_HANDLE_WATCHER);
  made.handle = lua_touserdata(L, -1);
  // Finalizers, which may end watchers, ran before: the number is read last.
  made.key = (lua_Integer)*(const intptr_t *)lua_touserdata(L, lua_upvalueindex(3));
  made.key *= CLUA_KEY_STRIDE;
  if (plain) keepcallback(L, made.node, made.key);
  clua_observe_function function = (clua_observe_function)lua_touserdata(L, lua_upvalueindex(1));
  int results = function(L, lua_touserdata(L, lua_upvalueindex(2)), &made);
  if (results != CLUA_RAISE) return results;
  if (plain) clua_node_forget(L, made.node, made.key);
  return lua_error(L);
}

static int pushobserve(lua_State *L) {
  lua_pushcclosure(L, observe, 3);
  return 1;
}

int clua_try_pushobserve(lua_State *L, clua_observe_function function, void *context,
                         const intptr_t *next) {
  lua_pushlightuserdata(L, (void *)function);
  lua_pushlightuserdata(L, context);
  lua_pushlightuserdata(L, (void *)next);
  return clua_protect(L, pushobserve, 3, 1);
}

/* ---- Tables of the host ---------------------------------------------------------------------- */

/* (light reference, weak?) */
static int maketable(lua_State *L) {
  lua_newtable(L);
  if (lua_toboolean(L, 2)) {
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
  *(int *)lua_touserdata(L, 1) = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

static int try_make(lua_State *L, int *reference, bool weak) {
  lua_pushlightuserdata(L, reference);
  lua_pushboolean(L, weak);
  return clua_protect(L, maketable, 2, 0);
}

int clua_try_maketable(lua_State *L, int *reference) { return try_make(L, reference, false); }

int clua_try_makeweak(lua_State *L, int *reference) { return try_make(L, reference, true); }

void clua_dropreference(lua_State *L, int reference) {
  luaL_unref(L, LUA_REGISTRYINDEX, reference);
}

typedef struct sentinel {
  clua_finalizer function;
  void *context;
} sentinel;

/* Dies with each cycle, and comes back for the next: that takes no memory. */
static int sentinel_collect(lua_State *L) {
  const sentinel *dead = lua_touserdata(L, 1);
  dead->function(dead->context);
  lua_getmetatable(L, 1);
  lua_setmetatable(L, 1);
  return 0;
}

static int watchcollector(lua_State *L) {
  sentinel *first = lua_newuserdatauv(L, sizeof *first, 0);
  *first = *(sentinel *)lua_touserdata(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, sentinel_collect);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return 0;
}

int clua_try_watchcollector(lua_State *L, clua_finalizer function, void *context) {
  sentinel source = {function, context};
  lua_pushlightuserdata(L, &source);
  return clua_protect(L, watchcollector, 1, 0);
}

bool clua_equaltext(const char *a, const char *b) { return strcmp(a, b) == 0; }

int clua_currentfunction(lua_State *L) {
  lua_Debug activation;
  // Level 0 is the C function that asks.
  for (int level = 1; lua_getstack(L, level, &activation); level++) {
    lua_getinfo(L, "lf", &activation);
    if (activation.currentline >= 0) return activation.currentline;
    lua_pop(L, 1);
  }
  return 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

int clua_tracedcall(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, clua_messagehandler);
  lua_insert(L, base);
  int status = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  return status;
}

/// Why what is being called on this thread cannot yield, NULL where nothing forbids it.
static _Thread_local const char *unyielding;
static const char watchers[] = "a watcher cannot yield; start a task (obs.task)";
static const char getters[] =
    "a getter cannot yield: the value of a lazy property is needed at once";

static int yield(lua_State *L) {
  if (unyielding && !lua_isyieldable(L)) return luaL_error(L, "%s", unyielding);
  if (clua_isgetter(L)) return luaL_error(L, "%s", getters);
  return lua_yield(L, lua_gettop(L));
}

static const char foreign[] = "the coroutine of a getter goes on when what it reads is computed";

/* As in the library. Returns the number of results, or -1 with an error on top. */
static int resume_coroutine(lua_State *L, lua_State *thread, int nargs) {
  if (!lua_checkstack(thread, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, thread, nargs);
  int results, status = clua_resume(thread, L, nargs, &results);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(thread, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(thread, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(thread, L, results);
  return results;
}

/* Upvalue: the function of the library. */
static int resume(lua_State *L) {
  lua_State *thread = lua_tothread(L, 1);
  if (!thread) return lua_tocfunction(L, lua_upvalueindex(1))(L);
  int results = -1;
  if (clua_isgetterthread(L, 1)) lua_pushstring(L, foreign);
  else results = resume_coroutine(L, thread, lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  if (results < 0) results = 1;
  lua_insert(L, -(results + 1));
  return results + 1;
}

/* Upvalue: the coroutine. */
static int resume_wrapped(lua_State *L) {
  lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
  int results = resume_coroutine(L, thread, lua_gettop(L));
  if (results >= 0) return results;
  int status = lua_status(thread);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = clua_resetthread(thread, L);
    lua_xmove(thread, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* Upvalue: the function of the library, whose closure has the coroutine. */
static int wrap(lua_State *L) {
  lua_tocfunction(L, lua_upvalueindex(1))(L);
  if (lua_getupvalue(L, -1, 1) && lua_isthread(L, -1)) lua_pushcclosure(L, resume_wrapped, 1);
  return 1;
}

/* Upvalue: the function of the library. */
static int close(lua_State *L) {
  if (clua_isgetterthread(L, 1)) return luaL_error(L, "%s", foreign);
  lua_State *thread = lua_tothread(L, 1);
  lua_Debug activation;
  bool can_close = thread && thread != L &&
                   (lua_status(thread) != LUA_OK || !lua_getstack(thread, 0, &activation));
  if (!can_close) return lua_tocfunction(L, lua_upvalueindex(1))(L);
  bool closed = clua_resetthread(thread, L) == LUA_OK;
  lua_pushboolean(L, closed);
  if (closed) return 1;
  lua_xmove(thread, L, 1);
  return 2;
}

/* Replaces a function of the library on top. [-0, +0, m] */
static void guard(lua_State *L, const char *name, lua_CFunction function) {
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_iscfunction(L, -1)) {
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
  } else {
    lua_pop(L, 1);
  }
}

static int watchyields(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushliteral(L, "coroutine");
  if (lua_rawget(L, -2) != LUA_TTABLE) return 0;
  lua_pushcfunction(L, yield);
  lua_setfield(L, -2, "yield");
  guard(L, "resume", resume);
  guard(L, "wrap", wrap);
  guard(L, "close", close);
  return 0;
}

int clua_try_watchyields(lua_State *L) { return clua_protect(L, watchyields, 0, 0); }

int clua_callplainly(lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int return_all(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return lua_gettop(L);
}

static int call_outer(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, return_all);
  return lua_gettop(L);
}

bool clua_isouter(lua_CFunction function) { return function == call_outer; }

int clua_outer(lua_State *L) {
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TFUNCTION);
  if (!lua_iscfunction(L, 1)) lua_pushcclosure(L, call_outer, 1);
  return 1;
}

int clua_watchercall(lua_State *L, int nargs, int nresults) {
  const char *outer = unyielding;
  unyielding = watchers;
  int status = clua_tracedcall(L, nargs, nresults);
  unyielding = outer;
  return status;
}

int clua_gettercall(lua_State *L, int nargs, int nresults, int handler) {
  const char *outer = unyielding;
  unyielding = getters;
  int status = lua_pcall(L, nargs, nresults, handler);
  unyielding = outer;
  return status;
}

int clua_callkept(lua_State *L, int anchors, int slot, lua_Integer key) {
  int handler = lua_gettop(L) + 1, table = handler + 2;
  lua_pushcfunction(L, clua_messagehandler);
  lua_rawgeti(L, LUA_REGISTRYINDEX, anchors);
  lua_rawgeti(L, -1, slot);
  clua_node_pushvalueat(L, table);
  if (lua_type(L, -1) == LUA_TTABLE) lua_rawgeti(L, -1, key);
  // handler, function, table, nil
  lua_replace(L, table - 1);
  lua_settop(L, table);
  lua_pushnil(L);
  const char *outer = unyielding;
  unyielding = watchers;
  int status = lua_pcall(L, 2, 0, handler);
  unyielding = outer;
  lua_remove(L, handler);
  return status;
}

static bool is_at(lua_State *L, int list, int value, lua_Integer position) {
  lua_pushinteger(L, position);
  clua_rawget(L, list);
  bool same = clua_same(L, -1, value);
  lua_pop(L, 1);
  return same;
}

lua_Integer clua_find(lua_State *L, int list, int value, lua_Integer hint) {
  // Beyond the border, too: where a list has holes the border is anywhere.
  if (is_at(L, list, value, hint)) return hint;
  lua_Integer length = (lua_Integer)clua_rawlen(L, list);
  lua_Integer below = hint <= length ? hint - 1 : length, above = hint + 1;
  while (below >= 1 || above <= length) {
    if (below >= 1 && is_at(L, list, value, below)) return below;
    if (above <= length && is_at(L, list, value, above)) return above;
    below--;
    above++;
  }
  return 0;
}

const char *clua_capturename(lua_State *L, int function, int value) {
  function = lua_absindex(L, function);
  value = lua_absindex(L, value);
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, function, i)) != NULL; i++) {
    bool same = lua_rawequal(L, -1, value);
    lua_pop(L, 1);
    if (same) return name;
  }
  return NULL;
}

int clua_definition(lua_State *L, int index, char *source) {
  lua_Debug definition;
  lua_pushvalue(L, index);
  if (lua_type(L, -1) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return -1;
  }
  lua_getinfo(L, ">S", &definition);
  memcpy(source, definition.short_src, LUA_IDSIZE);
  return definition.linedefined;
}

static int traceback(lua_State *L) {
  luaL_traceback(L, L, NULL, (int)lua_tointeger(L, 1) + 1);
  return 1;
}

int clua_try_traceback(lua_State *L, int level) {
  if (!lua_checkstack(L, 12)) return LUA_ERRMEM;
  lua_pushinteger(L, level);
  return clua_protect(L, traceback, 1, 1);
}
