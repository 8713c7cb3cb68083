#include "ccl_modules.h"

#include "clua_modules.h"
#include "pointers.h"

#ifdef __linux__

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Calls from a native module, to which observed tables are not shown, are recognized by their
   return address. While there is such a module, each call costs a comparison with the memory range
   of the last caller. */

/* ---- Native modules -------------------------------------------------------------------------- */

/* The function of a module's library that `require` calls. */
typedef struct left {
  char *symbol;
  struct left *next;
} left;

/* A range of memory that belongs to one library. */
typedef struct part {
  uintptr_t start, end;
  bool alone;
  int version;
} part;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static left *all_left;
/* Counts the changes of `all_left`; 0 while it is empty. */
static int version;
static int changes;
/* Threads started by a module may use separate states. */
static _Thread_local part last;

/* Whether a library has a function itself, and not one of its dependencies. */
static bool has_symbol(void *handle, const void *base, const char *symbol) {
  void *function = dlsym(handle, symbol);
  Dl_info info;
  return function && dladdr(function, &info) && info.dli_fbase == base;
}

static bool is_left(const Dl_info *info) {
  void *handle = dlopen(info->dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return false;
  bool found = false;
  pthread_mutex_lock(&lock);
  for (left *each = all_left; each && !found; each = each->next) {
    found = has_symbol(handle, info->dli_fbase, each->symbol);
  }
  pthread_mutex_unlock(&lock);
  dlclose(handle);
  return found;
}

/* Finds the segment of a library that contains the address in `sought`, and sets its bounds. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  part *sought = context;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
    if (sought->start < start || sought->start >= end) continue;
    sought->start = start;
    sought->end = end;
    return 1;
  }
  return 0;
}

__attribute__((noinline)) static bool find_caller(uintptr_t address, int current) {
  part found = {.start = address, .end = address + 1, .version = current};
  Dl_info info;
  if (dladdr((const void *)address, &info)) found.alone = is_left(&info);
  dl_iterate_phdr(find_segment, &found);
  last = found;
  return found.alone;
}

/* Whether the code at an address belongs to a native module. */
static inline bool is_alone(const void *caller) {
  int current = __atomic_load_n(&version, __ATOMIC_RELAXED);
  if (!current) return false;
  uintptr_t address = (uintptr_t)caller;
  if (last.version == current && address >= last.start && address < last.end) return last.alone;
  return find_caller(address, current);
}

/* The name of the function that opens a module: after a hyphen in the module's name, or else the
   part before it. */
static char *symbol_of(const char *name, size_t length) {
  static const char prefix[] = "luaopen_";
  char *symbol = malloc(sizeof prefix + length);
  if (!symbol) return NULL;
  memcpy(symbol, prefix, sizeof prefix - 1);
  char *end = symbol + sizeof prefix - 1;
  for (size_t i = 0; i < length; i++) end[i] = name[i] == '.' ? '_' : name[i];
  end[length] = 0;
  return symbol;
}

/* Takes ownership of `symbol`. */
static bool set_left(char *symbol, bool alone) {
  if (!symbol) return false;
  left **place = &all_left;
  while (*place && strcmp((*place)->symbol, symbol) != 0) place = &(*place)->next;
  if (*place && !alone) {
    left *gone = *place;
    *place = gone->next;
    free(gone->symbol);
    free(gone);
  } else if (!*place && alone) {
    left *added = malloc(sizeof *added);
    if (!added) {
      free(symbol);
      return false;
    }
    *added = (left){.symbol = symbol, .next = NULL};
    *place = added;
    return true;
  }
  free(symbol);
  return true;
}

bool ccl_setnative(const char *name, bool shown) {
  const char *hyphen = strchr(name, '-');
  pthread_mutex_lock(&lock);
  bool done;
  if (hyphen) {
    done = set_left(symbol_of(name, (size_t)(hyphen - name)), !shown) &&
           set_left(symbol_of(hyphen + 1, strlen(hyphen + 1)), !shown);
  } else {
    done = set_left(symbol_of(name, strlen(name)), !shown);
  }
  __atomic_store_n(&version, all_left ? ++changes : 0, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock);
  return done;
}

/* ---- The functions --------------------------------------------------------------------------- */

/* The library's functions. */
static clua_plainfunctions plain;
static bool shown;

__attribute__((constructor)) static void find_plain(void) {
  plain.next = (int (*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_next");
  plain.rawget = (int (*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_rawget");
  plain.rawgeti = (int (*)(lua_State *, int, lua_Integer))dlsym(RTLD_NEXT, "lua_rawgeti");
  plain.rawgetp = (int (*)(lua_State *, int, const void *))dlsym(RTLD_NEXT, "lua_rawgetp");
  plain.rawset = (void (*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_rawset");
  plain.rawseti = (void (*)(lua_State *, int, lua_Integer))dlsym(RTLD_NEXT, "lua_rawseti");
  plain.rawsetp = (void (*)(lua_State *, int, const void *))dlsym(RTLD_NEXT, "lua_rawsetp");
  plain.rawlen = (lua_Unsigned(*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_rawlen");
  plain.getmetatable = (int (*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_getmetatable");
  plain.setmetatable = (int (*)(lua_State *, int))dlsym(RTLD_NEXT, "lua_setmetatable");
  plain.getinfo =
      (int (*)(lua_State *, const char *, lua_Debug *))dlsym(RTLD_NEXT, "lua_getinfo");
  clua_plain = plain;
}

ccl_rawpointers ccl_exchangeraw(ccl_rawpointers functions) {
  ccl_rawpointers former = {plain.rawgetp, plain.rawsetp};
  plain.rawgetp = clua_plain.rawgetp = functions.get;
  plain.rawsetp = clua_plain.rawsetp = functions.set;
  return former;
}

bool ccl_showtables(void) { return shown = true; }

/* Whether observed tables are shown to the caller of the function that uses this. */
#define IS_SHOWN (shown && clua_isobserving() && !is_alone(__builtin_return_address(0)))

#undef lua_next
#undef lua_rawget
#undef lua_rawgeti
#undef lua_rawgetp
#undef lua_rawset
#undef lua_rawseti
#undef lua_rawsetp
#undef lua_rawlen
#undef lua_getmetatable
#undef lua_setmetatable

int lua_next(lua_State *L, int index) {
  return IS_SHOWN ? clua_modulenext(L, index) : plain.next(L, index);
}

int lua_rawget(lua_State *L, int index) {
  return IS_SHOWN ? clua_modulerawget(L, index) : plain.rawget(L, index);
}

int lua_rawgeti(lua_State *L, int index, lua_Integer key) {
  return IS_SHOWN ? clua_modulerawgeti(L, index, key) : plain.rawgeti(L, index, key);
}

int lua_rawgetp(lua_State *L, int index, const void *key) {
  return IS_SHOWN ? clua_modulerawgetp(L, index, key) : plain.rawgetp(L, index, key);
}

void lua_rawset(lua_State *L, int index) {
  if (IS_SHOWN) clua_modulerawset(L, index);
  else plain.rawset(L, index);
}

void lua_rawseti(lua_State *L, int index, lua_Integer key) {
  if (IS_SHOWN) clua_modulerawseti(L, index, key);
  else plain.rawseti(L, index, key);
}

void lua_rawsetp(lua_State *L, int index, const void *key) {
  if (IS_SHOWN) clua_modulerawsetp(L, index, key);
  else plain.rawsetp(L, index, key);
}

lua_Unsigned lua_rawlen(lua_State *L, int index) {
  return IS_SHOWN ? clua_modulerawlen(L, index) : plain.rawlen(L, index);
}

int lua_getmetatable(lua_State *L, int index) {
  return IS_SHOWN ? clua_modulegetmetatable(L, index) : plain.getmetatable(L, index);
}

int lua_setmetatable(lua_State *L, int index) {
  return IS_SHOWN ? clua_modulesetmetatable(L, index) : plain.setmetatable(L, index);
}

int lua_getinfo(lua_State *L, const char *what, lua_Debug *info) {
  bool named = shown && clua_isobserving();
  return named ? clua_modulegetinfo(L, what, info) : plain.getinfo(L, what, info);
}

#else

bool ccl_showtables(void) { return false; }

bool ccl_setnative(const char *name, bool shown) {
  (void)name;
  return !shown;
}

#endif
