/// The guard of a state: knows the running coroutine, counts the time that scripts use, and stops
/// them.
#ifndef CLUA_GUARD_H
#define CLUA_GUARD_H

#include "clua.h"
#include "clua_allocator.h"

/// Why scripts are stopped.
typedef enum clua_stop {
  CLUA_STOP_NONE,
  CLUA_STOP_TIME,         // their turn has taken its full time
  CLUA_STOP_INTERRUPTED,  // the program has asked for it
  CLUA_STOP_UNTIMED,      // the system has refused the timer that would limit their time
  CLUA_STOP_CLOSED,       // their host or sandbox was closed by a function that they called
} clua_stop;

enum { CLUA_PLACE_SIZE = LUA_IDSIZE + 24 };

/// The time that some scripts of a state may take, and the time they have taken.
typedef struct clua_account {
  /// Nanoseconds of CPU time per turn; 0 for no limit.
  uint64_t limit;
  /// The largest size of a chunk of text, in bytes; 0 for no limit.
  size_t chunksize;
  /// How deeply calls of scripts may nest; 0 for no limit.
  int calldepth;
  /// The share to which allocations of the scripts belong; NULL for the host's.
  clua_share *share;
  /// Whether it is the account of calls caused by others.
  bool ofothers;
  /// The number of the sandbox; 0 for the host.
  uint32_t sandbox;

  // The rest is private to the guard.
  uint64_t window;  // the turn that `used` belongs to
  uint64_t used;    // nanoseconds
  bool isfresh;     // no tick has come since the window began
  bool isspent;     // the scripts were stopped in this window
  bool isreported;  // the stop was reported
  uint64_t mark;    // the time used when they were stopped
} clua_account;

/// The nanoseconds per turn in which the engine may still finish its work for stopped scripts:
/// watchers re-wire to objects that replaced others just before.
enum { CLUA_ENGINE_GRACE = 5 * 1000 * 1000 };

/// A chain of `__call` that may be running: see chains.c.
typedef struct clua_chain {
  char *volatile height;       // the top of the stack at the first tick since an instruction
  char *base, *last;           // and its bounds
  lua_State *volatile thread;  // the thread whose limit was changed, or NULL
  size_t refused;              // the size of the stack that was refused
  bool israising;              // the error that leaves the chain is being raised
} clua_chain;

/// Code that is not stopped while it runs.
typedef struct clua_exemption {
  clua_account *volatile account;  // of the scripts for which it runs; NULL without an exemption
  bool counts;                     // whether its time counts for the account
  uint64_t time;                   // nanoseconds it has taken
  volatile bool isfenced;          // scripts that it calls are stopped all the same
} clua_exemption;

struct clua_guard {
  /// The running coroutine; NULL while no call of the host is active.
  lua_State *volatile running;
  /// The coroutine of other scripts on which a call that they have caused runs, or NULL.
  lua_State *lent;
  /// The number of nested calls of the host.
  int depth;
  /// Why the running code is stopped, until the host has control again: a `clua_stop`.
  volatile int stopped;
  /// The account of the running scripts.
  clua_account *volatile account;
  /// The number of the loop's current turn; NULL if each call is a turn.
  const uint64_t *turn;
  /// The memory of the state; NULL if it is never limited.
  clua_allocator *memory;

  // The rest is private to the guard.
  clua_account own;             // the account of scripts without another account
  clua_account *culprit;        // the account of the scripts that were stopped last, or NULL
  int reason;                   // why they were stopped
  uint64_t stopturn;            // the turn in which they were stopped
  int refusal;                  // the system's error number, if it refused a timer
  bool isengine;                // the running code is the engine's work: see CLUA_ENGINE_GRACE
  int grace;                    // how many instructions our own code may still take
  clua_exemption exemption;
  int thread;                   // the thread that runs it, for signals
  int asked;                    // another thread asks for an end
  clua_guard *outer;            // the guard that was active before on this thread
  clua_chain chain;
  lua_Hook hook;                // the earlier hook of the stopped coroutine
  int mask, count;
  char place[CLUA_PLACE_SIZE];  // "file:line: " where scripts were stopped
};

/// The guard of a state; NULL for one that has none.
static inline clua_guard *clua_guard_of(lua_State *L) { return clua_home_of(L)->guard; }

/// Whether the scripts of the current account have to stop, or were stopped in this turn.
static inline bool clua_isstopping(const clua_guard *guard) {
  if (guard->stopped) return true;
  const clua_account *account = guard->account;
  return account && account->isspent && guard->turn && account->window == *guard->turn;
}

/// Whether any scripts were stopped in this turn.
static inline bool clua_hasstopped(const clua_guard *guard) {
  return guard->turn && *guard->turn && guard->stopturn == *guard->turn;
}

/// A pointer to `stopped` for Swift, which has no volatile numbers.
static inline const int *clua_guard_stopflag(const clua_guard *guard) {
  return (const int *)&guard->stopped;
}

/// Whether the engine has to abandon its work for the scripts of the current account.
static inline bool clua_isenginestopping(const clua_guard *guard) {
  if (guard->stopped) return true;
  const clua_account *account = guard->account;
  return clua_isstopping(guard) && account->used >= account->mark + CLUA_ENGINE_GRACE;
}

/* ---- For loops in C ------------------------------------------------------------------------- */

/// Raises the error that stops scripts. Returns if the running code is exempt and the function was
/// not called by a script. [-0, +0, e]
int clua_raisestop(lua_State *L);
/// Raises if scripts have to stop. C code that may loop for long calls this at least once per
/// millisecond; it costs a branch. [-0, +0, e]
static inline void clua_poll(lua_State *L) {
  const clua_guard *guard = clua_guard_of(L);
  bool isdue = guard && (guard->stopped || guard->exemption.isfenced);
  if (__builtin_expect(isdue, 0)) clua_raisestop(L);
}

/// Counts the steps of a loop, and checks now and then whether scripts have to stop.
typedef struct clua_steps {
  lua_State *L;
  unsigned count;
} clua_steps;

enum { CLUA_STEPS = 4096 };

static inline void clua_step(clua_steps *steps) {
  if (++steps->count < CLUA_STEPS) return;
  steps->count = 0;
  clua_poll(steps->L);
}

/// A function for scripts: clua_poll. () -> ()
int clua_pollforscript(lua_State *L);

/* ---- Calls ----------------------------------------------------------------------------------- */

/// Begin and end the host's outermost call on this thread.
void clua_guard_begin(clua_guard *guard, lua_State *L);
void clua_guard_end(clua_guard *guard, lua_State *L);

static inline void clua_enter(clua_guard *guard, lua_State *L) {
  if (guard && guard->depth++ == 0) clua_guard_begin(guard, L);
}
static inline void clua_leave(clua_guard *guard, lua_State *L) {
  if (guard && --guard->depth == 0) clua_guard_end(guard, L);
}
/// The work up to clua_leave is the engine's, unless a script has called for it.
static inline void clua_enterengine(clua_guard *guard, lua_State *L) {
  if (guard && guard->depth == 0) guard->isengine = true;
  clua_enter(guard, L);
}
/// Like lua_pcall, for our own C code.
static inline int clua_enginecall(lua_State *L, int nargs, int nresults, int handler) {
  clua_guard *guard = clua_guard_of(L);
  clua_enterengine(guard, L);
  int status = lua_pcallk(L, nargs, nresults, handler, 0, NULL);
  clua_leave(guard, L);
  return status;
}
/// Like lua_pcall, for calls by the host: every call of code that may be a script's uses this.
static inline int clua_guardedcall(lua_State *L, int nargs, int nresults, int handler) {
  clua_guard *guard = clua_guard_of(L);
  clua_enter(guard, L);
  int status = lua_pcallk(L, nargs, nresults, handler, 0, NULL);
  clua_leave(guard, L);
  return status;
}

/// Scripts of another account run until clua_guard_restore, which takes the returned account. A
/// stop of these scripts ends there.
clua_account *clua_guard_switch(clua_guard *guard, clua_account *account);
void clua_guard_restore(clua_guard *guard, clua_account *account, lua_State *L);

/// The suspended code that has caused a call on another account.
typedef struct clua_caller {
  clua_account *account;
  int stopped;               // why it has to stop
  clua_exemption exemption;  // or why it is exempt
} clua_caller;

/// Suspends the running code until `clua_guard_goon`. Calls on another account have only its
/// limits: the caller's stop and exemption do not apply to them. [-0, +0, -]
clua_caller clua_guard_suspend(clua_guard *guard);
/// Lets the caller continue on its account. [-0, +0, -]
void clua_guard_goon(clua_guard *guard, const clua_caller *caller, lua_State *L);

/// Exempts the code up to `clua_guard_resume`: it is not stopped, even if scripts were, and it runs
/// on the account `exempt`, which has no limit. Within a call of a script its time counts for the
/// script, which is stopped afterwards. Scripts that it calls are stopped when their time is up.
/// Returns the stop to resume. [-0, +0, -]
int clua_guard_exempt(clua_guard *guard, clua_account *exempt, clua_account **outer);
void clua_guard_resume(clua_guard *guard, clua_account *outer, int stopped);

/// Makes `allocator` the memory of the scripts. [-0, +0, -]
void clua_guard_usememory(clua_guard *guard, clua_allocator *allocator);
/// Applies the limits of memory to scripts that exempt code calls, until clua_guard_lendmemory,
/// which takes the result. [-0, +0, -]
static inline bool clua_guard_limitmemory(clua_guard *guard) {
  if (!guard || !guard->memory || !guard->memory->isunlimited) return false;
  guard->memory->isunlimited = false;
  return true;
}
static inline void clua_guard_lendmemory(clua_guard *guard, bool limited) {
  if (limited) guard->memory->isunlimited = true;
}
/// The reverse: code that must not fail is refused no memory until clua_guard_limitmemory, which is
/// called if this returns true. [-0, +0, -]
static inline bool clua_guard_freememory(clua_guard *guard) {
  if (!guard || !guard->memory || guard->memory->isunlimited) return false;
  guard->memory->isunlimited = true;
  return true;
}

/// Makes Lua collect garbage before the next instruction of the running code. [-0, +0, -]
void clua_guard_collect(clua_guard *guard);

/// Called by our own Lua code before a step that must run to its end. [-0, +0, -]
void clua_guard_spare(clua_guard *guard);

/// `thread` is about to run, resumed by `from`. Returns the previous thread, for clua_guard_left.
lua_State *clua_guard_entering(clua_guard *guard, lua_State *thread);
/// `thread` has ceased to run; `failed` if by an error.
void clua_guard_left(clua_guard *guard, lua_State *outer, lua_State *thread, lua_State *from,
                     bool failed);
/// Whether a coroutine was stopped: Lua runs none of its hooks any more, so none of its code may
/// run, including pending `__close`.
bool clua_isstopped(lua_State *thread);

/* ---- For the host ---------------------------------------------------------------------------- */

/// Pushes the error that stops scripts. [-0, +1, -]
void clua_pushstop(lua_State *L);
/// Whether the value is the error that stops scripts. [-0, +0, -]
bool clua_isstop(lua_State *L, int index);
enum { CLUA_STOP_MESSAGE_SIZE = CLUA_PLACE_SIZE + 100 };
/// Writes why and where scripts were last stopped into `message`, which has room for
/// CLUA_STOP_MESSAGE_SIZE characters.
void clua_stopmessage(const clua_guard *guard, char *message);
/// Records the place of scripts that have to stop, if the host's code notices it first. [-0, +0, -]
void clua_guard_noteplace(clua_guard *guard, lua_State *L);
/// Stops the running code; called from any thread. Does nothing if no call is active.
void clua_guard_interrupt(clua_guard *guard);
/// Stops the running code, whose host or sandbox is closed. Does nothing if no call is active.
void clua_guard_close(clua_guard *guard);
/// Forgets an account that is about to be freed.
void clua_guard_forget(clua_guard *guard, const clua_account *account);
/// Whether the running code is stopped because it is closed.
static inline bool clua_guard_isclosing(const clua_guard *guard) {
  return guard->stopped == CLUA_STOP_CLOSED;
}
/// Whether this system can limit time.
bool clua_guard_canlimit(void);
/// The signal by which timers reach a thread, initially SIGURG. Set it before any call.
void clua_guard_setsignal(int number);
int clua_guard_signal(void);

/// Replaces functions of the base library that would let a stopped script continue. [-0, +(0|1), -]
int clua_try_guard_install(lua_State *L);

#endif
