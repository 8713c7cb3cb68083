/// C modules of scripts see observed tables as scripts do (M1).
///
/// The program defines functions of the library that access a table without its metamethods. A
/// dynamic linker prefers the program's functions, for modules that it loads and for the library
/// itself. For tables that are not observed, they call the library's functions.
#ifndef CCL_MODULES_H
#define CCL_MODULES_H

#include "clua.h"

/// Shows observed tables to C modules from now on; until then they get the library's behaviour.
/// Call this before a script runs. False if the system's linker does not prefer the program's
/// functions, as on macOS.
bool ccl_showtables(void);
/// Hides observed tables from the C module of this name, or shows them again. It may be loaded
/// later. False if out of memory.
bool ccl_setnative(const char *name, bool shown);

#endif
