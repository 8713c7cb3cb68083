/// What the parts of the guard share.
#ifndef CLUA_GUARD_INTERNAL_H
#define CLUA_GUARD_INTERNAL_H

#include "clua_guard.h"

/// Stops the code that runs, if any; async-signal-safe.
void clua_guard_stop(clua_guard *guard, clua_stop reason);

/// Stops the code of scripts that is called by code which is not stopped; async-signal-safe.
void clua_guard_fence(clua_guard *guard);

/// The time of the present account at which the code that runs is stopped.
uint64_t clua_guard_due(const clua_guard *guard);

/// The guard is active on this thread now: its time is counted, until clua_clock_remove.
void clua_clock_add(clua_guard *guard);
void clua_clock_remove(clua_guard *guard);
/// The account of an active guard has changed.
void clua_clock_change(clua_guard *guard);

#endif
