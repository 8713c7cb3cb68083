#include "ccl_outside.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && defined(__GLIBC__) && defined(__LP64__)

#include <link.h>

/* Calls of a library to the C library go through its table of imported functions. The entries
   for functions that read or change the world outside are replaced by those below, in Lua's library
   and in each C module. The program's own calls, and those of Swift, are not affected. */

static ccl_outside outside;

/* Only calls in the main thread of the program are inputs: those of other threads have no order,
   and a child process that a module starts does not belong to the run. */
static pthread_t owner;
static pid_t process;

static bool is_watched(void) { return pthread_equal(pthread_self(), owner) && getpid() == process; }

/* Defines a call: its results come from `take`, or else from `make`, which fills `input`. */
#define EXCHANGE(kind, input, make)               \
  do {                                            \
    if (!is_watched()) {                          \
      make;                                       \
    } else if (!outside.take(kind, &(input))) {   \
      make;                                       \
      outside.note(kind, &(input));               \
    }                                             \
  } while (0)

/* The result of a call that sets `errno` if it returns a negative number. */
#define RESULT(input, call)                                 \
  do {                                                      \
    (input).result = (call);                                \
    if ((input).result < 0) (input).error = errno;          \
  } while (0)

static long long finish(const ccl_input *input) {
  if (input->error) errno = input->error;
  return input->result;
}

/* Copies the bytes of a replayed call to the place where a real call puts them; returns how many
   there are. */
static size_t copy_result(const ccl_input *input, void *place, size_t size) {
  if (!input->bytes) return 0;
  size_t count = input->count < size ? input->count : size;
  if (input->bytes != place) memcpy(place, input->bytes, count);
  return count;
}

/* The result of a call that reads bytes; a damaged recording may count more than it has. */
static ssize_t finish_reading(ccl_input *input, void *place, size_t size) {
  size_t count = copy_result(input, place, size);
  if (input->result > (long long)count) input->result = (long long)count;
  return finish(input);
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* A stream whose bytes come from `real`, or in a replay from the recording. */
typedef struct stream {
  FILE *real;
  int descriptor;
  bool is_process;
  /* 1 or 2 if the script opened the standard output or the standard errors by a path; else -1. */
  int output;
  char name[24];
  char buffer[4096];
} stream;

static FILE *original_input;

static ssize_t read_stream(void *context, char *place, size_t size) {
  stream *from = context;
  ccl_input input = {.about = from->name};
  EXCHANGE("read", input, {
    RESULT(input, read(from->descriptor, place, size));
    if (input.result > 0) {
      input.bytes = place;
      input.count = (size_t)input.result;
    }
  });
  return finish_reading(&input, place, size);
}

static ssize_t write_stream(void *context, const char *bytes, size_t size) {
  stream *to = context;
  ccl_input input = {.about = to->name};
  EXCHANGE("write", input, RESULT(input, write(to->descriptor, bytes, size)));
  if (input.result > (long long)size) input.result = (long long)size;
  // The output of the program is the same in a replay, by whatever name the script opened it.
  if (!to->real && to->output >= 0 && input.result > 0) {
    ssize_t written = write(to->output, bytes, (size_t)input.result);
    (void)written;
  }
  // The C library takes 0 for a failure here.
  return finish(&input) < 0 ? 0 : input.result;
}

static int seek_stream(void *context, off64_t *offset, int origin) {
  stream *in = context;
  ccl_input input = {.about = in->name};
  EXCHANGE("seek", input, RESULT(input, lseek(in->descriptor, *offset, origin)));
  if (finish(&input) < 0) return -1;
  *offset = input.result;
  return 0;
}

static int close_stream(void *context) {
  stream *closed = context;
  ccl_input input = {.about = closed->name};
  EXCHANGE("fclose", input, {
    RESULT(input, closed->is_process ? pclose(closed->real) : fclose(closed->real));
  });
  int result = (int)finish(&input);
  free(closed);
  return result;
}

/* Returns a stream that takes its bytes from another one, or in a replay from the recording. */
static FILE *wrap(stream template, const char *mode, bool is_terminal) {
  static int last;
  stream *made = malloc(sizeof *made);
  if (!made) return NULL;
  *made = template;
  snprintf(made->name, sizeof made->name, "#%d", ++last);
  cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
  FILE *shown = fopencookie(made, mode, functions);
  if (!shown) {
    free(made);
    return NULL;
  }
  setvbuf(shown, made->buffer, is_terminal ? _IOLBF : _IOFBF, sizeof made->buffer);
  // For modules that ask for the descriptor of a file.
  shown->_fileno = made->descriptor;
  return shown;
}

static int output_of(const char *path) {
  static const char *const paths[][2] = {
      {"/dev/stdout", "/dev/stderr"},
      {"/dev/fd/1", "/dev/fd/2"},
      {"/proc/self/fd/1", "/proc/self/fd/2"},
  };
  for (size_t i = 0; path && i < sizeof paths / sizeof *paths; i++) {
    for (int j = 0; j < 2; j++) {
      if (strcmp(path, paths[i][j]) == 0) return j + 1;
    }
  }
  return -1;
}

typedef FILE *opener(const char *about, const char *mode);

/* Set in the result for a stream that is a terminal. */
enum { TERMINAL = 1 << 30 };

static FILE *open_stream(
    const char *kind, const char *about, const char *mode, opener *open, bool is_process) {
  ccl_input input = {.about = about, .result = -1};
  FILE *real = NULL;
  EXCHANGE(kind, input, {
    real = open(about, mode);
    if (real) input.result = fileno(real) | (isatty(fileno(real)) ? TERMINAL : 0);
    else input.error = errno;
  });
  if (finish(&input) < 0) return NULL;
  stream made = {.real = real, .is_process = is_process, .output = -1};
  if (!is_process) made.output = output_of(about);
  made.descriptor = (int)(input.result & ~(long long)TERMINAL);
  return wrap(made, mode, (input.result & TERMINAL) != 0);
}

static FILE *make_temporary(const char *about, const char *mode) {
  (void)about, (void)mode;
  return tmpfile();
}

static FILE *out_fopen(const char *path, const char *mode) {
  return open_stream("fopen", path, mode, fopen, false);
}

static FILE *out_freopen(const char *path, const char *mode, FILE *former) {
  fclose(former);
  return out_fopen(path, mode);
}

static FILE *out_tmpfile(void) {
  return open_stream("tmpfile", NULL, "w+", make_temporary, false);
}

static FILE *out_popen(const char *command, const char *mode) {
  return open_stream("popen", command, mode, popen, true);
}

static FILE *get_input(const char *about, const char *mode) {
  (void)about, (void)mode;
  return original_input;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void set_text(ccl_input *input, const char *text) {
  input->bytes = text;
  input->count = text ? strlen(text) + 1 : 0;
}

/* A text that lives until the next one at the same place. */
static const char *kept(char **place, const ccl_input *input) {
  free(*place);
  *place = NULL;
  if (!input->bytes) return NULL;
  *place = strndup(input->bytes, input->count);
  return *place;
}

static time_t out_time(time_t *place) {
  ccl_input input = {0};
  EXCHANGE("time", input, input.result = time(NULL));
  if (place) *place = input.result;
  return input.result;
}

static clock_t out_clock(void) {
  ccl_input input = {0};
  EXCHANGE("clock", input, input.result = clock());
  return input.result;
}

static int out_clock_gettime(clockid_t which, struct timespec *place) {
  ccl_input input = {0};
  EXCHANGE("clock_gettime", input, {
    RESULT(input, clock_gettime(which, place));
    if (input.result >= 0) {
      input.bytes = place;
      input.count = sizeof *place;
    }
  });
  copy_result(&input, place, sizeof *place);
  return (int)finish(&input);
}

static int out_gettimeofday(struct timeval *place, void *zone) {
  (void)zone;
  ccl_input input = {0};
  EXCHANGE("gettimeofday", input, {
    RESULT(input, gettimeofday(place, NULL));
    input.bytes = place;
    input.count = sizeof *place;
  });
  copy_result(&input, place, sizeof *place);
  return (int)finish(&input);
}

static ssize_t out_getrandom(void *place, size_t count, unsigned flags) {
  ccl_input input = {0};
  EXCHANGE("getrandom", input, {
    RESULT(input, getrandom(place, count, flags));
    if (input.result > 0) {
      input.bytes = place;
      input.count = (size_t)input.result;
    }
  });
  return finish_reading(&input, place, count);
}

static pid_t out_getpid(void) {
  ccl_input input = {0};
  EXCHANGE("getpid", input, input.result = getpid());
  return (pid_t)input.result;
}

/* A variable of the recorded run, which stays where it is. */
typedef struct variable {
  char *name, *value;
  struct variable *next;
} variable;

static char *out_getenv(const char *name) {
  static variable *variables;
  char *real = NULL;
  ccl_input input = {.about = name};
  EXCHANGE("getenv", input, {
    real = getenv(name);
    set_text(&input, real);
  });
  if (real || !input.bytes) return real;
  variable *each = variables;
  while (each && strcmp(each->name, name) != 0) each = each->next;
  if (!each) {
    each = calloc(1, sizeof *each);
    if (!each) return NULL;
    *each = (variable){strdup(name), strndup(input.bytes, input.count), variables};
    variables = each;
  }
  return each->value;
}

/* The C library copies the name to the stack, which a longer one could overflow. */
enum { LONGEST_LOCALE = 1000 };

static char *out_setlocale(int category, const char *name) {
  static char *value;
  char about[32];
  snprintf(about, sizeof about, "%d %s", category, name ? name : "");
  ccl_input input = {.about = about};
  bool is_new = name != NULL;
  EXCHANGE("setlocale", input, {
    set_text(&input, setlocale(category, name));
    is_new = false;
  });
  // The name "" means those of the environment, so the result is set.
  bool is_short = input.count <= LONGEST_LOCALE;
  if (is_new && input.bytes && (!is_short || !setlocale(category, input.bytes)))
    outside.refuse("a locale that this machine does not have");
  return (char *)kept(&value, &input);
}

void ccl_loadlocale(const char *name) {
  if (strlen(name) <= LONGEST_LOCALE) newlocale(LC_ALL_MASK, name, NULL);
}

/* The fields of a time up to the name of its zone, which follows. */
enum { TIME_FIELDS = offsetof(struct tm, tm_zone) };

static struct tm *out_localtime_r(const time_t *time, struct tm *place) {
  static char zone[64];
  char bytes[TIME_FIELDS + sizeof zone] = {0};
  ccl_input input = {.result = -1};
  EXCHANGE("localtime", input, {
    if (localtime_r(time, place)) {
      input.result = 0;
      memcpy(bytes, place, TIME_FIELDS);
      if (place->tm_zone) strncpy(bytes + TIME_FIELDS, place->tm_zone, sizeof zone - 1);
      input.bytes = bytes;
      input.count = TIME_FIELDS + strlen(bytes + TIME_FIELDS) + 1;
    } else {
      input.error = errno;
    }
  });
  if (finish(&input) < 0 || input.count <= TIME_FIELDS) return NULL;
  memcpy(place, input.bytes, TIME_FIELDS);
  strncpy(zone, (const char *)input.bytes + TIME_FIELDS, sizeof zone - 1);
  place->tm_zone = zone;
  return place;
}

static time_t out_mktime(struct tm *place) {
  ccl_input input = {0};
  EXCHANGE("mktime", input, {
    RESULT(input, mktime(place));
    input.bytes = place;
    input.count = TIME_FIELDS;
  });
  copy_result(&input, place, TIME_FIELDS);
  return finish(&input);
}

static int out_remove(const char *path) {
  ccl_input input = {.about = path};
  EXCHANGE("remove", input, RESULT(input, remove(path)));
  return (int)finish(&input);
}

static int out_rename(const char *old, const char *path) {
  char about[2 * PATH_MAX];
  snprintf(about, sizeof about, "%s to %s", old, path);
  ccl_input input = {.about = about};
  EXCHANGE("rename", input, RESULT(input, rename(old, path)));
  return (int)finish(&input);
}

static int out_system(const char *command) {
  ccl_input input = {.about = command};
  EXCHANGE("system", input, RESULT(input, system(command)));
  return (int)finish(&input);
}

/* The descriptor of `os.tmpname`, which closes it at once. */
static int temporary = -1;

static int out_mkstemp(char *template) {
  ccl_input input = {0};
  EXCHANGE("mkstemp", input, {
    RESULT(input, mkstemp(template));
    set_text(&input, template);
    temporary = -1;
  });
  if (input.bytes && input.bytes != template) {
    temporary = (int)input.result;
    memcpy(template, input.bytes, strnlen(input.bytes, strlen(template)));
  }
  return (int)finish(&input);
}

static int out_close(int descriptor) {
  if (descriptor < 0 || descriptor != temporary) return close(descriptor);
  temporary = -1;
  return 0;
}

static void watch_new_images(void);
static bool refuses_bytecode;

/* The modules that a replay may use: they were loaded before the process was locked. */
typedef struct module {
  char *path;
  void *library;
  struct module *next;
} module;

static module *modules;

void ccl_loadmodule(const char *path) {
  module *made = malloc(sizeof *made);
  if (!made) return;
  *made = (module){strdup(path), dlopen(path, RTLD_NOW | RTLD_LOCAL), modules};
  modules = made;
}

/* Returns the library that the recorded run loaded from `path`. If it was not loaded before the
   lock, the replay ends with a message that names the module. */
static void *find_module(const char *path, int flags) {
  const module *each = modules;
  while (each && (!path || !each->path || strcmp(each->path, path) != 0)) each = each->next;
  // Given the path from which it was loaded, `dlopen` finds the library without opening a file.
  if (each && each->library) return dlopen(each->path, flags | RTLD_NOLOAD);
  char what[PATH_MAX + 200];
  snprintf(what, sizeof what, "the C module '%s'%s", path ? path : "",
           each               ? ", which cannot be loaded here"
           : refuses_bytecode ? " (--trust allows modules in package.cpath of this machine)"
                              : ", which is not in package.cpath of this machine");
  outside.refuse(what);
  return NULL;
}

/* The message of the last `dlopen` that failed. */
static char *loading_error;

static void *out_dlopen(const char *path, int flags) {
  ccl_input input = {.about = path};
  void *library = NULL;
  EXCHANGE("dlopen", input, {
    library = dlopen(path, flags);
    input.result = library != NULL;
    set_text(&input, library ? NULL : dlerror());
  });
  if (!library && input.result) library = find_module(path, flags);
  if (library) watch_new_images();
  kept(&loading_error, &input);
  return library;
}

static char *out_dlerror(void) {
  static char *text;
  free(text);
  text = loading_error;
  loading_error = NULL;
  return text ? text : dlerror();
}

/* ---- Imported functions ---------------------------------------------------------------------- */

static const struct replaced {
  const char *name;
  void *function;
} REPLACED[] = {
    {"time", out_time}, {"clock", out_clock}, {"clock_gettime", out_clock_gettime},
    {"gettimeofday", out_gettimeofday}, {"getrandom", out_getrandom}, {"getpid", out_getpid},
    {"getenv", out_getenv}, {"setlocale", out_setlocale}, {"localtime_r", out_localtime_r},
    {"mktime", out_mktime}, {"fopen", out_fopen}, {"fopen64", out_fopen},
    {"freopen", out_freopen}, {"freopen64", out_freopen}, {"tmpfile", out_tmpfile},
    {"tmpfile64", out_tmpfile}, {"popen", out_popen}, {"remove", out_remove},
    {"rename", out_rename}, {"system", out_system}, {"mkstemp", out_mkstemp},
    {"mkstemp64", out_mkstemp}, {"close", out_close}, {"dlopen", out_dlopen},
    {"dlerror", out_dlerror},
};

/* Other functions that read or change the world outside. Their calls are named, as they cannot be
   replayed; a module that only could call them does no harm. */
static const char *const OTHERS[] = {
    "accept", "accept4", "access", "alarm", "arc4random", "arc4random_buf", "arc4random_uniform",
    "bind", "chdir", "chmod", "clock_nanosleep", "connect", "creat", "creat64", "dup", "dup2",
    "epoll_create1", "epoll_pwait", "epoll_wait", "eventfd", "execv", "execve", "execvp",
    "faccessat", "fcntl", "fcntl64", "fdopen", "fork", "fstat", "fstat64", "fstatat", "fstatat64",
    "ftruncate", "ftruncate64", "ftw", "ftw64", "getaddrinfo", "getcwd", "getentropy", "geteuid",
    "gethostbyname", "gethostname", "getlogin", "getpeername", "getppid", "getpwnam", "getpwuid",
    "getrusage", "getsockname", "getuid", "inotify_init", "inotify_init1", "ioctl", "isatty",
    "kill", "link", "listen", "localtime", "lstat", "lstat64", "mkdir", "mkdtemp", "mkfifo",
    "nanosleep", "nftw", "nftw64", "open", "open64", "openat", "openat64", "opendir", "pipe",
    "pipe2", "poll", "posix_spawn", "posix_spawnp", "ppoll", "pread", "pread64", "pselect",
    "pthread_create", "pwrite", "pwrite64", "rand", "random", "read", "readdir", "readdir64",
    "readlink", "readv", "realpath", "recv", "recvfrom", "recvmsg", "rmdir", "secure_getenv",
    "select", "send", "sendmsg", "sendto", "setenv", "sleep", "socket", "socketpair", "stat",
    "stat64", "statvfs", "statx", "symlink", "syscall", "timer_create", "times", "truncate",
    "truncate64", "uname", "unlink", "unsetenv", "usleep", "utime", "utimes", "vfork", "wait",
    "waitpid", "write", "writev", "__fxstat", "__getcwd_chk", "__gethostname_chk", "__lxstat",
    "__open64_2", "__open_2", "__poll_chk", "__pread_chk", "__read_chk", "__readlink_chk",
    "__realpath_chk", "__recv_chk", "__recvfrom_chk", "__xstat",
};

#define MOST_OTHERS 192
#define TEXT_OF(number) #number
#define REPEAT(number) ".rept " TEXT_OF(number) "\n"

enum { OTHER_COUNT = sizeof OTHERS / sizeof *OTHERS };
_Static_assert(OTHER_COUNT <= MOST_OTHERS, "each function needs a stub");

/* Stubs that name a call and go on to the function. No function of the list has arguments in
   registers for floating-point numbers. */
#if defined(__x86_64__)
__asm__(
    ".text\n .balign 16\n"
    "ccl_stubs:\n"
    ".set ccl_index, 0\n"
    REPEAT(MOST_OTHERS)
    "  pushq $ccl_index\n  jmp 1f\n  .balign 16\n"
    "  .set ccl_index, ccl_index + 1\n"
    ".endr\n"
    "1: pushq %rdi\n pushq %rsi\n pushq %rdx\n pushq %rcx\n"
    "  pushq %r8\n pushq %r9\n pushq %rax\n pushq %r10\n"
    "  movq 64(%rsp), %rdi\n"
    "  movq 72(%rsp), %rsi\n"
    "  call ccl_nameother\n"
    "  movq %rax, %r11\n"
    "  popq %r10\n popq %rax\n popq %r9\n popq %r8\n"
    "  popq %rcx\n popq %rdx\n popq %rsi\n popq %rdi\n"
    "  addq $8, %rsp\n"
    "  jmp *%r11\n");
#else
__asm__(
    ".text\n .balign 16\n"
    "ccl_stubs:\n"
    ".set ccl_index, 0\n"
    REPEAT(MOST_OTHERS)
    "  mov x17, #ccl_index\n  b 1f\n  .balign 16\n"
    "  .set ccl_index, ccl_index + 1\n"
    ".endr\n"
    "1: stp x0, x1, [sp, #-80]!\n stp x2, x3, [sp, #16]\n stp x4, x5, [sp, #32]\n"
    "  stp x6, x7, [sp, #48]\n stp x8, x30, [sp, #64]\n"
    "  mov x0, x17\n"
    "  mov x1, x30\n"
    "  bl ccl_nameother\n"
    "  mov x16, x0\n"
    "  ldp x8, x30, [sp, #64]\n ldp x6, x7, [sp, #48]\n ldp x4, x5, [sp, #32]\n"
    "  ldp x2, x3, [sp, #16]\n ldp x0, x1, [sp], #80\n"
    "  br x16\n");
#endif

extern const char ccl_stubs[] __attribute__((visibility("hidden")));

/* Names a call from this place in a C module, and returns the function. */
__attribute__((visibility("hidden"), used)) void *ccl_nameother(size_t index, void *place) {
  static bool is_named[MOST_OTHERS];
  int error = errno;
  if (is_watched() && !is_named[index]) {
    Dl_info module = {0};
    char what[400];
    is_named[index] = true;
    dladdr(place, &module);
    snprintf(what, sizeof what, "%s calls %s", module.dli_fname ? module.dli_fname : "a C module",
             OTHERS[index]);
    outside.refuse(what);
  }
  errno = error;
  return dlsym(RTLD_DEFAULT, OTHERS[index]);
}

static void *replacement_of(const char *name) {
  for (size_t i = 0; i < sizeof REPLACED / sizeof *REPLACED; i++) {
    if (strcmp(REPLACED[i].name, name) == 0) return REPLACED[i].function;
  }
  return NULL;
}

static void *stub_of(const char *name) {
  for (size_t i = 0; i < OTHER_COUNT; i++) {
    if (strcmp(OTHERS[i], name) == 0) return (void *)(ccl_stubs + 16 * i);
  }
  return NULL;
}

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, DATA_SLOT = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#else
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, DATA_SLOT = R_AARCH64_GLOB_DAT, WORD = R_AARCH64_ABS64 };
#endif

enum { MOST_IMAGES = 512 };

/* The libraries that are loaded, by their first addresses. */
static ElfW(Addr) known[MOST_IMAGES];
static int known_count;

typedef struct search {
  /* The first address of Lua's library if it is sought, or NULL: all new libraries. */
  void *sought;
  bool is_done;
} search;

static void replace_slot(ElfW(Addr) *slot, void *function) {
  uintptr_t page = (uintptr_t)slot & -(uintptr_t)sysconf(_SC_PAGESIZE);
  // The slot may be read-only after the program has started.
  if (mprotect((void *)page, sizeof *slot + ((uintptr_t)slot - page), PROT_READ | PROT_WRITE) == 0)
    *slot = (ElfW(Addr))function;
  else
    outside.refuse("a C module whose calls the system does not let the program see");
}

static void watch_slots(
    search *search, ElfW(Addr) base, const ElfW(Rela) *entries, size_t size,
    const ElfW(Sym) *symbols, const char *names) {
  for (size_t i = 0; entries && i < size / sizeof *entries; i++) {
    unsigned kind = (unsigned)ELF64_R_TYPE(entries[i].r_info);
    if (kind != JUMP_SLOT && kind != DATA_SLOT && kind != WORD) continue;
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entries[i].r_info)];
    if (symbol->st_shndx != SHN_UNDEF) continue;
    const char *name = names + symbol->st_name;
    void *function = replacement_of(name);
    if (!function && !search->sought) function = stub_of(name);
    if (function) replace_slot((ElfW(Addr) *)(base + entries[i].r_offset), function);
  }
}

static void watch_image(search *search, const struct dl_phdr_info *info) {
  const ElfW(Dyn) *entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  const ElfW(Rela) *jumps = NULL, *others = NULL;
  size_t jump_size = 0, other_size = 0;
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  for (; entry && entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
    case DT_JMPREL: jumps = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
    case DT_PLTRELSZ: jump_size = entry->d_un.d_val; break;
    case DT_RELA: others = (const ElfW(Rela) *)entry->d_un.d_ptr; break;
    case DT_RELASZ: other_size = entry->d_un.d_val; break;
    case DT_SYMTAB: symbols = (const ElfW(Sym) *)entry->d_un.d_ptr; break;
    case DT_STRTAB: names = (const char *)entry->d_un.d_ptr; break;
    }
  }
  if (!symbols || !names) return;
  watch_slots(search, info->dlpi_addr, jumps, jump_size, symbols, names);
  watch_slots(search, info->dlpi_addr, others, other_size, symbols, names);
  search->is_done = true;
}

static int visit_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  search *search = context;
  for (int i = 0; i < known_count; i++) {
    if (known[i] == info->dlpi_addr) return 0;
  }
  if (known_count < MOST_IMAGES) known[known_count++] = info->dlpi_addr;
  if (!search->sought || (ElfW(Addr))search->sought == info->dlpi_addr) watch_image(search, info);
  return 0;
}

/* Watches the libraries that came with a C module. */
static void watch_new_images(void) {
  search search = {0};
  dl_iterate_phdr(visit_image, &search);
}

/* ---- Bytecode -------------------------------------------------------------------------------- */

/* The library's function. */
static int (*load)(lua_State *, lua_Reader, void *, const char *, const char *);
__attribute__((constructor)) static void find_load(void) {
  load = (__typeof__(load))dlsym(RTLD_NEXT, "lua_load");
}

void ccl_refusebytecode(void) { refuses_bytecode = true; }

/* The reader of a chunk that must not be bytecode. */
typedef struct source {
  lua_Reader read;
  void *data;
  bool has_begun;
} source;

static const char *read_source(lua_State *L, void *data, size_t *size) {
  source *from = data;
  const char *piece = from->read(L, from->data, size);
  if (from->has_begun || !piece || *size == 0) return piece;
  from->has_begun = true;
  if (*piece != *LUA_SIGNATURE) return piece;
  outside.refuse("a chunk of bytecode (a replay loads it with --trust only)");
  luaL_error(L, "attempt to load a binary chunk in a replay");
  return NULL;
}

/* Whether the code at an address lies in the same program or library as this file. */
static bool is_own(const void *caller) {
  Dl_info other, own;
  return dladdr(caller, &other) && dladdr((void *)read_source, &own) &&
         other.dli_fbase == own.dli_fbase;
}

/* Like the functions in modules.c, this takes precedence over the library's function, also for
   calls inside the library. */
int lua_load(lua_State *L, lua_Reader reader, void *data, const char *name, const char *mode) {
  bool is_text = mode && !strchr(mode, 'b');
  if (!refuses_bytecode || is_text || is_own(__builtin_return_address(0)))
    return load(L, reader, data, name, mode);
  source from = {reader, data, false};
  return load(L, read_source, &from, name, mode);
}

/* ---------------------------------------------------------------------------------------------- */

bool ccl_watchoutside(ccl_outside functions, bool standard_input) {
  outside = functions;
  owner = pthread_self();
  process = getpid();
  Dl_info library = {0};
  dladdr(dlsym(RTLD_NEXT, "lua_newstate"), &library);
  search search = {.sought = library.dli_fbase};
  if (library.dli_fbase) dl_iterate_phdr(visit_image, &search);
  if (standard_input) {
    original_input = stdin;
    FILE *shown = open_stream("stdin", NULL, "r", get_input, false);
    if (shown) stdin = shown;
  }
  return search.is_done;
}

void ccl_watchcopy(void) { process = getpid(); }

void ccl_restoreinput(void) {
  if (original_input) stdin = original_input;
}

#else

static ccl_outside outside;

bool ccl_watchoutside(ccl_outside functions, bool standard_input) {
  (void)standard_input;
  outside = functions;
  return false;
}

void ccl_watchcopy(void) {}
void ccl_loadmodule(const char *path) { (void)path; }
void ccl_loadlocale(const char *name) { (void)name; }
void ccl_refusebytecode(void) {}
void ccl_restoreinput(void) {}

#endif

bool ccl_takeinput(const char *kind, ccl_input *input) {
  return outside.take && outside.take(kind, input);
}

void ccl_noteinput(const char *kind, const ccl_input *input) {
  if (outside.note) outside.note(kind, input);
}

/* ---- The build ------------------------------------------------------------------------------- */

/* FNV-1a over the words of a file. */
static uint64_t hash_file(uint64_t hash, const char *path) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0) return hash;
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED) {
      for (size_t i = 0; i + sizeof hash <= size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * 0x100000001b3;
      }
      munmap((void *)bytes, size);
    }
  }
  close(descriptor);
  return hash;
}

uint64_t ccl_buildnumber(void) {
  Dl_info info;
  uint64_t hash = hash_file(0xcbf29ce484222325, "/proc/self/exe");
  void *function = dlsym(RTLD_NEXT, "lua_newstate");
  if (function && dladdr(function, &info)) hash = hash_file(hash, info.dli_fname);
  return hash;
}
