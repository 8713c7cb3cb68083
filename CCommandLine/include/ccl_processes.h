/// Processes that run test files.
#ifndef CCL_PROCESSES_H
#define CCL_PROCESSES_H

#include <sys/types.h>

/// A started process, and the descriptors of its output.
typedef struct ccl_process {
  pid_t id;     // 0 in the new process, -1 if it could not be started
  int output;   // its standard output and errors; in the new process -1
  int records;  // the other end in the new process
} ccl_process;

/// Forks this process, which must have one thread. The new process leads a new process group, and
/// reads an empty standard input.
ccl_process ccl_fork(void);
/// Flushes the standard streams and ends the process at once.
_Noreturn void ccl_endfork(int status);
/// Runs `body` in a copy of this process, which must have one thread, and returns the status with
/// which it ends; -1 if the copy could not be made, or was killed.
int ccl_runincopy(int (*body)(void *context), void *context);

#endif
