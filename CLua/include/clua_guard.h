/// The guard of a state: it knows which coroutine runs, counts the time that scripts use, and stops
/// them.
#ifndef CLUA_GUARD_H
#define CLUA_GUARD_H

#include "clua.h"
#include "clua_allocator.h"

/// Why scripts are stopped.
typedef enum clua_stop {
  CLUA_STOP_NONE,
  CLUA_STOP_TIME,         // their turn has taken as much time as it may
  CLUA_STOP_INTERRUPTED,  // the program has asked for it
  CLUA_STOP_UNTIMED,      // the system has refused the timer that would limit their time
} clua_stop;

enum { CLUA_PLACE_SIZE = LUA_IDSIZE + 24 };

/// The time that some scripts of a state may take, and have taken.
typedef struct clua_account {
  /// Nanoseconds of CPU time in a turn; 0 for any.
  uint64_t limit;
  /// Bytes that a chunk of text may have; 0 for any.
  size_t chunksize;
  /// How many calls of scripts may be under way, one inside of the other; 0 for any number.
  int calldepth;
  /// The memory to which allocations of the scripts belong; NULL for that of the host.
  clua_share *share;
  /// Whether it is the account of calls that others have caused.
  bool ofothers;

  // What follows is the guard's own.
  uint64_t window;  // the turn that `used` belongs to
  uint64_t used;    // nanoseconds
  bool isfresh;     // no tick has come since the window began
  bool isspent;     // the scripts were stopped in this window
  bool isreported;  // and that was reported
  uint64_t mark;    // what was used when they were stopped
} clua_account;

/// The nanoseconds in which the engine may still do in a turn what belongs to scripts that were
/// stopped: watchers follow objects that were replaced just before.
enum { CLUA_ENGINE_GRACE = 5 * 1000 * 1000 };

/// A chain of `__call` that may be running: see chains.c.
typedef struct clua_chain {
  char *volatile height;       // the top of the stack at the last tick since an instruction
  char *base, *last;           // and its bounds
  lua_State *volatile thread;  // the one whose bound was taken away, or NULL
  size_t refused;              // the size of the stack that was refused
  bool israising;              // the error that leaves the chain is raised
} clua_chain;

/// Code that is not stopped while it runs.
typedef struct clua_exemption {
  clua_account *volatile account;  // that of the scripts for which it runs; NULL where none does
  bool counts;                     // whether its time counts for the account
  uint64_t time;                   // nanoseconds that it has taken
  volatile bool isfenced;          // those scripts are stopped all the same where it calls them
} clua_exemption;

struct clua_guard {
  /// The coroutine that runs; NULL where no call of the host is under way.
  lua_State *volatile running;
  /// The coroutine of other scripts on which a call that they have caused runs; NULL where there is
  /// none.
  lua_State *lent;
  /// The calls of the host that are under way, one inside the other.
  int depth;
  /// Why the code that runs is stopped, until the host has control again: a `clua_stop`.
  volatile int stopped;
  /// The account of the scripts that run now.
  clua_account *volatile account;
  /// The number of the turn that the loop is in; NULL where each call is a turn.
  const uint64_t *turn;
  /// The memory of the state; NULL where that is never limited.
  clua_allocator *memory;

  // What follows is the guard's own.
  clua_account own;             // the account of scripts that have no other
  clua_account *culprit;        // the account of the scripts that were stopped last
  int reason;                   // why they were stopped
  uint64_t stopturn;            // the turn in which that was
  int refusal;                  // the number of the system's error, where it refused a timer
  bool isengine;                // what runs was not called for a script: see CLUA_ENGINE_GRACE
  int grace;                    // how many instructions our own code may still take
  clua_exemption exemption;
  int thread;                   // the thread that runs it, for signals
  int asked;                    // another thread asks for an end
  clua_guard *outer;            // the one that was active before on this thread
  clua_chain chain;
  lua_Hook hook;                // what the hook of the stopped coroutine was
  int mask, count;
  char place[CLUA_PLACE_SIZE];  // "file:line: " where scripts were stopped
};

/// The guard of a state; NULL for one that has none.
static inline clua_guard *clua_guard_of(lua_State *L) { return clua_home_of(L)->guard; }

/// Whether the scripts of the present account are to stop, or were stopped in this turn.
static inline bool clua_isstopping(const clua_guard *guard) {
  if (guard->stopped) return true;
  const clua_account *account = guard->account;
  return account && account->isspent && guard->turn && account->window == *guard->turn;
}

/// Whether any scripts were stopped in this turn.
static inline bool clua_hasstopped(const clua_guard *guard) {
  return guard->turn && *guard->turn && guard->stopturn == *guard->turn;
}

/// Points to `stopped`, for Swift, which has no volatile numbers.
static inline const int *clua_guard_stopflag(const clua_guard *guard) {
  return (const int *)&guard->stopped;
}

/// Whether the engine is to give up what it does for the scripts of the present account.
static inline bool clua_isenginestopping(const clua_guard *guard) {
  if (guard->stopped) return true;
  const clua_account *account = guard->account;
  return clua_isstopping(guard) && account->used >= account->mark + CLUA_ENGINE_GRACE;
}

/* ---- For loops in C ------------------------------------------------------------------------- */

/// Raises the error that stops scripts. Returns where only those are stopped which are called by
/// code that is not, and none of them has called the function that runs. [-0, +0, e]
int clua_raisestop(lua_State *L);
/// Raises where scripts are to stop. Code that may loop for long, in C, calls it once per
/// millisecond at the least; it costs a branch. [-0, +0, e]
static inline void clua_poll(lua_State *L) {
  const clua_guard *guard = clua_guard_of(L);
  bool isdue = guard && (guard->stopped || guard->exemption.isfenced);
  if (__builtin_expect(isdue, 0)) clua_raisestop(L);
}

/// Counts the steps of a loop, and looks now and then whether scripts are to stop.
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

/// The thread's own; begins or ends the outermost call of a host.
void clua_guard_begin(clua_guard *guard, lua_State *L);
void clua_guard_end(clua_guard *guard, lua_State *L);

static inline void clua_enter(clua_guard *guard, lua_State *L) {
  if (guard && guard->depth++ == 0) clua_guard_begin(guard, L);
}
static inline void clua_leave(clua_guard *guard, lua_State *L) {
  if (guard && --guard->depth == 0) clua_guard_end(guard, L);
}
/// What follows until clua_leave is the engine's work, unless a script has called for it.
static inline void clua_enterengine(clua_guard *guard, lua_State *L) {
  if (guard && guard->depth == 0) guard->isengine = true;
  clua_enter(guard, L);
}
/// As lua_pcall, for code of ours in C.
static inline int clua_enginecall(lua_State *L, int nargs, int nresults, int handler) {
  clua_guard *guard = clua_guard_of(L);
  clua_enterengine(guard, L);
  int status = lua_pcallk(L, nargs, nresults, handler, 0, NULL);
  clua_leave(guard, L);
  return status;
}
/// As lua_pcall, by the host: all calls of code that may be a script's go through this.
static inline int clua_guardedcall(lua_State *L, int nargs, int nresults, int handler) {
  clua_guard *guard = clua_guard_of(L);
  clua_enter(guard, L);
  int status = lua_pcallk(L, nargs, nresults, handler, 0, NULL);
  clua_leave(guard, L);
  return status;
}

/// Scripts of another account run until clua_guard_restore, which takes what this returns: if they
/// are stopped, that ends there.
clua_account *clua_guard_switch(clua_guard *guard, clua_account *account);
void clua_guard_restore(clua_guard *guard, clua_account *account, lua_State *L);

/// Code that has caused a call on another account.
typedef struct clua_caller {
  clua_account *account;
  int stopped;               // why it is to stop
  clua_exemption exemption;  // or why it is not
} clua_caller;

/// Suspends the code that runs until `clua_guard_goon`: calls on another account are limited by
/// that alone, neither stopped nor exempt with the caller. [-0, +0, -]
clua_caller clua_guard_suspend(clua_guard *guard);
/// Lets the caller go on, on its account. [-0, +0, -]
void clua_guard_goon(clua_guard *guard, const clua_caller *caller, lua_State *L);

/// What runs from now on, up to `clua_guard_resume`, is not stopped, also where scripts were: it
/// runs on the account `exempt`, which has no limit. Within a call of a script its time counts for
/// that, which is stopped afterwards. Code of scripts that it calls is stopped when the time of
/// scripts is up. Returns what resumes the stop. [-0, +0, -]
int clua_guard_exempt(clua_guard *guard, clua_account *exempt, clua_account **outer);
void clua_guard_resume(clua_guard *guard, clua_account *outer, int stopped);

/// The memory of scripts is that of the allocator. [-0, +0, -]
void clua_guard_usememory(clua_guard *guard, clua_allocator *allocator);
/// Code of scripts that is called by code which is exempt has the memory of scripts until
/// clua_guard_lendmemory, which gets what this returns. [-0, +0, -]
static inline bool clua_guard_limitmemory(clua_guard *guard) {
  if (!guard || !guard->memory || !guard->memory->isunlimited) return false;
  guard->memory->isunlimited = false;
  return true;
}
static inline void clua_guard_lendmemory(clua_guard *guard, bool limited) {
  if (limited) guard->memory->isunlimited = true;
}
/// The other way round: code that must not fail is refused no memory until clua_guard_limitmemory,
/// which is called if this returns true. [-0, +0, -]
static inline bool clua_guard_freememory(clua_guard *guard) {
  if (!guard || !guard->memory || guard->memory->isunlimited) return false;
  guard->memory->isunlimited = true;
  return true;
}

/// Has garbage collected before the next instruction of the code that runs. [-0, +0, -]
void clua_guard_collect(clua_guard *guard);

/// Our own code in Lua is about to do what must be done to its end. [-0, +0, -]
void clua_guard_spare(clua_guard *guard);

/// `thread` is about to run, resumed by `from`. Returns the one that ran, for clua_guard_left.
lua_State *clua_guard_entering(clua_guard *guard, lua_State *thread);
/// `thread` does not run any more; it has failed where `failed` is true.
void clua_guard_left(clua_guard *guard, lua_State *outer, lua_State *thread, lua_State *from,
                     bool failed);
/// Whether a coroutine was stopped: Lua runs none of its hooks any more, so none of its code may
/// run, its pending `__close` included.
bool clua_isstopped(lua_State *thread);

/* ---- For the host ---------------------------------------------------------------------------- */

/// Pushes the error that stops scripts. [-0, +1, -]
void clua_pushstop(lua_State *L);
/// Whether the value is the error that stops scripts. [-0, +0, -]
bool clua_isstop(lua_State *L, int index);
enum { CLUA_STOP_MESSAGE_SIZE = CLUA_PLACE_SIZE + 100 };
/// Writes why scripts were stopped last, and where, into `message`, which has room for
/// CLUA_STOP_MESSAGE_SIZE characters.
void clua_stopmessage(const clua_guard *guard, char *message);
/// Code of the host notices first that scripts are to stop: where they are is remembered.
/// [-0, +0, -]
void clua_guard_noteplace(clua_guard *guard, lua_State *L);
/// Stops what runs now; called from any thread. Nothing happens where no call is under way.
void clua_guard_interrupt(clua_guard *guard);
/// Whether time can be limited on this system.
bool clua_guard_canlimit(void);
/// The signal by which timers reach a thread, SIGURG at first. To be set before any call.
void clua_guard_setsignal(int number);
int clua_guard_signal(void);

/// Replaces functions of the base library by which a script could go on after it was stopped.
/// [-0, +(0|1), -]
int clua_try_guard_install(lua_State *L);

#endif
