/* Runs a command in which the system refuses some calls, as an old kernel or a container does:
   refusing NUMBER-OF-THE-ERROR filter|all COMMAND … */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 4) return 2;
  unsigned error = (unsigned)atoi(arguments[1]) & SECCOMP_RET_DATA;
  // With "all" the system lacks Landlock, too.
  unsigned other = strcmp(arguments[2], "all") == 0 ? SYS_landlock_create_ruleset : SYS_seccomp;
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) {
    perror("seccomp");
    return 77;
  }
  execvp(arguments[3], arguments + 3);
  perror(arguments[3]);
  return 127;
}
