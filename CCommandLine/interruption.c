#include "ccl_interruption.h"

#include "clua_interruption.h"
#include "clua_places.h"
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The idea: a handler records the signal and sets a hook on the running state; the hook raises the
   error at the next instruction of the script. The running state is known because every resume of a
   coroutine goes through clua_resume, which costs two calls per resume; other code pays nothing.

   The invariant: the variables below are accessed only in the handlers, which exclude each other,
   and with the signals blocked; other code reads single words only. */

/// The stage of an interruption of running code.
typedef enum stage {
  CALM,
  ASKED,      // The hook raises the error once.
  RAISED,     // It was raised; the script may catch it and continue.
  INSISTING,  // It is raised at each instruction.
  HURRIED,    // The same, and the work at the end of the program is skipped.
} stage;

/// The phase of the program.
typedef enum phase {
  LIKE_LUA,  // The script does not use the loop.
  IN_ORDER,
  PROMPT,
  EXITING,
  CLOSED,
} phase;

/// Whether the raised error has been reported.
typedef enum report { NONE, UNSEEN, REPORTED } report;

typedef enum deadline { LIMIT, INSIST, KILL, DEADLINES } deadline;

enum { STATUS_TIMEOUT = 124, STATUS_SIGNAL = 128 };

/// In seconds: how long an ignored request can still be caught; the further time until the process
/// is killed; and how long after a caught interruption another signal counts as the second one.
static const double PATIENCE = 1;
static const double LEAST_GRACE = 0.1;

static lua_State *volatile state;
static _Thread_local lua_State *volatile running;
static pthread_t owner;
static volatile sig_atomic_t stage_now = CALM, phase_now = LIKE_LUA, report_now = NONE;
static volatile sig_atomic_t ending;

/// Where ASKED raises the error: in functions at this depth or less of a coroutine, or anywhere if
/// `thread` is NULL.
static struct aim {
  lua_State *volatile thread;
  volatile int depth;
} aim;

static volatile double deadlines[DEADLINES];
static volatile double caught_until;
static const char *limit_text = "";
static double limit_seconds;
static char last_words[512];
static int wake[2] = {-1, -1};
static struct termios terminal;
static bool has_terminal;

static const int ENDING_SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS_COUNT = sizeof ENDING_SIGNALS / sizeof *ENDING_SIGNALS };

static sigset_t all_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int i = 0; i < ENDING_SIGNALS_COUNT; i++) sigaddset(&signals, ENDING_SIGNALS[i]);
  sigaddset(&signals, SIGALRM);
  return signals;
}

static sigset_t block(void) {
  sigset_t signals = all_signals(), before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  return before;
}

static void unblock(const sigset_t *before) { pthread_sigmask(SIG_SETMASK, before, NULL); }

static void on_signal(int signal, void (*handler)(int)) {
  struct sigaction action;
  action.sa_handler = handler;
  action.sa_flags = 0;
  action.sa_mask = all_signals();
  sigaction(signal, &action, NULL);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Schedules SIGALRM for the earliest deadline. */
static void arm(void) {
  double earliest = 0;
  for (int i = 0; i < DEADLINES; i++) {
    if (deadlines[i] > 0 && (earliest == 0 || deadlines[i] < earliest)) earliest = deadlines[i];
  }
  struct itimerval timer = {0};
  if (earliest > 0) {
    double rest = earliest - now();
    if (rest < 1e-6) rest = 1e-6;
    timer.it_value.tv_sec = (time_t)rest;
    timer.it_value.tv_usec = (suseconds_t)((rest - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  }
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- Raising --------------------------------------------------------------------------------- */

static const char MODULE[] = "=obs";

/// How many consecutive instructions the module `obs` may run despite an interruption that cannot
/// be caught: it can finish its work, but a loop in it ends.
enum { MODULE_INSTRUCTIONS = 1000 };

static const char INTERRUPTED[] = "interrupted!", TIMED_OUT[] = "timed out (--timeout=";

/* Pushes the place of the interrupted function, unless it belongs to the module `obs`. */
static void push_place(lua_State *L) {
  lua_Debug activation;
  bool is_module = lua_getstack(L, 1, &activation) && lua_getinfo(L, "S", &activation) &&
                   clua_ismodule(activation.source);
  if (is_module) lua_pushliteral(L, "");
  else luaL_where(L, 1);
}

static void raise_error(lua_State *L) {
  if (ending != STATUS_TIMEOUT) {
    push_place(L);
    lua_pushstring(L, INTERRUPTED);
    lua_concat(L, 2);
    lua_error(L);
  }
  last_words[0] = '\0';
  luaL_where(L, 0);
  lua_pushfstring(L, "%s%s)", TIMED_OUT, limit_text);
  lua_concat(L, 2);
  lua_error(L);
}

static int depth_of(lua_State *L) {
  lua_Debug activation;
  int depth = 0;
  while (lua_getstack(L, depth, &activation)) depth++;
  return depth;
}

/* Whether to raise the error here: functions called by the function to interrupt may finish. */
static bool is_aimed_at(lua_State *L) {
  lua_Debug activation;
  if (stage_now != ASKED || !aim.thread) return true;
  return L == aim.thread && !lua_getstack(L, aim.depth, &activation);
}

static void raise_hook(lua_State *L, lua_Debug *activation) {
  static int instructions;
  if (stage_now == CALM || stage_now == RAISED) {
    // A new coroutine inherits the hook of the running one.
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  if (!is_aimed_at(L)) return;
  // Code of the module `obs` is not interrupted: half-finished work would leave an invalid state.
  lua_getinfo(L, "S", activation);
  if (strcmp(activation->source, MODULE) == 0) {
    if (stage_now == ASKED || instructions++ < MODULE_INSTRUCTIONS) return;
  }
  instructions = 0;
  sigset_t before = block();
  if (stage_now == ASKED) {
    stage_now = RAISED;
    lua_sethook(L, NULL, 0, 0);
  }
  if (report_now == NONE) report_now = UNSEEN;
  unblock(&before);
  raise_error(L);
}

/* Once the host takes part, calls and returns of C functions are its code, too. */
static void set_hook(lua_State *L) {
  int events = phase_now == LIKE_LUA ? LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE : 0;
  lua_sethook(L, raise_hook, events | LUA_MASKCOUNT, 1);
}

static void clear_hook(lua_State *L) {
  if (L && lua_gethook(L) == raise_hook) lua_sethook(L, NULL, 0, 0);
}

static bool is_pending(void) { return stage_now != CALM && stage_now != RAISED; }

/* A signal handler can only change a state's hook. */
static void ask(stage next) {
  stage_now = next;
  aim.thread = NULL;
  if (next >= INSISTING) deadlines[KILL] = now() + PATIENCE;
  if (state) set_hook(running ? running : state);
  arm();
}

static void wake_loop(void) {
  if (wake[1] < 0) return;
  ssize_t written = write(wake[1], "", 1);
  (void)written;  // A full pipe is readable already.
}

/* ---- Coroutines ------------------------------------------------------------------------------ */

static void hand_over(lua_State *to) {
  if (is_pending() && state && pthread_equal(pthread_self(), owner)) set_hook(to);
}

static void hand_back(lua_State *from, lua_State *to) {
  if (aim.thread == from) aim.thread = NULL;
  hand_over(to);
}

static lua_State *entering(lua_State *thread) {
  lua_State *outer = running;
  running = thread;
  if (stage_now != CALM) hand_over(thread);
  return outer;
}

static void left(lua_State *outer, lua_State *thread, lua_State *from) {
  running = outer;
  if (stage_now != CALM) hand_back(thread, from);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

/* Passes the signal to the script's thread if the handler runs on another one; returns whether it
   did. */
static bool is_passed_on(int signal) {
  if (pthread_equal(pthread_self(), owner)) return false;
  pthread_kill(owner, signal);
  return true;
}

static void interrupt_like_lua(int signal) {
  if (is_passed_on(signal)) return;
  on_signal(signal, SIG_DFL);
  ask(ASKED);
}

static void interrupt(int signal) {
  int error = errno;
  if (is_passed_on(signal)) return;
  bool again = ending || stage_now != CALM || now() < caught_until;
  if (stage_now == HURRIED) {
    // Neither the script nor the host has reacted.
    if (has_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    on_signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  if (!ending && (signal != SIGINT || (again && phase_now != PROMPT))) {
    ending = STATUS_SIGNAL + signal;
  }
  report_now = NONE;
  if (!again && signal != SIGINT) deadlines[INSIST] = now() + PATIENCE;
  ask(again ? HURRIED : ASKED);
  wake_loop();
  errno = error;
}

static void end_process(void) {
  if (ending == STATUS_TIMEOUT) {
    ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)written;  // A failure cannot be reported anywhere.
  }
  if (has_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  _exit(ending ? ending : STATUS_SIGNAL + SIGINT);
}

static bool is_over(deadline which, double time) {
  // The timer counts microseconds.
  bool over = deadlines[which] > 0 && deadlines[which] <= time + 1e-5;
  if (over) deadlines[which] = 0;
  return over;
}

static void expire(int signal) {
  int error = errno;
  if (is_passed_on(signal)) return;
  double time = now();
  if (is_over(KILL, time)) end_process();
  if (is_over(INSIST, time) && (stage_now == ASKED || stage_now == RAISED)) ask(INSISTING);
  if (is_over(LIMIT, time)) {
    if (!ending) ending = STATUS_TIMEOUT;
    report_now = NONE;
    ask(phase_now == EXITING ? HURRIED : INSISTING);
    wake_loop();
  }
  arm();
  errno = error;
}

/* ---- The phase of the program ---------------------------------------------------------------- */

static const clua_interrupter INTERRUPTER;

void ccl_beginstate(lua_State *L) {
  state = L;
  owner = pthread_self();
  clua_setinterrupter(&INTERRUPTER);
}

void ccl_limittime(double seconds, const char *text, const char *name) {
  limit_text = text ? text : "";
  limit_seconds = seconds;
  snprintf(last_words, sizeof last_words, "%s: %s%s)\n", name, TIMED_OUT, limit_text);
  sigset_t before = block();
  on_signal(SIGALRM, expire);
  deadlines[LIMIT] = now() + seconds;
  arm();
  unblock(&before);
}

/* Ends the interruption. */
static void calm_down(void) {
  stage_now = CALM;
  deadlines[INSIST] = deadlines[KILL] = 0;
  clear_hook(state);
  clear_hook(running);
  arm();
}

void ccl_beginchunk(void) {
  if (phase_now == LIKE_LUA) on_signal(SIGINT, interrupt_like_lua);
}

static clua_interruption uncaught(const char *message);

bool ccl_endchunk(const char *message) {
  bool is_new = !message || uncaught(message) != CLUA_INTERRUPTED_AGAIN;
  if (phase_now != LIKE_LUA) return is_new;
  on_signal(SIGINT, SIG_DFL);
  sigset_t before = block();
  if (!ending) {
    calm_down();
    report_now = NONE;
  }
  unblock(&before);
  return is_new;
}

/* Whether the program was started to ignore a signal, for example by `nohup`, and keeps ignoring
   it. */
static bool is_ignored(int signal) {
  struct sigaction action;
  return signal != SIGINT && sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void set_ending_signals(void (*handler)(int)) {
  for (int i = 0; i < ENDING_SIGNALS_COUNT; i++) {
    if (!is_ignored(ENDING_SIGNALS[i])) on_signal(ENDING_SIGNALS[i], handler);
  }
  if (handler != SIG_DFL) on_signal(SIGALRM, expire);
}

void ccl_beginorder(void) {
  if (phase_now != LIKE_LUA || !state) return;
  phase_now = IN_ORDER;
  set_ending_signals(interrupt);
}

void ccl_restoresignals(void) {
  if (phase_now == LIKE_LUA) return;
  for (int i = 0; i < ENDING_SIGNALS_COUNT; i++) {
    struct sigaction action;
    sigaction(ENDING_SIGNALS[i], NULL, &action);
    if (action.sa_handler == SIG_DFL) on_signal(ENDING_SIGNALS[i], interrupt);
  }
}

void ccl_beginprompt(void) {
  ccl_beginorder();
  phase_now = PROMPT;
  has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
}

void ccl_endprompt(void) {
  phase_now = IN_ORDER;
  has_terminal = false;
}

bool ccl_beginexit(void) {
  sigset_t before = block();
  bool goes_on = stage_now != HURRIED;
  if (phase_now == IN_ORDER) phase_now = EXITING;
  calm_down();
  report_now = NONE;
  if (limit_seconds > 0) {
    double tenth = limit_seconds / 10;
    double grace = now() + (tenth > LEAST_GRACE ? tenth : LEAST_GRACE);
    if (deadlines[LIMIT] < grace) deadlines[LIMIT] = grace;
    arm();
  }
  unblock(&before);
  return goes_on;
}

void ccl_forgetstate(void) {
  if (phase_now != LIKE_LUA) set_ending_signals(SIG_DFL);
  sigset_t before = block();
  calm_down();
  phase_now = CLOSED;
  state = NULL;
  // Finalizers run without hooks.
  if (ending == STATUS_TIMEOUT) deadlines[KILL] = now() + PATIENCE;
  arm();
  unblock(&before);
}

/* ---- Requests by signals --------------------------------------------------------------------- */

/* Opens the wake-up pipe. If a standard stream is closed, its number must stay free. */
static void open_wake(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  for (int end = 0; end < 2; end++) {
    wake[end] = fcntl(ends[end], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fcntl(wake[end], F_SETFL, O_NONBLOCK);
    close(ends[end]);
  }
}

int ccl_wakedescriptor(void) {
  if (wake[0] < 0) open_wake();
  return wake[0];
}

bool ccl_settle(void) {
  char bytes[64];
  while (wake[0] >= 0 && read(wake[0], bytes, sizeof bytes) > 0) continue;
  if (stage_now == CALM) return ending != 0;
  sigset_t before = block();
  bool at_prompt = phase_now == PROMPT;
  if (stage_now == ASKED && !ending && !at_prompt) ending = STATUS_SIGNAL + SIGINT;
  // At the end of a program, an interruption that cannot be caught remains so until on_exit begins.
  if (stage_now < INSISTING || (at_prompt && !ending)) {
    if (stage_now == RAISED && !ending && !at_prompt) caught_until = now() + PATIENCE;
    calm_down();
    if (at_prompt) report_now = NONE;
  }
  unblock(&before);
  return ending != 0;
}

int ccl_exitrequest(void) { return ending; }

void ccl_requestexit(int status) { ending = status; }

bool ccl_isasked(void) { return ending != 0 || stage_now != CALM; }

static bool is_hurried(void) { return stage_now == HURRIED; }

/* At a prompt inside a script, SIGINT ends the program in order, like an interruption that cannot
   be caught; at the interactive prompt it ends the line. */
static void quit(void) {
  if (phase_now == PROMPT || !state) return;
  sigset_t before = block();
  if (!ending) ending = STATUS_SIGNAL + SIGINT;
  ask(stage_now == HURRIED ? HURRIED : INSISTING);
  unblock(&before);
}

/* Whether a function of the script is running in `L`. */
static bool is_inside(lua_State *L) {
  lua_Debug activation;
  for (int level = 0; lua_getstack(L, level, &activation); level++) {
    lua_getinfo(L, "S", &activation);
    if (*activation.what != 'C' && !clua_ismodule(activation.source)) return true;
  }
  return false;
}

static clua_interruption uncaught(const char *message) {
  if (report_now == NONE) return CLUA_ORDINARY;
  if (!strstr(message, ending == STATUS_TIMEOUT ? TIMED_OUT : INTERRUPTED)) return CLUA_ORDINARY;
  sigset_t before = block();
  clua_interruption result = CLUA_INTERRUPTED;
  if (report_now == REPORTED) result = CLUA_INTERRUPTED_AGAIN;
  report_now = REPORTED;
  bool ends = phase_now == IN_ORDER || phase_now == EXITING;
  if (ends && !ending) ending = STATUS_SIGNAL + SIGINT;
  lua_State *L = running ? running : state;
  if (stage_now == RAISED && is_inside(L)) {
    // A callback runs inside a write, a read or a flush: its caller is interrupted, too.
    int depth = depth_of(L);
    ask(ASKED);
    aim.depth = depth;
    aim.thread = L;
  }
  unblock(&before);
  wake_loop();
  return result;
}

/* ---- Prompts --------------------------------------------------------------------------------- */

/* Whether the stream has buffered bytes. */
static bool has_rest(FILE *stream) {
#ifdef __GLIBC__
  return stream->_IO_read_ptr < stream->_IO_read_end;
#elif defined(__APPLE__)
  return stream->_r > 0;
#else
  (void)stream;
  return false;
#endif
}

bool ccl_hasinput(FILE *stream) {
  struct pollfd input = {.fd = fileno(stream), .events = POLLIN};
  return has_rest(stream) || poll(&input, 1, 0) > 0;
}

bool ccl_awaitinput(FILE *stream) {
  if (has_rest(stream)) return true;
  // A signal that arrives before the wait begins must end it, too.
  sigset_t before = block();
  struct pollfd input = {.fd = fileno(stream), .events = POLLIN};
  int ready = 0;
  while (stage_now == CALM && ready == 0) {
#ifdef __APPLE__
    fd_set inputs;
    FD_ZERO(&inputs);
    FD_SET(input.fd, &inputs);
    ready = pselect(input.fd + 1, &inputs, NULL, NULL, NULL, &before);
#else
    ready = ppoll(&input, 1, NULL, &before);
#endif
    if (ready < 0 && errno == EINTR) ready = 0;
  }
  unblock(&before);
  return ready != 0;
}

static void prompting(bool has_run) {
  sigset_t before = block();
  bool is_over = has_run ? !ending && stage_now != CALM : stage_now == RAISED;
  if (is_over) calm_down();
  unblock(&before);
}

static const clua_interrupter INTERRUPTER = {
    .entering = entering,
    .left = left,
    .uncaught = uncaught,
    .is_hurried = is_hurried,
    .prompting = prompting,
    .await_input = ccl_awaitinput,
    .quit = quit,
    .lend_terminal = ccl_lendterminal,
};
