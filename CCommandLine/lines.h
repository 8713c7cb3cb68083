/// The terminal, shared by the typed line and prompts of callbacks.
#ifndef CCL_LINES_PRIVATE_H
#define CCL_LINES_PRIVATE_H

#include <stdbool.h>

/// Called when a prompt inside a callback starts or stops reading lines itself, in the ordinary
/// mode of the terminal. Does nothing while no line is being typed.
void ccl_lendterminal(bool is_lent);

#endif
