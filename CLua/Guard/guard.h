/// Declarations shared by the parts of the guard.
#ifndef CLUA_GUARD_INTERNAL_H
#define CLUA_GUARD_INTERNAL_H

#include "clua_guard.h"

/// Stops the running code, if any; async-signal-safe.
void clua_guard_stop(clua_guard *guard, clua_stop reason);

/// Stops code of scripts that exempt code calls; async-signal-safe.
void clua_guard_fence(clua_guard *guard);

/// The time of the current account at which the running code is stopped.
uint64_t clua_guard_due(const clua_guard *guard);

/// The guard becomes active on this thread: its time is counted until clua_clock_remove.
void clua_clock_add(clua_guard *guard);
void clua_clock_remove(clua_guard *guard);
/// The account of an active guard has changed.
void clua_clock_change(clua_guard *guard);

#endif
