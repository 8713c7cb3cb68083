#include "pointers.h"

#include "clua_arena.h"

#include <string.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <sys/mman.h>

/* The system loads the program and its libraries at other addresses in each run. Lua uses such an
   address as it is when a C function or a light userdata is a key or is printed, and its cache of
   strings uses the addresses of C strings. The dynamic linker prefers the functions that the
   program defines here, as it does for those in modules.c, also for calls by the library itself.
   They jump to the library's functions unless the pointers are fixed. Then:

   - a C function without upvalues is replaced by a stub at a fixed address that jumps to it;
   - a light userdata that is an address in the program or a library is moved as if these began at
     fixed addresses. Others, on the heap or the stack, are not moved;
   - a text such as `file (0x55b2c0)` has the address of the userdata, not that of the object
     outside of Lua to which the userdata refers;
   - no string enters the cache, in which the address of the C string decides what a longer string
     displaces, and so whether a string of more than 40 bytes is made again.

   All this is for the main thread: a state that a module makes in another thread is not
   repeatable. */

/* A jump in assembly: compiled C would save and restore a register around the call. */
#if defined(__x86_64__)
#define JUMP(name) __asm__("jmpq *ccl_lua_" #name "(%rip)")
#else
#define JUMP(name) \
  __asm__("adrp x16, ccl_lua_" #name "\n ldr x16, [x16, :lo12:ccl_lua_" #name "]\n br x16")
#endif

/* Defines a function of Lua that jumps to the one in a variable, at first the library's. */
#define FORWARD(result, name, ...)                                               \
  __attribute__((visibility("hidden"))) result (*ccl_lua_##name)(__VA_ARGS__);   \
  __attribute__((naked)) result lua_##name(__VA_ARGS__) { JUMP(name); }          \
  static result (*library_##name)(__VA_ARGS__);                                  \
  __attribute__((constructor)) static void find_##name(void) {                   \
    library_##name = (__typeof__(library_##name))dlsym(RTLD_NEXT, "lua_" #name); \
    ccl_lua_##name = library_##name;                                             \
  }

FORWARD(void, pushcclosure, lua_State *L, lua_CFunction function, int count)
FORWARD(lua_CFunction, tocfunction, lua_State *L, int index)
FORWARD(void, pushlightuserdata, lua_State *L, void *pointer)
FORWARD(void *, touserdata, lua_State *L, int index)
FORWARD(const char *, pushstring, lua_State *L, const char *text)
FORWARD(const char *, pushfstring, lua_State *L, const char *format, ...)
FORWARD(int, getfield, lua_State *L, int index, const char *name)
FORWARD(void, setfield, lua_State *L, int index, const char *name)
FORWARD(int, getglobal, lua_State *L, const char *name)
FORWARD(void, setglobal, lua_State *L, const char *name)

static ccl_rawpointers raw;

static _Thread_local bool isfixed;

/* ---- Images ---------------------------------------------------------------------------------- */

/* Where the first image would begin. Nothing is there. */
static const uintptr_t IMAGES = (uintptr_t)0x1e0000000000;

/* The program or a library: addresses from `start` are moved by `shift`. */
typedef struct image {
  uintptr_t start, end, shift;
} image;

enum { MOST_IMAGES = 256 };
static image images[MOST_IMAGES];
static int count;
static uintptr_t next_place = IMAGES;

static bool is_known(uintptr_t start) {
  for (int i = 0; i < count; i++) {
    if (images[i].start == start) return true;
  }
  return false;
}

static int add_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  uintptr_t start = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
    if (first < start) start = first;
    if (last > end) end = last;
  }
  if (start >= end || is_known(start) || count == MOST_IMAGES) return 0;
  images[count++] = (image){start, end, next_place - start};
  next_place += (end - start + 0xfffff) & ~(uintptr_t)0xfffff;
  return 0;
}

static void *moved(const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  for (int i = 0; i < count; i++) {
    if (address >= images[i].start && address < images[i].end)
      return (void *)(address + images[i].shift);
  }
  return (void *)pointer;
}

static void *moved_back(void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  if (address < IMAGES || address >= next_place) return pointer;
  for (int i = 0; i < count; i++) {
    uintptr_t original = address - images[i].shift;
    if (original >= images[i].start && original < images[i].end) return (void *)original;
  }
  return pointer;
}

static void push_pointer(lua_State *L, void *pointer) {
  library_pushlightuserdata(L, isfixed ? moved(pointer) : pointer);
}

static void *to_userdata(lua_State *L, int index) {
  return moved_back(library_touserdata(L, index));
}

static int raw_get(lua_State *L, int index, const void *key) {
  return raw.get(L, index, isfixed ? moved(key) : key);
}

static void raw_set(lua_State *L, int index, const void *key) {
  raw.set(L, index, isfixed ? moved(key) : key);
}

/* ---- Functions ------------------------------------------------------------------------------- */

static char *const STUBS = (char *)0x1f0000000000;

enum { STUB = 8, MOST_STUBS = 1 << 13 };

/* The functions to which the stubs jump, a hash table; it follows the stubs. */
static lua_CFunction *targets;
static int stubs;

/* Writes a jump to the function in the entry of `targets` for this stub. The entry lies
   STUB * MOST_STUBS bytes after the stub. */
static void write_stub(char *stub) {
  const int distance = STUB * MOST_STUBS;
#ifdef __x86_64__
  // jmp *(distance - 6)(%rip); two breakpoints
  const int operand = distance - 6;
  memcpy(stub, "\xff\x25", 2);
  memcpy(stub + 2, &operand, sizeof operand);
  memcpy(stub + 6, "\xcc\xcc", 2);
#else
  // ldr x16, .+distance; br x16
  const unsigned code[2] = {0x58000010u | (unsigned)distance / 4 << 5, 0xd61f0200u};
  memcpy(stub, code, sizeof code);
#endif
}

static bool make_stubs(void) {
  const size_t size = STUB * MOST_STUBS;
  char *memory = clua_arena_map(STUBS, 2 * size);
  if (!memory) return false;
  for (size_t i = 0; i < size; i += STUB) write_stub(memory + i);
  __builtin___clear_cache(memory, memory + size);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, 2 * size);
    return false;
  }
  targets = (lua_CFunction *)(memory + size);
  return true;
}

static lua_CFunction stub_of(lua_CFunction function) {
  void *place = moved((void *)function);
  if (place == (void *)function) {
    // The function may be that of a module which was loaded just now.
    dl_iterate_phdr(add_image, NULL);
    place = moved((void *)function);
  }
  size_t i = (uintptr_t)place * 0x9e3779b97f4a7c15u >> 51;
  while (targets[i] && targets[i] != function) i = (i + 1) % MOST_STUBS;
  if (!targets[i]) {
    if (stubs == MOST_STUBS / 2) {
      clua_arena_miss();
      return function;
    }
    stubs++;
    targets[i] = function;
  }
  return (lua_CFunction)(STUBS + STUB * i);
}

static void push_function(lua_State *L, lua_CFunction function, int upvalues) {
  bool isstub = isfixed && upvalues == 0 && targets;
  library_pushcclosure(L, isstub ? stub_of(function) : function, upvalues);
}

static lua_CFunction to_function(lua_State *L, int index) {
  lua_CFunction function = library_tocfunction(L, index);
  size_t offset = (uintptr_t)function - (uintptr_t)STUBS;
  return targets && offset < STUB * MOST_STUBS ? targets[offset / STUB] : function;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static const char *push_string(lua_State *L, const char *text) {
  if (text) return lua_pushlstring(L, text, strlen(text));
  lua_pushnil(L);
  return NULL;
}

static const char *push_formatted(lua_State *L, const char *format, ...) {
  const char *value = strchr(format, '%'), *text;
  bool is_pointer = value && value[1] == 'p' && !strchr(value + 2, '%');
  va_list values;
  va_start(values, format);
  if (is_pointer && isfixed && lua_type(L, 1) == LUA_TUSERDATA) {
    const void *pointer = va_arg(values, void *);
    if (!clua_arena_has(pointer)) pointer = library_touserdata(L, 1);
    text = library_pushfstring(L, format, pointer);
  } else {
    text = lua_pushvfstring(L, format, values);
  }
  va_end(values);
  return text;
}

static int get_field(lua_State *L, int index, const char *name) {
  index = lua_absindex(L, index);
  push_string(L, name);
  return lua_gettable(L, index);
}

static void set_field(lua_State *L, int index, const char *name) {
  index = lua_absindex(L, index);
  push_string(L, name);
  lua_insert(L, -2);
  lua_settable(L, index);
}

static int get_global(lua_State *L, const char *name) {
  lua_pushglobaltable(L);
  int type = get_field(L, -1, name);
  lua_remove(L, -2);
  return type;
}

static void set_global(lua_State *L, const char *name) {
  lua_pushglobaltable(L);
  lua_insert(L, -2);
  set_field(L, -2, name);
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------------------------------------- */

bool ccl_fixpointers(void) {
  isfixed = true;
  dl_iterate_phdr(add_image, NULL);
  bool done = make_stubs();
  ccl_lua_pushcclosure = push_function;
  ccl_lua_tocfunction = to_function;
  ccl_lua_pushlightuserdata = push_pointer;
  ccl_lua_touserdata = to_userdata;
  ccl_lua_pushstring = push_string;
  ccl_lua_pushfstring = push_formatted;
  ccl_lua_getfield = get_field;
  ccl_lua_setfield = set_field;
  ccl_lua_getglobal = get_global;
  ccl_lua_setglobal = set_global;
  raw = ccl_exchangeraw((ccl_rawpointers){raw_get, raw_set});
  return done;
}

#else

bool ccl_fixpointers(void) { return false; }

#endif
