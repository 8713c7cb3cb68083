/// The peer of host objects: a userdata in C with inline properties, and metamethods in C.
#ifndef PEER_H
#define PEER_H

typedef struct peer peer;

/// Creates a Lua state with a global `object` of this kind; NULL if memory runs out.
peer *peer_make(void);
/// Loads a script that returns a function of one number; returns 0 on failure.
int peer_load(peer *peer, const char *script);
/// Calls the last loaded function; returns 0 on failure.
int peer_call(peer *peer, long long count);

#endif
