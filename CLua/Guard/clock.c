#include "guard.h"

#include "chains.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int signal_number = SIGURG;

void clua_guard_setsignal(int number) { signal_number = number; }
int clua_guard_signal(void) { return signal_number; }

#ifdef __linux__

#include <sys/syscall.h>

/* Each thread that runs scripts with a limit has one timer. It ticks while such a script is
   running, and not while the thread is idle. A tick adds the CPU time that the thread used since
   the last tick to the scripts that are running. Swift code between two calls is therefore not
   counted, and no call has to read a clock. A limit is noticed at most one tick late and never
   early: the first tick of a turn counts nothing.

   The invariant: the handler runs on the thread that writes the data it reads, and each write
   leaves that data in a valid state. */

/// The time between two ticks is a tenth of the limit, within these bounds.
enum { LEAST_TICK = 1000 * 1000, LARGEST_TICK = 4 * 1000 * 1000 };

typedef struct clua_clock {
  clua_guard *volatile top;      // the guard whose scripts are running; it leads to the others
  volatile sig_atomic_t isarmed; // a tick is due
  uint64_t last;                 // the thread's CPU time at the last tick
  int thread;
  timer_t timer;
  bool hastimer;
} clua_clock;

static _Thread_local clua_clock *here;

static struct sigaction former;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

bool clua_guard_canlimit(void) { return true; }

static uint64_t used_by_thread(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- Ticks ----------------------------------------------------------------------------------- */

static void set_timer(clua_clock *clock, uint64_t limit) {
  uint64_t tick = limit / 10;
  if (tick < LEAST_TICK) tick = LEAST_TICK;
  if (tick > LARGEST_TICK) tick = LARGEST_TICK;
  struct itimerspec time = {.it_value = {.tv_nsec = (long)tick}};
  timer_settime(clock->timer, 0, &time, NULL);
}

/* Counts the time of exempt code; returns the limit of the scripts for which it runs. */
static uint64_t tick_exempted(clua_guard *guard, uint64_t passed) {
  clua_account *account = guard->exemption.account;
  if (!account->limit) return 0;
  guard->exemption.time += passed;
  if (guard->exemption.counts) account->used += passed;
  bool is_late = guard->exemption.counts && account->used >= account->limit;
  is_late = is_late || guard->exemption.time >= account->limit;
  if (is_late && !guard->exemption.isfenced) {
    guard->reason = CLUA_STOP_TIME;
    guard->culprit = account;
    *guard->place = '\0';
    clua_guard_fence(guard);
  }
  if (guard->exemption.isfenced) clua_chains_tick(guard);
  return account->limit;
}

static void tick(clua_clock *clock) {
  uint64_t now = used_by_thread(), passed = now - clock->last, least = 0;
  clock->last = now;
  clock->isarmed = 0;
  for (clua_guard *guard = clock->top; guard; guard = guard->outer) {
    clua_account *account = guard->account;
    if (guard->exemption.account) {
      uint64_t limit = tick_exempted(guard, passed);
      if (limit && (!least || limit < least)) least = limit;
      continue;
    }
    if (!account->limit) continue;
    if (account->isfresh) account->isfresh = false;
    else account->used += passed;
    if (guard->stopped) clua_chains_tick(guard);
    if (account->used >= clua_guard_due(guard)) clua_guard_stop(guard, CLUA_STOP_TIME);
    if (!least || account->limit < least) least = account->limit;
  }
  if (!least) return;
  clock->isarmed = 1;
  set_timer(clock, least);
}

static void handle(int number, siginfo_t *info, void *context) {
  int error = errno;
  clua_clock *clock = here;
  bool is_ours = info->si_code == SI_TIMER || info->si_code == SI_TKILL;
  if (clock && is_ours) {
    for (clua_guard *guard = clock->top; guard; guard = guard->outer) {
      // Each request stops only the code that runs then, and not its callers on other accounts.
      if (!__atomic_exchange_n(&guard->asked, 0, __ATOMIC_RELAXED)) continue;
      clua_guard_stop(guard, CLUA_STOP_INTERRUPTED);
    }
    if (info->si_code == SI_TIMER) tick(clock);
  }
  if (!is_ours && former.sa_flags & SA_SIGINFO) former.sa_sigaction(number, info, context);
  else if (!is_ours && former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN)
    former.sa_handler(number);
  errno = error;
}

/* ---- Clocks of threads ----------------------------------------------------------------------- */

static void free_clock(void *value) {
  clua_clock *clock = value;
  // A signal that is already on its way finds no clock.
  here = NULL;
  atomic_signal_fence(memory_order_seq_cst);
  if (clock->hastimer) timer_delete(clock->timer);
  free(clock);
}

static void prepare(void) {
  pthread_key_create(&key, free_clock);
  struct sigaction action = {
      .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigaction(signal_number, &action, &former);
}

/* The clock of this thread; NULL if out of memory. */
static clua_clock *clock_here(void) {
  if (here) return here;
  pthread_once(&once, prepare);
  clua_clock *clock = calloc(1, sizeof *clock);
  if (!clock) return NULL;
  clock->thread = (int)syscall(SYS_gettid);
  pthread_setspecific(key, clock);
  // Threads of a pool may start with all signals blocked.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  atomic_signal_fence(memory_order_seq_cst);
  here = clock;
  return clock;
}

/* Without a timer, scripts whose time is limited do not run. */
static void arm(clua_clock *clock, clua_guard *guard, uint64_t limit) {
  if (!clock->hastimer) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal_number};
    event._sigev_un._tid = clock->thread;
    if (timer_create(CLOCK_MONOTONIC, &event, &clock->timer) != 0) {
      guard->refusal = errno;
      return clua_guard_stop(guard, CLUA_STOP_UNTIMED);
    }
    clock->hastimer = true;
  }
  clock->last = used_by_thread();
  clock->isarmed = 1;
  set_timer(clock, limit);
}

void clua_clock_add(clua_guard *guard) {
  clua_clock *clock = here ? here : clock_here();
  if (!clock) return;
  __atomic_store_n(&guard->thread, clock->thread, __ATOMIC_RELAXED);
  guard->outer = clock->top;
  atomic_signal_fence(memory_order_seq_cst);
  clock->top = guard;
  clua_clock_change(guard);
}

void clua_clock_change(clua_guard *guard) {
  const clua_account *account = guard->exemption.account;
  if (!account) account = guard->account;
  if (account->limit && !here->isarmed) arm(here, guard, account->limit);
}

void clua_clock_remove(clua_guard *guard) {
  clua_clock *clock = here;
  if (!clock || clock->top != guard) return;
  clock->top = guard->outer;
  __atomic_store_n(&guard->thread, 0, __ATOMIC_RELAXED);
}

void clua_guard_interrupt(clua_guard *guard) {
  int thread = __atomic_load_n(&guard->thread, __ATOMIC_RELAXED);
  if (!thread) return;
  __atomic_store_n(&guard->asked, 1, __ATOMIC_RELAXED);
  syscall(SYS_tgkill, getpid(), thread, signal_number);
}

#else

bool clua_guard_canlimit(void) { return false; }
void clua_clock_add(clua_guard *guard) { (void)guard; }
void clua_clock_remove(clua_guard *guard) { (void)guard; }
void clua_clock_change(clua_guard *guard) { (void)guard; }
void clua_guard_interrupt(clua_guard *guard) {
  __atomic_store_n(&guard->asked, 1, __ATOMIC_RELAXED);
}

#endif
