// The files in Lua, as bytes of the program.
#include "cscripts.h"
#include "clua_protected.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

// The files as text. An interruption waits for the end of code that is called "=obs".
static const cscripts_chunk texts[] = {
  {"obs", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/obs.lua"
    , 0}},
  {"late", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/late.lua"
    , 0}},
  {"finish", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/finish.lua"
    , 0}},
  {"lazy", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/lazy.lua"
    , 0}},
  {"backed", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/backed.lua"
    , 0}},
  {"bind", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/bind.lua"
    , 0}},
  {"collections", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/collections.lua"
    , 0}},
  {"events", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/events.lua"
    , 0}},
  {"graph", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/graph.lua"
    , 0}},
  {"models", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/models.lua"
    , 0}},
  {"native", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/native.lua"
    , 0}},
  {"options", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/options.lua"
    , 0}},
  {"reading", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/reading.lua"
    , 0}},
  {"recording", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/recording.lua"
    , 0}},
  {"inspecting", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/inspecting.lua"
    , 0}},
  {"trees", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/trees.lua"
    , 0}},
  {"diff", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/diff.lua"
    , 0}},
  {"writing", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/writing.lua"
    , 0}},
  {"apply", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/apply.lua"
    , 0}},
  {"invert", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/invert.lua"
    , 0}},
  {"merge", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/merge.lua"
    , 0}},
  {"changes", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/changes.lua"
    , 0}},
  {"others", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/others.lua"
    , 0}},
  {"origins", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/origins.lua"
    , 0}},
  {"history", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/history.lua"
    , 0}},
  {"transactions", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/transactions.lua"
    , 0}},
  {"mirrors", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/mirrors.lua"
    , 0}},
  {"tasks", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/tasks.lua"
    , 0}},
  {"reload", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Prelude/reload.lua"
    , 0}},
  {"luv", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Outside/luv.lua"
    , 0}},
  {"luvloop", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Outside/luvloop.lua"
    , 0}},
  {"io", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Outside/io.lua"
    , 0}},
  {"debugprompt", "=obs", 0, (const char[]) {
#embed "../Sources/LuaObservables/Debugging/debugprompt.lua"
    , 0}},
  {"printing", "=obs.prompt", 0, (const char[]) {
#embed "../Sources/LuaObservables/Printing/printing.lua"
    , 0}},
  {"completion", "=obs.prompt", 0, (const char[]) {
#embed "../Sources/LuaObservables/Completion/completion.lua"
    , 0}},
  {"checks", "=[checks]", 0, (const char[]) {
#embed "../Sources/FixtureChecks/Checks/checks.lua"
    , 0}},
  {"cases", "=[checks]", 0, (const char[]) {
#embed "../Sources/FixtureChecks/Checks/cases.lua"
    , 0}},
  {"spies", "=[checks]", 0, (const char[]) {
#embed "../Sources/FixtureChecks/Checks/spies.lua"
    , 0}},
  {"assertions", "=[checks]", 0, (const char[]) {
#embed "../Sources/FixtureChecks/Checks/assertions.lua"
    , 0}},
  {"recordings", "=recordings", 0, (const char[]) {
#embed "../Sources/obs-lua/Recordings/recordings.lua"
    , 0}},
  {"coverage", "=coverage", 0, (const char[]) {
#embed "../Sources/obs-lua/Testing/coverage.lua"
    , 0}},
  {0},
};

#ifdef __ELF__
extern const cscripts_compiled obs_lua_compiled __attribute__((weak));

// Another version of Lua may read bytecode in another way.
static const cscripts_chunk *compiled(void) {
  if (!&obs_lua_compiled || !strstr(lua_ident, obs_lua_compiled.copyright)) return NULL;
  return obs_lua_compiled.chunks;
}
#else
static const cscripts_chunk *compiled(void) { return NULL; }
#endif

int cscripts_try_load(lua_State *L, const char *name) {
  const cscripts_chunk *chunk = compiled();
  if (!chunk) chunk = texts;
  while (chunk->name && strcmp(chunk->name, name) != 0) chunk++;
  if (!chunk->name) {
    fprintf(stderr, "the program has no file '%s.lua'\n", name);
    abort();
  }
  size_t count = chunk->count ? chunk->count : strlen(chunk->bytes);
  return clua_try_load(L, chunk->bytes, count, chunk->source, "bt");
}
