/// The lock of a process: what the program needs is open, and from then on it opens nothing more.
#ifndef CCL_LOCKING_H
#define CCL_LOCKING_H

#include <stdbool.h>

/// Locks the process, with all its threads, for as long as it lives. It can read and write the
/// standard streams, and descriptors that it has opened itself with close-on-exec; allocate memory;
/// wait; use timers; and end. Everything else is refused with EPERM: files, sockets, processes,
/// memory that can be executed, signals to other processes.
///
/// `has_terminal`: settings of a terminal may be changed, as a prompt does. Returns 0, or the
/// number of the error with which the system refuses: ENOSYS where it has no such lock.
int ccl_lock(bool has_terminal);

#endif
