#include "ccl_processes.h"

#include "ccl_commandline.h"
#include "ccl_outside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#else
#include <pthread.h>
#include <sys/event.h>
#endif

static void close_both(int ends[2]) {
  close(ends[0]);
  close(ends[1]);
}

#ifdef __linux__

static int make_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

static void end_with(pid_t parent) {
  (void)parent;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

#else

static int make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
}

/* The descriptor that reports the end of the parent. */
static int parent_events;

static void *wait_for_parent(void *context) {
  (void)context;
  struct kevent event;
  int count;
  do count = kevent(parent_events, NULL, 0, &event, 1, NULL);
  while (count < 0 && errno == EINTR);
  if (count > 0) kill(getpid(), SIGKILL);
  return NULL;
}

static void end_with(pid_t parent) {
  parent_events = kqueue();
  if (parent_events < 0) return;
  fcntl(parent_events, F_SETFD, FD_CLOEXEC);
  struct kevent event;
  EV_SET(&event, parent, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
  if (kevent(parent_events, &event, 1, NULL, 0, NULL) != 0) return;
  // The program's handlers expect their signals on its only thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  if (pthread_create(&thread, NULL, wait_for_parent, NULL) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif

ccl_process ccl_fork(void) {
  ccl_process failed = {-1, -1, -1};
  int output[2], records[2];
  if (make_pipe(output) != 0) return failed;
  if (make_pipe(records) != 0) {
    close_both(output);
    return failed;
  }
  fflush(NULL);
  pid_t parent = getpid();
  pid_t id = fork();
  if (id < 0) {
    close_both(output);
    close_both(records);
    return failed;
  }
  if (id > 0) {
    setpgid(id, id);
    close(output[1]);
    close(records[1]);
    return (ccl_process){id, output[0], records[0]};
  }
  setpgid(0, 0);
  end_with(parent);
  // The parent may have ended before that.
  if (getppid() != parent) _exit(1);
  int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (empty >= 0) dup2(empty, 0);
  dup2(output[1], 1);
  dup2(output[1], 2);
  close_both(output);
  close(records[0]);
  // Output before a process is killed must be visible, in the order of both streams.
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  return (ccl_process){0, -1, records[1]};
}

int ccl_runincopy(int (*body)(void *context), void *context) {
  // Not the files of scripts, which the copy must not write again.
  ccl_flushoutput();
  pid_t original = getpid(), id = fork();
  if (id == 0) {
    end_with(original);
    if (getppid() != original) _exit(1);
    ccl_watchcopy();
    _exit(body(context));
  }
  if (id < 0) return -1;
  int status;
  pid_t ended;
  do ended = waitpid(id, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != id || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void ccl_endfork(int status) {
  fflush(NULL);
  _exit(status);
}
