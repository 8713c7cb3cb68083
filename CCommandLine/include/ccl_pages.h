/// Long texts on a terminal, page by page.
#ifndef CCL_PAGES_H
#define CCL_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/// Whether `ccl_writepages` can ask the user: the height of the terminal is known, and no line was
/// typed ahead.
bool ccl_canpage(void);

/// Writes a text to the standard output. After each page it waits for a key: space for the next
/// page, Enter for the next row; q, Ctrl-D and an unhandled signal drop the rest.
void ccl_writepages(const char *text, size_t count);

#endif
