/// The main Dispatch queue, by the few functions of Dispatch that are needed.
///
/// They are referenced by symbol, as a program that links Dispatch statically has none of them in
/// its dynamic symbol table. Swift's runtime for tasks needs Dispatch itself, so no program has to
/// load more for these.
#ifndef CMQ_MAINQUEUE_H
#define CMQ_MAINQUEUE_H

#include <stdbool.h>

/// Whether the calling thread is the process's first one.
bool cmq_isfirstthread(void);

/* ---- For a loop that serves the main queue --------------------------------------------------- */

/// The descriptor that is readable while the main queue has work; negative if there is none.
int cmq_descriptor(void);
/// Does the work that the main queue has. Only on the process's first thread.
void cmq_drain(void);

/* ---- For code on the main queue -------------------------------------------------------------- */

/// Marks the main queue, so that `cmq_ismain` knows it. To be called once, before the others.
void cmq_mark(void);
/// Whether the calling code runs on the main queue, whatever its thread.
bool cmq_ismain(void);

#endif
