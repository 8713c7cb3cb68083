#include "ccl_watching.h"

#include "clua.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#endif

/* ---- Files that are loaded ------------------------------------------------------------------- */

static void (*on_load)(void *context, const char *path);
static void *load_context;

void ccl_onload(void (*loaded)(void *context, const char *path), void *context) {
  on_load = loaded;
  load_context = context;
}

#ifdef __linux__

/* As the functions in modules.c, this takes precedence over that of the library, also where the
   library itself calls it: `require`, `dofile` and `loadfile` do. */
int luaL_loadfilex(lua_State *L, const char *name, const char *mode) {
  static int (*load)(lua_State *, const char *, const char *);
  if (!load) *(void **)&load = dlsym(RTLD_NEXT, "luaL_loadfilex");
  if (on_load && name) on_load(load_context, name);
  return load(L, name, mode);
}

#endif

/* ---- The process that runs a script ---------------------------------------------------------- */

ccl_process ccl_forkwatched(void) {
  int ends[2];
  if (pipe(ends) != 0) return (ccl_process){-1, -1, -1};
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

int ccl_takesignal(int descriptor) {
  struct signalfd_siginfo info;
  return read(descriptor, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : SIGTERM;
}

#else

int ccl_signaldescriptor(const sigset_t *signals) {
  (void)signals;
  return -1;
}

int ccl_takesignal(int descriptor) {
  (void)descriptor;
  return SIGTERM;
}

#endif

/* ---- What changes ---------------------------------------------------------------------------- */

#ifdef __linux__

int ccl_openwatch(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

int ccl_watchfolder(int watch, const char *path) {
  return inotify_add_watch(watch, path, IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR);
}

void ccl_readwatch(int watch, void (*changed)(void *context, int folder, const char *name),
                   void *context) {
  _Alignas(struct inotify_event) char events[4096];
  for (;;) {
    ssize_t count = read(watch, events, sizeof events);
    if (count <= 0) return;
    for (char *at = events; at < events + count;) {
      const struct inotify_event *event = (const struct inotify_event *)at;
      if (event->len > 0) changed(context, event->wd, event->name);
      at += sizeof *event + event->len;
    }
  }
}

#else

int ccl_openwatch(void) { return -1; }

int ccl_watchfolder(int watch, const char *path) {
  (void)watch, (void)path;
  return -1;
}

void ccl_readwatch(int watch, void (*changed)(void *context, int folder, const char *name),
                   void *context) {
  (void)watch, (void)changed, (void)context;
}

#endif
