#include "ccl_watching.h"

#include "clua.h"
#include "clua_modules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/signalfd.h>
#endif

/* ---- Loaded files ---------------------------------------------------------------------------- */

static void (*on_load)(void *context, const char *path);
static void *load_context;

/* The name of the file that was noted last. */
static char last_load[PATH_MAX];

/* Notes a file that a searcher of another language has read. */
static void note_required(const char *name) {
  if (strcmp(name, last_load) != 0 && access(name, R_OK) == 0) ccl_noteload(name);
}

void ccl_onload(void (*loaded)(void *context, const char *path), void *context) {
  on_load = loaded;
  load_context = context;
  clua_onrequire = note_required;
}

#ifdef __linux__

/* Reports absolute paths, as the receiving process may be in another folder. */
void ccl_noteload(const char *name) {
  if (!on_load) return;
  snprintf(last_load, sizeof last_load, "%s", name);
  char path[PATH_MAX];
  size_t length = 0;
  if (name[0] != '/') {
    if (!getcwd(path, sizeof path)) return;
    length = strlen(path);
    path[length++] = '/';
  }
  if (length + strlen(name) >= sizeof path) return;
  strcpy(path + length, name);
  on_load(load_context, path);
}

/* Like the functions in modules.c, this takes precedence over the library's function, even for
   calls inside the library by `require`, `dofile` and `loadfile`. */
int luaL_loadfilex(lua_State *L, const char *name, const char *mode) {
  static int (*load)(lua_State *, const char *, const char *);
  if (!load) *(void **)&load = dlsym(RTLD_NEXT, "luaL_loadfilex");
  if (name) ccl_noteload(name);
  return load(L, name, mode);
}

#else

void ccl_noteload(const char *name) { (void)name; }

#endif

/* ---- The process that runs a script ---------------------------------------------------------- */

ccl_process ccl_forkwatched(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return (ccl_process){-1, -1, -1};
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  fflush(NULL);
  pid_t parent = getpid();
  pid_t id = fork();
  if (id < 0) {
    close(ends[0]);
    close(ends[1]);
    return (ccl_process){-1, -1, -1};
  }
  if (id > 0) {
    close(ends[1]);
    return (ccl_process){id, -1, ends[0]};
  }
  close(ends[0]);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  // The parent may have ended before that was set.
  if (getppid() != parent) _exit(1);
  return (ccl_process){0, -1, ends[1]};
}

#ifdef __linux__

int ccl_signaldescriptor(const sigset_t *signals) { return signalfd(-1, signals, SFD_CLOEXEC); }

int ccl_takesignal(int descriptor, bool *is_own) {
  struct signalfd_siginfo info = {.ssi_signo = SIGTERM, .ssi_code = SI_USER};
  ssize_t size = read(descriptor, &info, sizeof info);
  *is_own = size != sizeof info || info.ssi_code != SI_KERNEL;
  return (int)info.ssi_signo;
}

#else

int ccl_signaldescriptor(const sigset_t *signals) {
  (void)signals;
  return -1;
}

int ccl_takesignal(int descriptor, bool *is_own) {
  (void)descriptor;
  *is_own = true;
  return SIGTERM;
}

#endif
