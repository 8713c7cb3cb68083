/// The history of the prompt across sessions: a file in the user's state folder.
#ifndef CCL_HISTORY_H
#define CCL_HISTORY_H

/// Calls `remember` with the entries of the file, oldest first, and appends to it from now on. Does
/// nothing if there can be no such file.
void ccl_history_open(void (*remember)(const char *entry));
/// Appends an entry, unless it equals the last one.
void ccl_history_append(const char *entry);

#endif
