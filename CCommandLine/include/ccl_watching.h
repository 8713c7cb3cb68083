/// Files that are run again when they change: which ones a script has loaded, and what happens to
/// them.
#ifndef CCL_WATCHING_H
#define CCL_WATCHING_H

#include "ccl_processes.h"

#include <signal.h>
#include <stdbool.h>

/// Has `loaded` called with the path of each file of Lua that is loaded from now on, before it is:
/// from the root on, and once more without links where it has some.
void ccl_onload(void (*loaded)(void *context, const char *path), void *context);

/// Notes a file that is loaded by other means than luaL_loadfilex.
void ccl_noteload(const char *name);

/// Forks this process, which must have one thread. The new one has its standard streams, and its
/// `records` are the paths of the files that it loads; the other end of them is read here.
ccl_process ccl_forkwatched(void);

/// A descriptor that can be read when one of these signals, which are blocked, has come; -1 where
/// the system has none.
int ccl_signaldescriptor(const sigset_t *signals);
/// Takes that signal. `is_own`: whether it was sent to this process; a terminal sends its signals
/// to all processes of a group.
int ccl_takesignal(int descriptor, bool *is_own);

/// A descriptor that can be read when something has changed in a watched folder; -1 where there is
/// none.
int ccl_openwatch(void);
/// Watches a folder, and returns its number; -1 where it cannot be watched. The same folder has the
/// same number.
int ccl_watchfolder(int watch, const char *path);
/// Calls `changed` with each file that was written or replaced since the last call, and with each
/// folder that has come.
void ccl_readwatch(int watch,
                   void (*changed)(void *context, int folder, const char *name, bool is_folder),
                   void *context);

#endif
