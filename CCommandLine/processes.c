#include "ccl_processes.h"

#include "ccl_commandline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_both(int ends[2]) {
  close(ends[0]);
  close(ends[1]);
}

ccl_process ccl_fork(void) {
  ccl_process failed = {-1, -1, -1};
  int output[2], records[2];
  if (pipe2(output, O_CLOEXEC) != 0) return failed;
  if (pipe2(records, O_CLOEXEC) != 0) {
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
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before that was set.
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
  pid_t id = fork();
  if (id == 0) {
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
