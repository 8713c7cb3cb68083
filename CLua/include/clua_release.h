/// The release of the loaded Lua library.
#ifndef CLUA_RELEASE_H
#define CLUA_RELEASE_H

/// The release of Lua 5.4 as which the loaded library behaves, such as 50404 for 5.4.4: the latest
/// one whose tested changes it has. Unknown later releases count as the last known one.
///
/// The first call makes a state for the tests; without memory the result is 5.4.0.
int clua_release(void);

/// The name of a fault of this release that the loaded library does not have, as distributions
/// patch libraries. `index` counts from 0; NULL past the last fault.
const char *clua_release_patch(int index);

#endif
