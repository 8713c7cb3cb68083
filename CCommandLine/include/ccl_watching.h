/// Files to run again when they change: the files loaded by a script, and the process that runs it.
#ifndef CCL_WATCHING_H
#define CCL_WATCHING_H

#include "ccl_processes.h"

#include <signal.h>
#include <stdbool.h>

/// Calls `loaded` with the absolute path of each Lua file before it is loaded.
void ccl_onload(void (*loaded)(void *context, const char *path), void *context);

/// Notes a file that is loaded by other means than luaL_loadfilex.
void ccl_noteload(const char *name);

/// Forks this process, which must have one thread. The new process keeps its standard streams, and
/// writes the paths of the files that it loads to `records`; they are read here. This process can
/// write to `records`, too: the paths of files that the new process should load again.
ccl_process ccl_forkwatched(void);

/// A descriptor that is readable when one of these signals, which are blocked, has come; -1 if the
/// system has no such descriptors.
int ccl_signaldescriptor(const sigset_t *signals);
/// Takes that signal. Sets `is_own` to whether it was sent to this process only; a terminal sends
/// its signals to all processes of a group.
int ccl_takesignal(int descriptor, bool *is_own);

#endif
