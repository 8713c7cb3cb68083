/// The history of the prompt across sessions: a file in the user's folder for states.
#ifndef CCL_HISTORY_H
#define CCL_HISTORY_H

/// Calls `remember` with the entries of the file, from the oldest one on, and appends to it from
/// now on. Does nothing where there can be no file.
void ccl_history_open(void (*remember)(const char *entry));
/// Appends an entry, unless it is the same as the last one.
void ccl_history_append(const char *entry);

#endif
