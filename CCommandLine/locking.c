#include "ccl_locking.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

/* Two locks, one inside the other. The filter of system calls (seccomp) lists the allowed calls;
   all others fail. Landlock removes all rights to files from the process: it also works if the
   system refuses the filter, and costs nothing extra.

   Refused calls fail with EPERM and do not kill the process: the C library tries some calls for
   which it has alternatives, such as asking for the amount of memory before it sorts. An error is
   no more useful to injected code than death. Calls of another architecture, whose numbers have
   other meanings, kill the process: our code makes none. */

/// How an argument decides whether a call is allowed.
typedef enum test { ALWAYS, EQUAL, FROM, WITHOUT, OWN, ANONYMOUS } test;

typedef struct rule {
  unsigned number;
  test test;
  unsigned argument;  // its index
  unsigned value;     // for its lower 32 bits: in these calls the kernel ignores the others
} rule;

#define CALL(name) {SYS_##name, ALWAYS, 0, 0}

/* The most frequent calls come first, as the kernel checks the rules in order. */
static const rule RULES[] = {
    {SYS_write, OWN, 0, 0}, {SYS_read, OWN, 0, 0},
    CALL(rt_sigreturn), CALL(timer_settime), CALL(clock_gettime),
#ifdef SYS_poll
    CALL(poll),
#endif
    CALL(ppoll), CALL(futex), CALL(brk), CALL(munmap), CALL(mremap), CALL(madvise),
    {SYS_mmap, ANONYMOUS, 2, PROT_EXEC},
    {SYS_mprotect, WITHOUT, 2, PROT_EXEC},
    CALL(rt_sigprocmask), CALL(rt_sigaction), CALL(sigaltstack), CALL(setitimer),
    CALL(timer_create), CALL(timer_delete), CALL(clock_nanosleep), CALL(restart_syscall),
    {SYS_writev, OWN, 0, 0}, {SYS_readv, OWN, 0, 0}, CALL(close), CALL(fstat),
    // At the end of a program, the C library moves the standard input back to the last read
    // position.
    {SYS_lseek, EQUAL, 0, STDIN_FILENO},
    {SYS_fcntl, EQUAL, 1, F_GETFD},
    {SYS_fcntl, EQUAL, 1, F_GETFL},
    {SYS_ioctl, EQUAL, 1, TCGETS},
    {SYS_ioctl, EQUAL, 1, TIOCGWINSZ},
    {SYS_ioctl, EQUAL, 1, FIONREAD},
    CALL(getpid), CALL(gettid), CALL(getrandom), CALL(sched_yield), CALL(exit), CALL(exit_group),
};

/// For the line editor of a prompt.
static const rule TERMINAL_RULES[] = {
    {SYS_ioctl, EQUAL, 1, TCSETS},
    {SYS_ioctl, EQUAL, 1, TCSETSW},
    {SYS_ioctl, EQUAL, 1, TCSETSF},
    {SYS_ioctl, EQUAL, 1, TCXONC},
    CALL(pselect6),
#ifdef SYS_select
    CALL(select),
#endif
};

/// For connections to the inspector; values of 0 are set when the descriptors are known.
/// Descriptors that are opened after the lock can be nothing else than its connections.
static const rule INSPECTOR_RULES[] = {
    {SYS_accept, EQUAL, 0, 0},
    {SYS_fcntl, EQUAL, 1, F_SETFD},
    {SYS_recvfrom, FROM, 0, 0},
    {SYS_sendto, FROM, 0, 0},
    {SYS_shutdown, FROM, 0, 0},
};

/// For copies of the process: `fork` of the C library, and the wait for them.
static const rule COPY_RULES[] = {
    {SYS_clone, EQUAL, 0, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD},
    CALL(wait4), CALL(set_robust_list), CALL(getppid),
    // A copy ends with the process.
    {SYS_prctl, EQUAL, 0, PR_SET_PDEATHSIG},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum {
  MOST_OWN = 32,
  // The steps of a rule, and of a rule that compares a descriptor, per descriptor.
  RULE_LENGTH = 7,
  OWN_RULES = 4,
  PROGRAM_LENGTH = 6 + RULE_LENGTH * (COUNT(RULES) + COUNT(TERMINAL_RULES) +
                                      COUNT(INSPECTOR_RULES) + COUNT(COPY_RULES) + 2) +
                   OWN_RULES * MOST_OWN,
};

typedef struct program {
  struct sock_filter steps[PROGRAM_LENGTH];
  unsigned short length;
  /// Descriptors above the standard streams that the process itself has opened.
  unsigned own[MOST_OWN], own_count;
} program;

static void add(program *program, unsigned code, unsigned operand, unsigned yes, unsigned no) {
  program->steps[program->length++] =
      (struct sock_filter){(unsigned short)code, (unsigned char)yes, (unsigned char)no, operand};
}

static void load(program *program, size_t offset) {
  add(program, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void finish(program *program, unsigned action) {
  add(program, BPF_RET | BPF_K, action, 0, 0);
}

static void load_argument(program *program, unsigned index) {
  load(program, offsetof(struct seccomp_data, args) + index * sizeof(__u64));
}

static void add_rule(program *program, rule rule) {
  unsigned short first = program->length;
  add(program, BPF_JMP | BPF_JEQ | BPF_K, rule.number, 0, 0);
  if (rule.test == ANONYMOUS) {
    load_argument(program, 3);
    add(program, BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 3);
  }
  if (rule.test != ALWAYS) load_argument(program, rule.argument);
  switch (rule.test) {
    case ALWAYS: break;
    case EQUAL: add(program, BPF_JMP | BPF_JEQ | BPF_K, rule.value, 0, 1); break;
    case FROM: add(program, BPF_JMP | BPF_JGE | BPF_K, rule.value, 0, 1); break;
    case ANONYMOUS:
    case WITHOUT: add(program, BPF_JMP | BPF_JSET | BPF_K, rule.value, 1, 0); break;
    case OWN:
      for (unsigned i = 0; i < program->own_count; i++) {
        unsigned rest = program->own_count - i;
        add(program, BPF_JMP | BPF_JEQ | BPF_K, program->own[i], rest, 0);
      }
      add(program, BPF_JMP | BPF_JGT | BPF_K, STDERR_FILENO, 1, 0);
      break;
  }
  finish(program, SECCOMP_RET_ALLOW);
  program->steps[first].jf = (unsigned char)(program->length - first - 1);
  // The next rule checks the number, and this one has loaded an argument.
  if (rule.test == ALWAYS) return;
  load(program, offsetof(struct seccomp_data, nr));
}

/* Opens copies of the listener in all gaps, so that each connection has a higher number than all
   descriptors that are open now, and returns the lowest such number. */
static unsigned fill_gaps(int listener) {
  int highest = listener, gap = 0;
  for (int descriptor = 0; gap <= MOST_OWN; descriptor++) {
    gap = fcntl(descriptor, F_GETFD) < 0 ? gap + 1 : 0;
    if (gap == 0 && descriptor > highest) highest = descriptor;
  }
  int copy;
  while ((copy = fcntl(listener, F_DUPFD_CLOEXEC, 0)) >= 0 && copy < highest) continue;
  if (copy >= 0) close(copy);
  return (unsigned)highest + 1;
}

static void add_inspector_rules(program *program, int listener) {
  unsigned first = fill_gaps(listener);
  for (size_t i = 0; i < COUNT(INSPECTOR_RULES); i++) {
    rule rule = INSPECTOR_RULES[i];
    if (rule.number == SYS_accept) rule.value = (unsigned)listener;
    if (rule.test == FROM) rule.value = first;
    add_rule(program, rule);
  }
}

static void write_program(program *program, bool has_terminal, int listener, bool makes_copies) {
#ifdef __x86_64__
  const unsigned architecture = AUDIT_ARCH_X86_64;
#else
  const unsigned architecture = AUDIT_ARCH_AARCH64;
#endif
  load(program, offsetof(struct seccomp_data, arch));
  add(program, BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
  finish(program, SECCOMP_RET_KILL_PROCESS);
  load(program, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < COUNT(RULES); i++) add_rule(program, RULES[i]);
  // abort() sends a signal to the process itself.
  add_rule(program, (rule){SYS_tgkill, EQUAL, 0, (unsigned)getpid()});
  for (size_t i = 0; has_terminal && i < COUNT(TERMINAL_RULES); i++) {
    add_rule(program, TERMINAL_RULES[i]);
  }
  // When a signal interrupts the line editor, the editor restores the terminal and sends the signal
  // to the process again.
  if (has_terminal) add_rule(program, (rule){SYS_kill, EQUAL, 0, (unsigned)getpid()});
  if (listener >= 0) add_inspector_rules(program, listener);
  for (size_t i = 0; makes_copies && i < COUNT(COPY_RULES); i++) add_rule(program, COPY_RULES[i]);
  finish(program, SECCOMP_RET_ERRNO | EPERM);
}

/* Whether the process can no longer open files, as the leak sanitizer would at exit. */
static bool has_no_files;

/* Gives up all rights to files known to this kernel, if it has Landlock. */
static void give_up_files(void) {
#ifdef LANDLOCK_CREATE_RULESET_VERSION
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return;
  // The rights of the first version, and one more each in the second, third and fifth.
  unsigned rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
  struct landlock_ruleset_attr none = {.handled_access_fs = (1ull << rights) - 1};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &none, sizeof none, 0);
  if (rules < 0) return;
  has_no_files = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
#endif
}

/* Finds the descriptors that the process itself has opened, which are closed on exec. Descriptors
   inherited from the parent program are not. They stay open, as the parent may wait for their end,
   but cannot be used. */
static void find_own(program *program) {
  // A new descriptor has the lowest free number, so the process has opened none after a gap.
  int gap = 0;
  for (int descriptor = STDERR_FILENO + 1; gap <= MOST_OWN; descriptor++) {
    int flags = fcntl(descriptor, F_GETFD);
    gap = flags < 0 ? gap + 1 : 0;
    bool is_own = flags >= 0 && flags & FD_CLOEXEC;
    if (is_own && program->own_count < MOST_OWN) {
      program->own[program->own_count++] = (unsigned)descriptor;
    }
  }
}

/* Makes the C library open and look up now everything that it would otherwise need later. */
static void open_lazily_opened(void) {
  tzset();
  // Without a buffer it would later ask for the kind of the file, by a call that also takes names.
  if (isatty(STDOUT_FILENO)) setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

int ccl_lock(bool has_terminal, int listener, bool makes_copies) {
  open_lazily_opened();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  give_up_files();
  program program = {.length = 0};
  find_own(&program);
  write_program(&program, has_terminal, listener, makes_copies);
  struct sock_fprog filter = {program.length, program.steps};
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
  // A positive number is a thread that has another filter.
  if (result != 0) return result < 0 ? errno : EBUSY;
  has_no_files = true;
  return 0;
}

#else

static bool has_no_files;

int ccl_lock(bool has_terminal, int listener, bool makes_copies) {
  (void)has_terminal;
  (void)listener;
  (void)makes_copies;
  return ENOSYS;
}

#endif

/* The leak sanitizer calls this at the end of a program: otherwise it would start a process that
   reads system files. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return has_no_files; }
