#include "guard.h"

#include "chains.h"
#include "clua_places.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Scripts that are not stopped pay nothing: no hook is set. When their time is up, a signal handler
   sets a hook on the running coroutine, which Lua allows at any moment. The hook raises at the next
   instruction and at each one after it, so code that catches the error does not get far. The hook
   is set on each coroutine that starts to run, until the host has control again.

   Lua disables hooks in some places. If the error came from a hook, the message handler runs
   without hooks, so our `xpcall` skips the handler. In a coroutine that died by such an error they
   remain disabled, so its pending `__close` never run (clua_isstopped). Lua disables them in
   finalizers, so hosts of untrusted scripts reject `__gc`. C functions check the flag themselves
   (clua_poll). */

static const char stop_key;

/* The name of the chunks of the module obs, our own Lua code. */
#define OURS "=obs"

/* ---- Stopping -------------------------------------------------------------------------------- */


void clua_pushstop(lua_State *L) { lua_pushlightuserdata(L, (void *)&stop_key); }

bool clua_isstop(lua_State *L, int index) { return lua_touserdata(L, index) == &stop_key; }

/* Records the place of the innermost function that has one. */
static void note_place(lua_State *L, clua_guard *guard) {
  lua_Debug activation;
  *guard->place = '\0';
  for (int level = 0; level < 50 && lua_getstack(L, level, &activation); level++) {
    lua_getinfo(L, "Sl", &activation);
    if (activation.currentline <= 0 || clua_ismodule(activation.source)) continue;
    snprintf(guard->place, sizeof guard->place, "%s:%d: ", activation.short_src,
             activation.currentline);
    return;
  }
}

/* Marks the scripts of the current account as stopped for the rest of the turn. */
static void spend(clua_account *account) {
  if (account->isspent) return;
  account->isspent = true;
  account->mark = account->used;
}

void clua_guard_noteplace(clua_guard *guard, lua_State *L) {
  if (!guard->stopped || !guard->account || guard->account->isspent) return;
  spend(guard->account);
  note_place(L, guard);
}

/* Whether the innermost Lua function is our own. */
static bool is_called_by_us(lua_State *L) {
  lua_Debug activation;
  for (int level = 0; level < 50 && lua_getstack(L, level, &activation); level++) {
    lua_getinfo(L, "S", &activation);
    if (*activation.what != 'C') return strcmp(activation.source, OURS) == 0;
  }
  return true;
}

int clua_raisestop(lua_State *L) {
  clua_guard *guard = clua_guard_of(L);
  if (!guard->chain.israising) clua_chains_reset(guard);
  if (!guard->stopped && guard->exemption.account && is_called_by_us(L)) return 0;
  if (!guard->account->isspent && !guard->exemption.account) {
    spend(guard->account);
    note_place(L, guard);
  }
  // The error may end an operation that holds the collector.
  if (lua_gc(L, LUA_GCISRUNNING) == 1) lua_gc(L, LUA_GCRESTART);
  clua_pushstop(L);
  return lua_error(L);
}

int clua_pollforscript(lua_State *L) {
  clua_poll(L);
  return 0;
}

/* Our own Lua code is not stopped between two steps: it may finish its work. If that takes more
   than GRACE instructions, it is looping over data made by a script: the error is raised there, and
   the cleanup gets as many instructions again. Code in which the error must not be raised asks for
   SPARE instructions first. */
enum { GRACE = 50000, SPARE = 200 };

void clua_guard_spare(clua_guard *guard) {
  if (guard && guard->grace < SPARE) guard->grace = SPARE;
}

static bool is_ours(lua_State *L, lua_Debug *activation) {
  lua_getinfo(L, "S", activation);
  return strcmp(activation->source, OURS) == 0;
}

static void stop_here(lua_State *L, lua_Debug *activation) {
  clua_guard *guard = clua_guard_of(L);
  clua_chains_reset(guard);
  if (!guard->stopped) {
    // The coroutine was stopped in an earlier turn and now continues.
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  if (is_ours(L, activation)) {
    if (guard->grace-- > 0) return;
    guard->grace = GRACE;
  }
  clua_raisestop(L);
}

/* Marks a coroutine that was stopped; Lua never calls this hook. */
static void died_here(lua_State *L, lua_Debug *activation) { (void)L, (void)activation; }

bool clua_isstopped(lua_State *thread) { return lua_gethook(thread) == died_here; }

static void arm(lua_State *L) { lua_sethook(L, stop_here, LUA_MASKCOUNT, 1); }

/* ---- Scripts called by exempt code ----------------------------------------------------------- */

/* Exempt code may call code of scripts: metamethods, getters, immediate watchers. Once their time
   is up, a hook checks whose code is running: at each instruction of a script, where it raises, and
   only every LOOKS instructions in our own code. */
enum { LOOKS = 1000 };

static void fence_here(lua_State *L, lua_Debug *activation) {
  clua_guard *guard = clua_guard_of(L);
  clua_chains_reset(guard);
  if (!guard->exemption.isfenced) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  bool ours = is_ours(L, activation);
  lua_sethook(L, fence_here, LUA_MASKCOUNT, ours ? LOOKS : 1);
  if (ours) return;
  clua_pushstop(L);
  lua_error(L);
}

/* Called by the signal handler, too. */
void clua_guard_fence(clua_guard *guard) {
  lua_State *L = guard->running;
  guard->exemption.isfenced = true;
  if (L && lua_gethook(L) != fence_here) lua_sethook(L, fence_here, LUA_MASKCOUNT, 1);
}

/* Called by the signal handler, too. */
void clua_guard_stop(clua_guard *guard, clua_stop reason) {
  lua_State *L = guard->running;
  if (!L || guard->stopped) return;
  guard->stopped = guard->reason = reason;
  guard->culprit = guard->account;
  guard->stopturn = guard->turn ? *guard->turn : 0;
  guard->grace = GRACE;
  guard->chain.height = NULL;
  guard->hook = lua_gethook(L);
  guard->mask = lua_gethookmask(L);
  guard->count = lua_gethookcount(L);
  arm(L);
}

void clua_guard_close(clua_guard *guard) { clua_guard_stop(guard, CLUA_STOP_CLOSED); }

void clua_guard_forget(clua_guard *guard, const clua_account *account) {
  if (guard->culprit == account) guard->culprit = NULL;
}

void clua_stopmessage(const clua_guard *guard, char *message) {
  if (guard->reason == CLUA_STOP_TIME) {
    const clua_account *culprit = guard->culprit;
    if (!culprit) {
      snprintf(message, CLUA_STOP_MESSAGE_SIZE, "%sthe turn took longer than its limit",
               guard->place);
      return;
    }
    const char *what = culprit->ofothers ? "a call caused by others" : "the turn";
    snprintf(message, CLUA_STOP_MESSAGE_SIZE, "%s%s took longer than its limit (%g ms)",
             guard->place, what, (double)culprit->limit / 1e6);
  } else if (guard->reason == CLUA_STOP_UNTIMED) {
    snprintf(message, CLUA_STOP_MESSAGE_SIZE,
             "%sthe system refused the timer that limits the time of the turn: %s%s", guard->place,
             strerror(guard->refusal), guard->refusal == EAGAIN ? " (EAGAIN)" : "");
  } else if (guard->reason == CLUA_STOP_CLOSED) {
    snprintf(message, CLUA_STOP_MESSAGE_SIZE, "%sthe script was closed", guard->place);
  } else {
    snprintf(message, CLUA_STOP_MESSAGE_SIZE, "%sinterrupted by the program", guard->place);
  }
}

/* ---- Calls of the host ----------------------------------------------------------------------- */

uint64_t clua_guard_due(const clua_guard *guard) {
  const clua_account *account = guard->account;
  if (!guard->isengine) return account->limit;
  return (account->isspent ? account->mark : account->limit) + CLUA_ENGINE_GRACE;
}

/* Starts a new turn for an account, unless its turn is still the current one. Called before ticks
   count for the account: otherwise they would stop the new turn for the time of the last one. */
static void open_account(const clua_guard *guard, clua_account *account) {
  uint64_t turn = guard->turn ? *guard->turn : 0;
  if (turn != 0 && turn == account->window) return;
  account->window = turn;
  account->used = 0;
  account->isfresh = true;
  account->isspent = account->isreported = false;
  atomic_signal_fence(memory_order_seq_cst);
}

/* Once the scripts of the current account were stopped, further calls in the same turn are stopped
   at once, except the engine's work. */
static void stop_where_spent(clua_guard *guard) {
  const clua_account *account = guard->account;
  if (!account->isspent) return;
  if (!guard->isengine || account->used >= clua_guard_due(guard))
    clua_guard_stop(guard, CLUA_STOP_TIME);
}

/* Keeps ticks from stopping the scripts that were running, until other scripts run or these
   continue: code of another account never sees their stop. Returns their account. */
static clua_account *leave_account(clua_guard *guard) {
  clua_account *account = guard->account;
  guard->account = &guard->own;  // it has no limit
  atomic_signal_fence(memory_order_seq_cst);
  return account;
}

/* Called when the scripts of an account have returned to the host or to another account's scripts;
   ticks no longer count for them. */
static void end_stop(clua_guard *guard, clua_account *account, lua_State *L) {
  clua_chains_reset(guard);
  if (!guard->stopped) return;
  guard->stopped = CLUA_STOP_NONE;
  // The signal may have arrived after the last instruction, so no place is known.
  if (!account->isspent) *guard->place = '\0';
  spend(account);
  if (lua_gethook(L) != stop_here) return;
  bool is_other = guard->hook && guard->hook != stop_here;
  lua_sethook(L, is_other ? guard->hook : NULL, is_other ? guard->mask : 0, guard->count);
}

void clua_guard_begin(clua_guard *guard, lua_State *L) {
  if (!guard->account) guard->account = &guard->own;
  __atomic_store_n(&guard->asked, 0, __ATOMIC_RELAXED);
  guard->running = L;
  open_account(guard, guard->account);
  clua_clock_add(guard);
  stop_where_spent(guard);
}

void clua_guard_end(clua_guard *guard, lua_State *L) {
  clua_clock_remove(guard);
  end_stop(guard, guard->account, L);
  guard->isengine = false;
  guard->running = NULL;
}

/* Makes new allocations belong to an account. */
static void use_share(clua_guard *guard, const clua_account *account) {
  clua_allocator *memory = guard->memory;
  if (memory) memory->current = account && account->share ? account->share : &memory->main;
}

clua_account *clua_guard_switch(clua_guard *guard, clua_account *account) {
  clua_account *outer = guard->account;
  if (guard->depth > 0) open_account(guard, account);
  guard->account = account;
  use_share(guard, account);
  if (guard->depth > 0) {
    clua_clock_change(guard);
    stop_where_spent(guard);
  }
  return outer;
}

void clua_guard_restore(clua_guard *guard, clua_account *account, lua_State *L) {
  clua_account *left = leave_account(guard);
  if (guard->depth > 0) end_stop(guard, left, L);
  guard->account = account;
  use_share(guard, account);
  // If the scripts that ran have no limit, the timer may not be armed.
  if (guard->depth > 0) clua_clock_change(guard);
}

clua_caller clua_guard_suspend(clua_guard *guard) {
  clua_caller caller = {.exemption = guard->exemption};
  // The exemption must end before its account does, which has no limit.
  guard->exemption = (clua_exemption){0};
  lua_State *L = guard->running;
  bool is_running = guard->depth > 0 && L;
  if (is_running) clua_guard_noteplace(guard, L);
  caller.account = leave_account(guard);
  if (!is_running || !guard->stopped) return caller;
  caller.stopped = guard->stopped;
  end_stop(guard, caller.account, L);
  return caller;
}

void clua_guard_goon(clua_guard *guard, const clua_caller *caller, lua_State *L) {
  clua_guard_restore(guard, caller->account, L);
  if (caller->exemption.account) {
    use_share(guard, caller->exemption.account);
    guard->exemption = caller->exemption;
    if (guard->depth > 0) clua_clock_change(guard);
    if (caller->exemption.isfenced) clua_guard_fence(guard);
  }
  if (caller->stopped && guard->depth > 0) clua_guard_stop(guard, (clua_stop)caller->stopped);
}

void clua_guard_usememory(clua_guard *guard, clua_allocator *allocator) {
  guard->memory = allocator;
}

int clua_guard_exempt(clua_guard *guard, clua_account *exempt, clua_account **outer) {
  *outer = guard->account;
  if (!guard->exemption.account) {
    guard->exemption.counts = guard->depth > 0;
    guard->exemption.time = 0;
    guard->exemption.account = guard->account;
  }
  atomic_signal_fence(memory_order_seq_cst);
  int stopped = guard->stopped;
  if (guard->depth > 0 && guard->running) end_stop(guard, *outer, guard->running);
  clua_guard_switch(guard, exempt);
  // Its allocations still belong to the scripts.
  use_share(guard, guard->exemption.account);
  // Scripts whose time was already up get no more here.
  if (guard->exemption.account->isspent && stopped) clua_guard_fence(guard);
  return stopped;
}

void clua_guard_resume(clua_guard *guard, clua_account *outer, int stopped) {
  guard->account = outer;
  use_share(guard, guard->exemption.account ? guard->exemption.account : outer);
  if (guard->exemption.account == outer) {
    guard->exemption.account = NULL;
    guard->exemption.isfenced = false;
    lua_State *L = guard->running;
    if (L && lua_gethook(L) == fence_here) lua_sethook(L, NULL, 0, 0);
  }
  if (guard->depth == 0) return;
  clua_clock_change(guard);
  bool is_late = outer->limit && outer->used >= clua_guard_due(guard);
  if (!stopped && is_late && !guard->exemption.account) stopped = CLUA_STOP_TIME;
  if (stopped) clua_guard_stop(guard, (clua_stop)stopped);
}

/* ---- Coroutines ------------------------------------------------------------------------------ */

/* Sets the hook that stops scripts, if they have to stop. */
static void arm_where_due(clua_guard *guard, lua_State *L) {
  if (guard->stopped) arm(L);
  else if (guard->exemption.isfenced) clua_guard_fence(guard);
}

lua_State *clua_guard_entering(clua_guard *guard, lua_State *thread) {
  lua_State *outer = guard->running;
  clua_chains_reset(guard);
  guard->running = thread;
  arm_where_due(guard, thread);
  return outer;
}

void clua_guard_left(clua_guard *guard, lua_State *outer, lua_State *thread, lua_State *from,
                     bool failed) {
  clua_chains_reset(guard);
  guard->running = outer;
  if (!guard->stopped && !guard->exemption.isfenced) return;
  if (failed) lua_sethook(thread, died_here, LUA_MASKCOUNT, 1 << 30);
  if (!guard->stopped) clua_guard_fence(guard);
  else if (from) arm(from);
}

/* ---- Collections ----------------------------------------------------------------------------- */

static void collect_here(lua_State *L, lua_Debug *activation) {
  (void)activation;
  lua_sethook(L, NULL, 0, 0);
  arm_where_due(clua_guard_of(L), L);
  lua_gc(L, LUA_GCCOLLECT);
}

/* A signal may arrive at any point here; its hook stays. */
void clua_guard_collect(clua_guard *guard) {
  lua_State *L = guard ? guard->running : NULL;
  if (!L || lua_gethook(L)) return;
  lua_sethook(L, collect_here, LUA_MASKCOUNT, 1);
  arm_where_due(guard, L);
}

/* ---- Functions of the base library ----------------------------------------------------------- */

/* Upvalue: the message handler of the script. */
static int handle(lua_State *L) {
  const clua_guard *guard = clua_guard_of(L);
  if (guard && (guard->stopped || guard->exemption.isfenced)) return 1;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static int finish(lua_State *L, int status, lua_KContext dropped) {
  if (status == LUA_OK || status == LUA_YIELD) return lua_gettop(L) - (int)dropped;
  lua_pushboolean(L, false);
  lua_insert(L, -2);
  return 2;
}

/* xpcall(f, handler, …), except that handlers do not see the error that stops scripts. */
static int call_handled(lua_State *L) {
  int count = lua_gettop(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, handle, 1);
  lua_replace(L, 2);
  // function, handler, true, function, arguments
  lua_pushboolean(L, true);
  lua_pushvalue(L, 1);
  lua_rotate(L, 3, 2);
  return finish(L, lua_pcallk(L, count - 2, LUA_MULTRET, 2, 2, finish), 2);
}

/* load(chunk, name, …), except that it rejects the name reserved for our own code. Upvalue: the
   library's function. */
static int load(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (clua_ismodule(name)) return luaL_argerror(L, 2, "the name is reserved");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Replaces a function of the table on top. [-0, +0, m] */
static void replace(lua_State *L, const char *name, lua_CFunction function) {
  lua_pushstring(L, name);
  lua_pushvalue(L, -1);
  if (lua_rawget(L, -3) == LUA_TFUNCTION) {
    lua_pushcclosure(L, function, 1);
    lua_rawset(L, -3);
  } else {
    lua_pop(L, 2);
  }
}

static int install(lua_State *L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  replace(L, "xpcall", call_handled);
  replace(L, "load", load);
  return 0;
}

int clua_try_guard_install(lua_State *L) { return clua_protect(L, install, 0, 0); }
