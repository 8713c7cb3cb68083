#ifndef CSCRIPTS_H
#define CSCRIPTS_H

#include <stddef.h>

struct lua_State;

/// A file in Lua.
typedef struct cscripts_chunk {
  const char *name;    // of the file, without ".lua"; NULL ends a list
  const char *source;  // what messages call it
  size_t count;        // of bytes; 0 for text that a zero ends
  const char *bytes;   // text or bytecode
} cscripts_chunk;

/// Files that were compiled with the program, and the copyright line of the Lua that compiled them.
/// `Scripts/install` links them.
typedef struct cscripts_compiled {
  const char *copyright;
  const cscripts_chunk *chunks;
} cscripts_compiled;

/// Pushes the function of a file, as `lua_load` does. The program must have a file of this name.
int cscripts_try_load(struct lua_State *L, const char *name);

#endif
