/// The C streams of Lua's files.
#ifndef CLUA_STREAMS_H
#define CLUA_STREAMS_H

#include "clua.h"

/// A file of Lua; it lives as long as its userdata.
typedef struct clua_file {
  const void *stream;  // NULL if the value is not a file
  int descriptor;      // -1 if the file is closed
} clua_file;

/// The file at `index`. Needs four free slots. [-0, +(0|1), -]
int clua_try_file(lua_State *L, int index, clua_file *file);
/// Whether the file has been closed.
bool clua_isclosed(const void *stream);
/// How many bytes of an open file were read from its descriptor, but not yet by a script.
size_t clua_buffered(const void *stream);

#endif
