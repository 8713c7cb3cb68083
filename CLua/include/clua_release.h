/// Which release of Lua the loaded library is.
#ifndef CLUA_RELEASE_H
#define CLUA_RELEASE_H

/// The release of Lua 5.4 as which the loaded library behaves, such as 50404 for 5.4.4: the latest
/// one with whose changes, as far as they are tested, it agrees. Releases after the last one that
/// is known count as that.
///
/// The first call makes a state, and tests there; without memory the answer is 5.4.0.
int clua_release(void);

/// The name of a fault of this release that the loaded library does not have, as distributions
/// patch libraries: `index` counts from 0; NULL past the last one.
const char *clua_release_patch(int index);

#endif
