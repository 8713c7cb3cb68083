/// Which release of Lua the loaded library is.
#ifndef CLUA_RELEASE_H
#define CLUA_RELEASE_H

/// The latest release of Lua 5.4, as 50404 for 5.4.4, all of whose changes the loaded library
/// shows that are asked for here; later ones than are known are the last one that is.
///
/// The first call asks, in a state of its own; without memory the answer is 5.4.0.
int clua_release(void);

/// The name of a fault that this release has and the loaded library has not, as distributions patch
/// libraries: `index` counts from 0; NULL past the last one.
const char *clua_release_patch(int index);

#endif
