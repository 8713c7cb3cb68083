#include "clua.h"

/* Names without arguments are not macros: these are the functions that the linker finds. */
clua_plainfunctions clua_plain = {
  .next = lua_next,
  .rawget = lua_rawget,
  .rawgeti = lua_rawgeti,
  .rawgetp = lua_rawgetp,
  .rawset = lua_rawset,
  .rawseti = lua_rawseti,
  .rawsetp = lua_rawsetp,
  .rawlen = lua_rawlen,
  .getmetatable = lua_getmetatable,
  .setmetatable = lua_setmetatable,
  .getinfo = lua_getinfo,
};
