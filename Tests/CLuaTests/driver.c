/* Runs Lua scripts with observed tables but without the engine: a stand-in for `obs` in Lua calls
   the C functions directly.

     driver script [arguments]        the script, with `require "obs"`
     driver --fuzz generate.lua first last   random programs, plain and observed, outputs compared
     driver --plain|--observed program       one of the two

   Tests/CLuaTests/run builds it, also with sanitizers, and runs everything. */
#include "clua.h"
#include "clua_allocator.h"
#include "clua_collections.h"
#include "clua_observed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The stand-in for the engine ------------------------------------------------------------- */

typedef struct owner owner;
typedef struct slot {
  clua_slot head;
  int uses;
  struct slot *next;
  owner *owner;
} slot;
struct owner { slot *slots; slot *every; };

static int live_owners, ended_owners;
/* Errors in write notifications, which run outside of the script's protected calls. */
static int faults;
static uint64_t armings = 1;

static void note_fault(lua_State *L, const char *where) {
  fprintf(stderr, "%s: %s\n", where, lua_tostring(L, -1));
  faults++;
}

static int call_written(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "driver.written");
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

static void call(lua_State *L, const clua_write *write, int key) {
  int top = lua_gettop(L);
  lua_checkstack(L, 12);
  lua_pushcfunction(L, call_written);
  clua_node_pushtable(L, write->node);
  lua_pushvalue(L, key);
  if (write->old) lua_pushvalue(L, write->old);
  else lua_pushnil(L);
  if (write->new_) lua_pushvalue(L, write->new_);
  else lua_pushnil(L);
  lua_pushboolean(L, write->slot != NULL);
  lua_pushboolean(L, write->every != NULL);
  if (lua_pcall(L, 6, 0, 0) != LUA_OK) note_fault(L, "written");
  lua_settop(L, top);
}

/* Calls the script's `on_edit` with a table of the fields of the write. */
static int call_edit(lua_State *L) {
  const clua_write *write = lua_touserdata(L, 1);
  static const char *const names[] = {"none", "insert", "remove", "move", "swap",
                                      "append", "clear", "range", "whole"};
  lua_getfield(L, LUA_REGISTRYINDEX, "driver.edit");
  lua_pushvalue(L, 2);
  lua_newtable(L);
  lua_pushstring(L, names[write->edit]);
  lua_setfield(L, -2, "kind");
  const struct { const char *name; lua_Integer value; } numbers[] = {
    {"at", write->at}, {"from", write->from}, {"count", write->count}, {"length", write->length},
    {"others", write->othercount},
  };
  for (int i = 0; i < 5; i++) {
    lua_pushinteger(L, numbers[i].value);
    lua_setfield(L, -2, numbers[i].name);
  }
  const char *const values[] = {"key", "old", "new", "element", "list"};
  for (int i = 0; i < 5; i++) {
    lua_pushvalue(L, 3 + i);
    lua_setfield(L, -2, values[i]);
  }
  lua_pushboolean(L, write->permutation);
  lua_setfield(L, -2, "permutation");
  lua_pushboolean(L, write->unsettled);
  lua_setfield(L, -2, "unsettled");
  lua_pushboolean(L, write->same);
  lua_setfield(L, -2, "same");
  lua_call(L, 2, 0);
  return 0;
}

static void written(void *context, lua_State *L, const clua_write *write) {
  (void)context;
  int top = lua_gettop(L);
  lua_checkstack(L, 20);
  if (lua_getfield(L, LUA_REGISTRYINDEX, "driver.edit") == LUA_TFUNCTION) {
    lua_pushcfunction(L, call_edit);
    lua_pushlightuserdata(L, (void *)write);
    clua_node_pushtable(L, write->node);
    const int values[] = {write->key, write->old, write->new_, write->element, write->list};
    for (int i = 0; i < 5; i++) {
      if (values[i]) lua_pushvalue(L, values[i]);
      else lua_pushnil(L);
    }
    if (lua_pcall(L, 7, 0, 0) != LUA_OK) note_fault(L, "edit");
  }
  lua_settop(L, top);
  if (write->slot || write->every) call(L, write, write->key);
  for (int i = 0; i < write->othercount; i++) {
    clua_node_pushkey(L, write->node, write->others[i].slot);
    call(L, &write->others[i], lua_gettop(L));
    lua_settop(L, top);
  }
}

static void free_owner(owner *owner) {
  while (owner->slots) {
    slot *next = owner->slots->next;
    free(owner->slots);
    owner->slots = next;
  }
  free(owner->every);
  free(owner);
  live_owners--;
}

static void ended(void *context, lua_State *L, clua_node *node, void *owner) {
  (void)context, (void)L, (void)node;
  ended_owners++;
  free_owner(owner);
}

static owner *owner_of(lua_State *L, bool make, clua_node **result) {
  luaL_checktype(L, 1, LUA_TTABLE);
  clua_node *node = make ? clua_node_make(L, 1) : clua_node_at(L, 1);
  *result = node;
  if (!node) return NULL;
  owner *owner = clua_node_owner(node);
  if (!owner && make) {
    owner = calloc(1, sizeof *owner);
    live_owners++;
    clua_node_setowner(node, owner);
  }
  return owner;
}

/* core.watch(t, every, key, wants) */
static int watch(lua_State *L) {
  clua_node *node;
  owner *owner = owner_of(L, true, &node);
  int wants = (int)luaL_optinteger(L, 4, CLUA_WANTS_CHANGES);
  slot *found;
  if (lua_toboolean(L, 2)) {
    found = owner->every;
    if (!found) {
      found = owner->every = calloc(1, sizeof *found);
      clua_node_watchevery(L, node, &found->head);
    }
  } else {
    found = (slot *)clua_node_slot(L, node, 3);
    if (!found) {
      found = calloc(1, sizeof *found);
      found->next = owner->slots;
      owner->slots = found;
      clua_node_watch(L, node, 3, &found->head);
      lua_pushvalue(L, 3);
      clua_node_pushkey(L, node, &found->head);
      if (!clua_same(L, -1, -2)) return luaL_error(L, "pushkey is wrong");
    }
  }
  found->uses++;
  found->head.wants = (uint8_t)wants;
  armings++;
  return 0;
}

/* core.quiet(t, every, key, wants): sets the wants of a slot */
static int quiet(lua_State *L) {
  clua_node *node;
  owner *owner = owner_of(L, false, &node);
  if (!owner) return 0;
  slot *found = lua_toboolean(L, 2) ? owner->every : (slot *)clua_node_slot(L, node, 3);
  if (found) found->head.wants = (uint8_t)luaL_checkinteger(L, 4);
  armings++;
  return 0;
}

/* core.unwatch(t, every, key) -> whether it was watched */
static int unwatch(lua_State *L) {
  clua_node *node;
  owner *owner = owner_of(L, false, &node);
  if (!owner) return 0;
  bool every = lua_toboolean(L, 2);
  slot *found = every ? owner->every : (slot *)clua_node_slot(L, node, 3);
  if (found && --found->uses == 0) {
    clua_node_unwatch(L, node, &found->head);
    if (every) {
      owner->every = NULL;
    } else {
      slot **link = &owner->slots;
      while (*link != found) link = &(*link)->next;
      *link = found->next;
    }
    free(found);
  }
  lua_pushboolean(L, found != NULL);
  return 1;
}

static int unobserve(lua_State *L) {
  clua_node *node;
  owner *owner = owner_of(L, false, &node);
  if (!node) return 0;
  if (owner && !owner->slots && !owner->every) {
    clua_node_setowner(node, NULL);
    free_owner(owner);
  }
  if (clua_node_owner(node)) clua_node_tidy(L, node);
  else clua_node_unobserve(L, node);
  return 0;
}

static int on_written(lua_State *L) {
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "driver.written");
  return 0;
}

static int on_edit(lua_State *L) {
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "driver.edit");
  return 0;
}

/* core.journal(t, on) */
static int journal(lua_State *L) {
  clua_node *node = clua_node_at(L, 1);
  if (node) clua_node_journal(L, node, lua_toboolean(L, 2));
  return 0;
}

static int observed(lua_State *L) {
  lua_pushboolean(L, clua_node_at(L, 1) != NULL);
  return 1;
}

static int recover(lua_State *L) {
  while (clua_recover(L)) {
  }
  return 0;
}

static int stats(lua_State *L) {
  lua_pushinteger(L, live_owners);
  lua_pushinteger(L, ended_owners);
  return 2;
}

static const char obs_source[] =
    "local core = ...\n"
    "local watchers, pending, touched = setmetatable({}, {__mode = 'k'}), {}, {}\n"
    "local next, pairs, type, tostring = next, pairs, type, tostring\n"
    "local obs = {core = core}\n"
    "local function parse(t, path)\n"
    "  if type(path) == 'table' then return path[1] == '*' and path.text, path[1] end\n"
    "  if path == '*' then return true end\n"
    "  if path:find('^%d+$') then return false, math.tointeger(path) end\n"
    "  local name, rest = path:gsub('\\\\(.)', '\\0%1'):match('^([^.]-)%f[.\\0](.*)$')\n"
    "  return false, (path:gsub('\\\\(.)', '%1'))\n"
    "end\n"
    "local ALL = {}\n"
    "function obs.path(...) return {...} end\n"
    "function obs.observe(t, path, callback)\n"
    "  local every, key = parse(t, path)\n"
    "  core.watch(t, every, key)\n"
    "  touched[t] = true\n"
    "  local of = watchers[t]\n"
    "  if not of then of = {}; watchers[t] = of end\n"
    "  local id = every and ALL or key\n"
    "  local list = of[id]\n"
    "  if not list then list = {}; of[id] = list end\n"
    "  local watcher = {t = false, callback = callback, active = true}\n"
    "  local weak = setmetatable({t = t}, {__mode = 'v'})\n"
    "  function watcher:stop()\n"
    "    if not self.active then return end\n"
    "    self.active = false\n"
    "    for i = #list, 1, -1 do if list[i] == self then table.remove(list, i) end end\n"
    "    if weak.t then core.unwatch(weak.t, every, key); touched[weak.t] = true end\n"
    "  end\n"
    "  list[#list + 1] = watcher\n"
    "  return watcher\n"
    "end\n"
    "function obs.stop(t, path)\n"
    "  local of, n = watchers[t], 0\n"
    "  if not of then return 0 end\n"
    "  local function stop(list)\n"
    "    for i = #list, 1, -1 do list[i]:stop(); n = n + 1 end\n"
    "  end\n"
    "  if path == nil then for _, list in pairs(of) do stop(list) end return n end\n"
    "  local every, key = parse(t, path)\n"
    "  local list = of[every and ALL or key]\n"
    "  if list then stop(list) end\n"
    "  return n\n"
    "end\n"
    "core.on_written(function(t, key, old, new, slot, every)\n"
    "  local of = watchers[t]\n"
    "  if not of then return end\n"
    "  local function mark(list, every)\n"
    "    if not list then return end\n"
    "    for _, watcher in ipairs(list) do\n"
    "      if not watcher.pending then\n"
    "        watcher.pending = true\n"
    "        pending[#pending + 1] = {watcher, t, every, key}\n"
    "      end\n"
    "    end\n"
    "    core.quiet(t, every, key, 0)\n"
    "  end\n"
    "  if slot then mark(of[key], false) end\n"
    "  if every then mark(of[ALL], true) end\n"
    "end)\n"
    "function obs.flush()\n"
    "  local calls = 0\n"
    "  local list = pending\n"
    "  pending = {}\n"
    "  for _, item in ipairs(list) do\n"
    "    local watcher, t = item[1], item[2]\n"
    "    watcher.pending = false\n"
    "    core.quiet(t, item[3], item[4], 1)\n"
    "  end\n"
    "  for _, item in ipairs(list) do\n"
    "    if item[1].active then calls = calls + 1; item[1].callback(item[2]) end\n"
    "  end\n"
    "  local settled = touched\n"
    "  touched = {}\n"
    "  for t in next, settled do core.unobserve(t) end\n"
    "  return calls\n"
    "end\n"
    "return obs\n";

static int open_obs(lua_State *L) {
  static const luaL_Reg functions[] = {
    {"watch", watch}, {"unwatch", unwatch}, {"quiet", quiet}, {"unobserve", unobserve},
    {"on_written", on_written}, {"on_edit", on_edit}, {"journal", journal},
    {"observed", observed}, {"stats", stats}, {"recover", recover},
    {NULL, NULL},
  };
  if (luaL_loadbuffer(L, obs_source, sizeof obs_source - 1, "=obs") != LUA_OK) lua_error(L);
  luaL_newlib(L, functions);
  lua_call(L, 1, 1);
  clua_pushconstructors(L);
  lua_setfield(L, -4, "set_of");
  lua_setfield(L, -3, "dictionary");
  lua_setfield(L, -2, "array");
  return 1;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct buffer { char *text; size_t length, size; } buffer;

static void append(buffer *buffer, const char *text, size_t length) {
  if (buffer->length + length + 1 > buffer->size) {
    buffer->size = (buffer->length + length + 1) * 2;
    buffer->text = realloc(buffer->text, buffer->size);
  }
  memcpy(buffer->text + buffer->length, text, length);
  buffer->length += length;
  buffer->text[buffer->length] = 0;
}

static int print(lua_State *L) {
  buffer *out = lua_touserdata(L, lua_upvalueindex(1));
  int n = lua_gettop(L);
  for (int i = 1; i <= n; i++) {
    size_t length;
    const char *text = luaL_tolstring(L, i, &length);
    if (i > 1) append(out, "\t", 1);
    append(out, text, length);
    lua_pop(L, 1);
  }
  append(out, "\n", 1);
  return 0;
}

static int install(lua_State *L) {
  clua_observation observation = {.written = written, .ended = ended, .armings = &armings};
  clua_observation_install(L, &observation);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, open_obs);
  lua_setfield(L, -2, "obs");
  return 0;
}

static int traceback(lua_State *L) {
  luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
  return 1;
}

static lua_State *new_state(bool observing) {
  // Two states may exist at a time.
  clua_home *home = calloc(1, sizeof *home);
  lua_State *L = clua_newstate(calloc(1, sizeof(clua_allocator)), home);
  luaL_openlibs(L);
  if (observing) {
    lua_pushcfunction(L, install);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
      fprintf(stderr, "install: %s\n", lua_tostring(L, -1));
      exit(2);
    }
  }
  return L;
}

static void close_state(lua_State *L) {
  clua_home *home = clua_home_of(L);
  clua_closestate(L);
  clua_allocator_end(home->allocator);
  free(home->allocator);
  free(home);
}

static void run_program(const char *text, size_t length, bool observing, buffer *out) {
  out->length = 0;
  append(out, "", 0);
  lua_State *L = new_state(observing);
  // Half of the programs run while the collector never rests.
  if (length % 2) lua_gc(L, LUA_GCINC, 50, 800, 3);
  else if (length % 4) lua_gc(L, LUA_GCGEN, 5, 5);
  lua_pushlightuserdata(L, out);
  lua_pushcclosure(L, print, 1);
  lua_setglobal(L, "print");
  lua_pushboolean(L, observing);
  lua_setglobal(L, "OBSERVE");
  lua_pushcfunction(L, traceback);
  if (luaL_loadbuffer(L, text, length, "=program") != LUA_OK ||
      lua_pcall(L, 0, 0, 1) != LUA_OK) {
    // Tracebacks may differ; messages may not.
    const char *message = lua_tostring(L, -1);
    const char *end = strchr(message, '\n');
    append(out, "error: ", 7);
    append(out, message, end ? (size_t)(end - message) : strlen(message));
    append(out, "\n", 1);
  }
  close_state(L);
}

static int fuzz(const char *generator, long first, long last) {
  lua_State *L = new_state(false);
  if (luaL_dofile(L, generator) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 2;
  }
  buffer plain = {0}, with = {0};
  int failures = 0;
  for (long seed = first; seed <= last; seed++) {
    lua_settop(L, 1);
    lua_getfield(L, 1, "generate");
    lua_pushinteger(L, seed);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      return 2;
    }
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    run_program(text, length, false, &plain);
    run_program(text, length, true, &with);
    if (live_owners) {
      printf("seed %ld: %d owners never ended\n", seed, live_owners);
      live_owners = 0;
      failures++;
    }
    if (strcmp(plain.text, with.text) != 0) {
      size_t at = 0;
      while (plain.text[at] && plain.text[at] == with.text[at]) at++;
      while (at > 0 && plain.text[at - 1] != '\n') at--;
      printf("seed %ld differs\n  plain:    %.*s\n  observed: %.*s\n", seed,
             (int)strcspn(plain.text + at, "\n"), plain.text + at,
             (int)strcspn(with.text + at, "\n"), with.text + at);
      fflush(stdout);
      if (++failures >= 10) break;
    }
  }
  if (faults) failures++;
  printf("%ld programs, %d failures\n", last - first + 1, failures);
  close_state(L);
  free(plain.text);
  free(with.text);
  return failures != 0;
}

/* differs(text): used by the generator to shrink a failing program */
static int differs(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  buffer plain = {0}, with = {0};
  run_program(text, length, false, &plain);
  run_program(text, length, true, &with);
  lua_pushboolean(L, strcmp(plain.text, with.text) != 0);
  lua_pushstring(L, plain.text);
  lua_pushstring(L, with.text);
  free(plain.text);
  free(with.text);
  return 3;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--fuzz") == 0) {
    return fuzz(argv[2], atol(argv[3]), atol(argv[4]));
  }
  bool plain = argc > 2 && strcmp(argv[1], "--plain") == 0;
  if (plain || (argc > 2 && strcmp(argv[1], "--observed") == 0)) argv++, argc--;
  else if (argc < 2) return 2;
  lua_State *L = new_state(!plain);
  lua_register(L, "differs", differs);
  if (strcmp(argv[0], "--plain") == 0 || strcmp(argv[0], "--observed") == 0) {
    lua_pushboolean(L, !plain);
    lua_setglobal(L, "OBSERVE");
  }
  lua_createtable(L, argc, 0);
  for (int i = 1; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  lua_pushcfunction(L, traceback);
  int status = luaL_loadfile(L, argv[1]);
  for (int i = 2; status == LUA_OK && i < argc; i++) lua_pushstring(L, argv[i]);
  if (status == LUA_OK) status = lua_pcall(L, argc - 2, 0, 1);
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  close_state(L);
  if (live_owners) fprintf(stderr, "%d owners never ended\n", live_owners);
  return status != LUA_OK || faults || live_owners;
}
