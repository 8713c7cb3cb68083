#include "clua_calls.h"
#include "clua_coroutines.h"
#include "clua_errors.h"
#include "clua_guard.h"
#include "clua_interruption.h"
#include "clua_lazy.h"

/* ---- Calls that cannot yield ----------------------------------------------------------------- */

/* Why code running on this thread cannot yield; NULL if it can. */
static _Thread_local const char *unyielding;
static const char watchers[] = "a watcher cannot yield; start a task (obs.task)";
static const char getters[] =
    "a getter cannot yield: the value of a lazy property is needed at once";

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
  clua_guard *guard = clua_guard_of(L);
  bool limited = clua_guard_limitmemory(guard);
  int status = clua_guardedcall(L, nargs, nresults, handler);
  clua_guard_lendmemory(guard, limited);
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
  int status = clua_guardedcall(L, 2, 0, handler);
  unyielding = outer;
  lua_remove(L, handler);
  return status;
}

/* ---- The functions of `coroutine` ------------------------------------------------------------ */

/* A coroutine suspended in an `xpcall` remembers the stack position of its message handler. Lua
   before 5.4.8 does not forget it when it closes the coroutine: if a `__close` raises, Lua calls
   whatever value is there. So the coroutine leaves its handler before it is closed: it is resumed,
   and yields again from a protected call without a handler. */
static _Thread_local bool leaves_handler;

static int yield_again(lua_State *L) { return lua_yield(L, 0); }

static int resumed(lua_State *L, int status, lua_KContext context);

/* Out of memory or stack: the coroutine stays suspended as it was, and yields the error. */
static int could_not_leave(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  return lua_yieldk(L, 1, 0, resumed);
}

static int resumed(lua_State *L, int status, lua_KContext context) {
  (void)status, (void)context;
  if (!leaves_handler) return lua_gettop(L);
  lua_pushcfunction(L, yield_again);
  return could_not_leave(L, lua_pcallk(L, 0, 0, 0, 0, could_not_leave), 0);
}

static int yield(lua_State *L) {
  if (unyielding && !lua_isyieldable(L)) return luaL_error(L, "%s", unyielding);
  if (clua_isgetter(L)) return luaL_error(L, "%s", getters);
  return lua_yieldk(L, lua_gettop(L), 0, resumed);
}

static bool is_in_yield(lua_State *thread) {
  lua_Debug activation;
  if (lua_status(thread) != LUA_YIELD || !lua_checkstack(thread, 2)) return false;
  if (!lua_getstack(thread, 0, &activation)) return false;
  lua_getinfo(thread, "f", &activation);
  bool found = lua_tocfunction(thread, -1) == yield;
  lua_pop(thread, 1);
  return found;
}

/* If the coroutine cannot leave its handler, the error is on top of the coroutine. */
static bool leave_handler(lua_State *thread, lua_State *from) {
  if (!is_in_yield(thread)) return true;
  int results = 0;
  leaves_handler = true;
  int status = lua_resume(thread, from, 0, &results);
  leaves_handler = false;
  return status == LUA_YIELD && results == 0;
}

/* Closing a coroutine calls its pending `__close`, which may close the next coroutine. Lua counts
   these calls for each coroutine separately, so its C stack would overflow. */
static _Thread_local int closings;
enum { MOST_CLOSINGS = 150 };

/* Like clua_resetthread. If such calls are nested too deeply, or memory is short, the coroutine
   stays as it is, with an error on top. [-0, +0, -] */
static int reset_coroutine(lua_State *thread, lua_State *from) {
  if (closings == MOST_CLOSINGS) {
    lua_pushliteral(thread, "C stack overflow");
    return LUA_ERRERR;
  }
  if (!leave_handler(thread, from)) return LUA_ERRERR;
  closings++;
  int status = clua_resetthread(thread, from);
  closings--;
  return status;
}

static const char foreign[] =
    "the coroutine of a getter continues when the properties it reads are computed";

/* Resumes like the library. Returns the number of results, or -1 with an error on top. */
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
  if (status != LUA_OK && status != LUA_YIELD && !clua_isstopped(thread)) {
    status = reset_coroutine(thread, L);
    lua_xmove(thread, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* Upvalue: the function of the library, which returns a closure over the coroutine. */
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
  if (clua_isstopped(thread)) {
    lua_pushboolean(L, false);
    lua_pushliteral(L, "the coroutine was stopped");
    return 2;
  }
  bool closed = reset_coroutine(thread, L) == LUA_OK;
  lua_pushboolean(L, closed);
  if (closed) return 1;
  lua_xmove(thread, L, 1);
  return 2;
}

/* Upvalue: the function of the library. A callback caused by other scripts runs on their coroutine,
   but sees the main one: otherwise it could close or resume their coroutine later. */
static int running(lua_State *L) {
  const clua_guard *guard = clua_guard_of(L);
  if (!guard || guard->lent != L) return lua_tocfunction(L, lua_upvalueindex(1))(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_pushboolean(L, true);
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
  guard(L, "running", running);
  return 0;
}

int clua_try_watchyields(lua_State *L) { return clua_protect(L, watchyields, 0, 0); }
