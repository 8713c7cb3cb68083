/// Files to run again when they change: the files loaded by a script, and their changes.
#ifndef CCL_WATCHING_H
#define CCL_WATCHING_H

#include "ccl_processes.h"

#include <signal.h>
#include <stdbool.h>

/// Calls `loaded` with the absolute path of each Lua file before it is loaded, and again without
/// links if the path has some.
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

/// A descriptor that is readable when something has changed in a watched folder; -1 if there is no
/// such descriptor.
int ccl_openwatch(void);
/// Watches a folder and returns its number, which is always the same for a folder; -1 if it cannot
/// be watched.
int ccl_watchfolder(int watch, const char *path);
/// Calls `changed` with each file that was written or replaced since the last call, and with each
/// new folder.
void ccl_readwatch(int watch,
                   void (*changed)(void *context, int folder, const char *name, bool is_folder),
                   void *context);

#endif
