#include "clua_modules.h"
#include "shape.h"

#include <string.h>

/* Names of metamethods. A forwarder calls the script's function by a tail call, so that errors and
   levels are right, but Lua has no name for a function called like this. So the finder records the
   name of the forwarder's call, its activation, which the function takes over, and the function.
   `lua_getinfo` uses the name if both match. Entries are not removed: if the same activation later
   calls the same function by a tail call, that call has the name, too. */

/* The entries of all activations with the same hash, latest first. */
static clua_forwarded *entries_of(clua_shared *shared, const void *activation) {
  // Activations lie at regular distances, which the golden ratio spreads.
  uint32_t bits = (uint32_t)((uintptr_t)activation >> 4) * UINT32_C(0x9E3779B9);
  return shared->forwarded[(bits >> 16) % CLUA_FORWARDED_HASHES];
}

void clua_noteforwarded(lua_State *L) {
  // Only a program that defines a function of this name reads the records.
  if (clua_plain.getinfo == lua_getinfo) return;
  lua_Debug forwarder;
  if (!lua_getstack(L, 1, &forwarder)) return;
  clua_plain.getinfo(L, "n", &forwarder);
  clua_forwarded *entries = entries_of(clua_shared_of(L), forwarder.i_ci);
  int place = 0;
  while (place < CLUA_FORWARDED - 1 && entries[place].activation != forwarder.i_ci) place++;
  for (; place > 0; place--) entries[place] = entries[place - 1];
  entries[0] = (clua_forwarded){
    .activation = forwarder.i_ci,
    .function = lua_topointer(L, -1),
    // Names of variables may be gone when this is read.
    .name = strcmp(forwarder.namewhat, "metamethod") == 0 ? forwarder.name : NULL,
  };
}

/* The record of an activation; NULL if there is no record. */
static const clua_forwarded *noted_of(lua_State *L, const void *activation) {
  // The state may have been made by a C module.
  lua_rawgetp(L, LUA_REGISTRYINDEX, &clua_shared_key);
  clua_shared *shared = (clua_shared *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!shared) return NULL;
  const clua_forwarded *entries = entries_of(shared, activation);
  for (int i = 0; i < CLUA_FORWARDED; i++) {
    if (entries[i].activation == activation) return &entries[i];
  }
  return NULL;
}

int clua_modulegetinfo(lua_State *L, const char *what, lua_Debug *info) {
  int known = clua_plain.getinfo(L, what, info);
  if (*what == '>' || !strpbrk(what, "nt")) return known;
  const clua_forwarded *noted = noted_of(L, info->i_ci);
  if (!noted || !lua_checkstack(L, 1)) return known;
  lua_Debug call = *info;
  clua_plain.getinfo(L, "ft", &call);
  bool forwarded = call.istailcall && lua_topointer(L, -1) == noted->function;
  lua_pop(L, 1);
  if (!forwarded) return known;
  if (strchr(what, 't')) info->istailcall = 0;
  if (strchr(what, 'n') && noted->name) {
    info->name = noted->name;
    info->namewhat = "metamethod";
  }
  return known;
}
