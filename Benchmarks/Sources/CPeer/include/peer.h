/// The peer of host objects: a userdata of C with its properties inline and metamethods in C.
#ifndef PEER_H
#define PEER_H

typedef struct peer peer;

/// A Lua state with a global `object` of this kind; NULL where there is no memory.
peer *peer_make(void);
/// Loads a script that returns a function of one number; 0 where that fails.
int peer_load(peer *peer, const char *script);
/// Calls what was loaded last; 0 where that fails.
int peer_call(peer *peer, long long count);

#endif
