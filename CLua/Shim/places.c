#include "clua_places.h"

#include <stdio.h>
#include <string.h>

bool clua_ismodule(const char *source) {
  return strcmp(source, "=obs") == 0 || strcmp(source, "=obs.prompt") == 0;
}

/* Identifies the call of the running C function: each active call has its own pointer.
   [-0, +0, -] */
static const void *frame_of(lua_State *L) {
  lua_Debug frame;
  return lua_getstack(L, 0, &frame) ? (const void *)frame.i_ci : NULL;
}

int clua_where(lua_State *L, char *source) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame); level++) {
    if (!lua_getinfo(L, "Sl", &frame) || frame.currentline <= 0) continue;
    // Lua code of the module obs works for its caller.
    if (clua_ismodule(frame.source)) continue;
    memcpy(source, frame.short_src, LUA_IDSIZE);
    return frame.currentline;
  }
  return 0;
}

void clua_calls(lua_State *L, char *text, size_t size) {
  lua_Debug frame;
  size_t length = 0;
  *text = 0;
  for (int level = 0; lua_getstack(L, level, &frame) && length < size; level++) {
    clua_plain.getinfo(L, "Sln", &frame);
    if (frame.currentline <= 0 || clua_ismodule(frame.source)) continue;
    const char *kind = *frame.what == 'm' ? "in main chunk" : "in function";
    length += (size_t)snprintf(
        text + length, size - length, "%s%s:%d: %s%s%s", length ? "\n" : "", frame.short_src,
        frame.currentline, kind, frame.name ? " " : "", frame.name ? frame.name : "");
  }
}

/* The place of a write that is reported later, and the frame of the report. */
static _Thread_local struct {
  const void *frame;
  int line;
} writer;
static const char writer_key = 0;

void clua_setwriter(lua_State *L, int function, int line) {
  lua_pushvalue(L, function);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &writer_key);
  writer.frame = frame_of(L);
  writer.line = line;
}

void clua_unsetwriter(lua_State *L) {
  writer.frame = NULL;
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &writer_key);
}

int clua_currentfunction(lua_State *L, int *level) {
  if (writer.frame && writer.frame == frame_of(L)) {
    if (writer.line) lua_rawgetp(L, LUA_REGISTRYINDEX, &writer_key);
    return writer.line;
  }
  return clua_runningfunction(L, level);
}

int clua_runningfunction(lua_State *L, int *level) {
  lua_Debug activation;
  while (lua_getstack(L, ++*level, &activation)) {
    clua_plain.getinfo(L, "lf", &activation);
    if (activation.currentline >= 0) return activation.currentline;
    lua_pop(L, 1);
  }
  return 0;
}

int clua_definition(lua_State *L, int index, char *source) {
  lua_Debug definition;
  lua_pushvalue(L, index);
  if (lua_type(L, -1) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return -1;
  }
  lua_getinfo(L, ">S", &definition);
  memcpy(source, definition.short_src, LUA_IDSIZE);
  return definition.linedefined;
}

const char *clua_capturename(lua_State *L, int function, int value) {
  function = lua_absindex(L, function);
  value = lua_absindex(L, value);
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, function, i)) != NULL; i++) {
    bool same = lua_rawequal(L, -1, value);
    lua_pop(L, 1);
    if (same) return name;
  }
  return NULL;
}

bool clua_equaltext(const char *a, const char *b) { return strcmp(a, b) == 0; }
