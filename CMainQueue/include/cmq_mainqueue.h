/// The main Dispatch queue, through the few functions of Dispatch that are needed.
///
/// They are referenced by symbol, as a program that links Dispatch statically has none of them in
/// its dynamic symbol table. Swift's runtime for tasks needs Dispatch anyway, so these load nothing
/// more.
#ifndef CMQ_MAINQUEUE_H
#define CMQ_MAINQUEUE_H

#include <stdbool.h>

/// Whether the calling thread is the process's first one.
bool cmq_isfirstthread(void);

/* ---- For a loop that serves the main queue --------------------------------------------------- */

/// The descriptor that is readable while the main queue has work; negative on failure.
int cmq_descriptor(void);
/// Does the pending work of the main queue. Only on the process's first thread.
void cmq_drain(void);

/* ---- For code on the main queue -------------------------------------------------------------- */

/// Marks the main queue for `cmq_ismain`. Call this once, before `cmq_ismain`.
void cmq_mark(void);
/// Whether the calling code runs on the main queue, on any thread.
bool cmq_ismain(void);

#endif
