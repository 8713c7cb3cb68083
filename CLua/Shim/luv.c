#include "clua_luv.h"

#include <dlfcn.h>

#include "clua_calls.h"
#include "clua_errors.h"
#include "clua_places.h"
#include "private.h"

/* Functions of luv, declared in luv.h. */
typedef int (*luv_callback)(lua_State *L, int nargs, int nresults, int flags);
typedef void (*luv_set_callback)(lua_State *L, luv_callback call);
typedef void *(*luv_loop)(lua_State *L);
typedef void (*luv_set_loop)(lua_State *L, void *loop);

static const char reporter_key;
static _Thread_local unsigned long call_count;

static _Thread_local bool is_silent;

unsigned long clua_luvcalls(void) { return call_count; }

void clua_silenceluv(bool silent) { is_silent = silent; }

/* Pushes the place where the function at `index` is defined. [-0, +1, m] */
static void push_definition(lua_State *L, int index) {
  char source[LUA_IDSIZE];
  int line = lua_isfunction(L, index) ? clua_definition(L, index, source) : -1;
  if (line < 0) lua_pushliteral(L, "");
  else lua_pushfstring(L, "%s:%d", source, line);
}

/* (error, callback) */
static int report(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &reporter_key) == LUA_TNIL) return 0;
  lua_pushvalue(L, 1);
  push_definition(L, 2);
  lua_call(L, 2, 0);
  return 0;
}

/* Like luv's own function, but an error does not end the process: returns the number of results, or
   a negative number after an error. */
static int call(lua_State *L, int nargs, int nresults, int flags) {
  (void)flags;
  call_count++;
  int base = lua_gettop(L) - nargs;
  if (is_silent) {
    lua_settop(L, base - 1);
    return 0;
  }
  if (!lua_checkstack(L, 12)) {
    lua_settop(L, base - 1);
    return -LUA_ERRMEM;
  }
  // The callback is kept below its call, for the report of an error.
  lua_pushvalue(L, base);
  lua_insert(L, base);
  int status = clua_tracedcall(L, nargs, nresults);
  if (status == LUA_OK) {
    lua_remove(L, base);
    return lua_gettop(L) - base + 1;
  }
  lua_insert(L, base);
  lua_pushcfunction(L, report);
  lua_insert(L, base);
  // There is no further receiver for an error of the reporter.
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
  return -status;
}

/* Sets `*function` to a function of the module's library, or of the program without a library. */
static bool find(void *library, const char *name, void *function) {
  void *found = dlsym(library ? library : RTLD_DEFAULT, name);
  if (found) *(void **)function = found;
  return found != NULL;
}

static void join(lua_State *L, void *library) {
  luv_set_callback set_callback;
  luv_loop loop;
  luv_set_loop set_loop;
  if (!find(library, "luv_set_callback", &set_callback)) return;
  if (!find(library, "luv_loop", &loop) || !find(library, "luv_set_loop", &set_loop)) return;
  // Callbacks would run in the coroutine that loaded the module, which may end.
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  lua_State *main = lua_tothread(L, -1);
  lua_pop(L, 1);
  set_loop(main, loop(L));
  set_callback(main, call);
}

/* (function, reporter) */
static int join_module(lua_State *L) {
  lua_pushvalue(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &reporter_key);
  lua_CFunction function = lua_tocfunction(L, 1);
  Dl_info info;
  if (!function || !dladdr(*(void **)&function, &info)) return 0;
  void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  join(L, library);
  if (library) dlclose(library);
  return 0;
}

int clua_try_joinluv(lua_State *L, int function, int reporter) {
  lua_pushvalue(L, function);
  lua_pushvalue(L, reporter < 0 ? reporter - 1 : reporter);
  return clua_protect(L, join_module, 2, 0);
}

static int leave(lua_State *L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &reporter_key);
  return 0;
}

int clua_try_leaveluv(lua_State *L) { return clua_protect(L, leave, 0, 0); }
