/// Locks a process: everything the program needs is open, and it can open nothing more.
#ifndef CCL_LOCKING_H
#define CCL_LOCKING_H

#include <stdbool.h>

/// Locks the process with all its threads for its lifetime. It can read and write the standard
/// streams and descriptors that it has opened itself with close-on-exec; allocate memory; wait; use
/// timers; and end. Everything else is refused with EPERM: files, sockets, processes, executable
/// memory, signals to other processes.
///
/// `has_terminal`: allows changes of a terminal's settings, as a prompt needs. `listener`: a socket
/// whose connections may be accepted and used; -1 for none. `makes_copies`: allows ccl_runincopy;
/// the copies are locked, too. Returns 0, or the system's error number: ENOSYS if it has no such
/// lock.
int ccl_lock(bool has_terminal, int listener, bool makes_copies);

#endif
