/// The terminal, which the line that is typed shares with others.
#ifndef CCL_LINES_PRIVATE_H
#define CCL_LINES_PRIVATE_H

#include <stdbool.h>

/// A prompt inside of a callback reads lines itself from now on, in the ordinary mode of the
/// terminal, or does so no longer. Does nothing where no line is typed.
void ccl_lendterminal(bool is_lent);

#endif
