#include "clua_streams.h"

#include <stdio.h>

#include "clua_errors.h"
#include "private.h"

/* (value) -> the stream as light userdata, or nil */
static int to_stream(lua_State *L) {
  luaL_Stream *stream = luaL_testudata(L, 1, LUA_FILEHANDLE);
  if (!stream) return 0;
  lua_pushlightuserdata(L, stream);
  return 1;
}

int clua_try_file(lua_State *L, int index, clua_file *file) {
  *file = (clua_file){.stream = NULL, .descriptor = -1};
  lua_pushvalue(L, index);
  int status = clua_protect(L, to_stream, 1, 1);
  if (status != LUA_OK) return status;
  file->stream = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (file->stream && !clua_isclosed(file->stream)) {
    file->descriptor = fileno(((const luaL_Stream *)file->stream)->f);
  }
  return LUA_OK;
}

bool clua_isclosed(const void *stream) { return ((const luaL_Stream *)stream)->closef == NULL; }

size_t clua_buffered(const void *stream) {
  const FILE *file = ((const luaL_Stream *)stream)->f;
#ifdef __GLIBC__
  // The C library has __fpending for output, and no such function for input.
  return file->_IO_read_ptr < file->_IO_read_end
             ? (size_t)(file->_IO_read_end - file->_IO_read_ptr)
             : 0;
#else
  return file->_r > 0 ? (size_t)file->_r : 0;
#endif
}
