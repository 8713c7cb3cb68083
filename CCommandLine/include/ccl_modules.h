/// C modules of scripts see observed tables as scripts do (M1).
///
/// The program defines functions of the library that look into a table itself: a dynamic linker
/// takes those of the program first, for the modules that it loads and for the library. They hand
/// on to the library for all tables but the observed ones.
#ifndef CCL_MODULES_H
#define CCL_MODULES_H

#include "clua.h"

/// Shows observed tables to C modules from now on; until then they get what the library gives them.
/// To be called before a script runs.
void ccl_showtables(void);
/// Leaves the C module of that name alone, or shows tables to it again. It may be loaded later.
/// False without memory.
bool ccl_setnative(const char *name, bool shown);

#endif
