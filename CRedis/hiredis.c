#include "credis.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* ---- The structures of hiredis, as far as they are read -------------------------------------- */

/* The beginning of the reader of a context, which holds the bytes that were read. */
typedef struct reader {
  int err;
  char errstr[128];
  const char *bytes;
  size_t place, length;
} reader;

/* The beginning of a context in hiredis 0.14. */
typedef struct context_0 {
  int err;
  char errstr[128];
  int fd, flags;
  char *output;
  reader *reader;
} context_0;

/* The same in hiredis 1.x. */
typedef struct context_1 {
  const void *funcs;
  int err;
  char errstr[128];
  int fd, flags;
  char *output;
  reader *reader;
} context_1;

/* ---- Loading --------------------------------------------------------------------------------- */

static struct {
  credis_context *(*redisConnectNonBlock)(const char *host, int port);
  credis_context *(*redisConnectUnixNonBlock)(const char *path);
  int (*redisAppendFormattedCommand)(credis_context *context, const char *bytes, size_t length);
  int (*redisBufferRead)(credis_context *context);
  int (*redisBufferWrite)(credis_context *context, int *done);
  void (*redisFree)(credis_context *context);
  reader *(*redisReaderCreate)(void);
  void (*redisReaderFree)(reader *reader);
} hiredis;

static struct {
  int (*redisInitOpenSSL)(void);
  void *(*redisCreateSSLContext)(const char *authorities, const char *path, const char *certificate,
                                 const char *key, const char *server, int *error);
  const char *(*redisSSLContextGetError)(int error);
  int (*redisInitiateSSLWithContext)(credis_context *context, void *ssl);
  void (*redisFreeSSLContext)(void *ssl);
} tls;

static const char *failure;
/* Whether the structures are those of hiredis 1.x. */
static bool recent, encrypts;

static bool find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  *(void **)function = found;
  return found;
}

static bool find_tls(void *library) {
  return find(library, "redisInitOpenSSL", &tls.redisInitOpenSSL) &&
         find(library, "redisCreateSSLContext", &tls.redisCreateSSLContext) &&
         find(library, "redisSSLContextGetError", &tls.redisSSLContextGetError) &&
         find(library, "redisInitiateSSLWithContext", &tls.redisInitiateSSLWithContext) &&
         find(library, "redisFreeSSLContext", &tls.redisFreeSSLContext) &&
         tls.redisInitOpenSSL() == 0;
}

static void load(void) {
  static const struct {
    const char *name, *tls;
    bool recent;
  } versions[] = {
#ifdef __APPLE__
    {"/opt/homebrew/lib/libhiredis.dylib", "/opt/homebrew/lib/libhiredis_ssl.dylib", true},
    {"/usr/local/lib/libhiredis.dylib", "/usr/local/lib/libhiredis_ssl.dylib", true},
#else
    {"libhiredis.so.1.3.0", "libhiredis_ssl.so.1.3.0", true},
    {"libhiredis.so.1.2.0", "libhiredis_ssl.so.1.2.0", true},
    {"libhiredis.so.1.1.0", "libhiredis_ssl.so.1.1.0", true},
    {"libhiredis.so.1.0.0", "libhiredis_ssl.so.1.0.0", true},
    {"libhiredis.so.0.14", NULL, false},
#endif
  };
  void *library = NULL;
  for (size_t i = 0; i < sizeof versions / sizeof *versions && !library; i++) {
    library = dlopen(versions[i].name, RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    recent = versions[i].recent;
    void *other = versions[i].tls ? dlopen(versions[i].tls, RTLD_NOW | RTLD_LOCAL) : NULL;
    encrypts = other && find_tls(other);
  }
  if (!library) {
    failure = "the library hiredis is not installed (Debian 12 has it in the package "
              "libhiredis0.14, Debian 13 in libhiredis1.1.0, Homebrew in hiredis)";
    return;
  }
  bool complete =
      find(library, "redisConnectNonBlock", &hiredis.redisConnectNonBlock) &&
      find(library, "redisConnectUnixNonBlock", &hiredis.redisConnectUnixNonBlock) &&
      find(library, "redisAppendFormattedCommand", &hiredis.redisAppendFormattedCommand) &&
      find(library, "redisBufferRead", &hiredis.redisBufferRead) &&
      find(library, "redisBufferWrite", &hiredis.redisBufferWrite) &&
      find(library, "redisFree", &hiredis.redisFree) &&
      find(library, "redisReaderCreate", &hiredis.redisReaderCreate) &&
      find(library, "redisReaderFree", &hiredis.redisReaderFree);
  if (!complete) failure = "the installed library hiredis lacks a function";
}

const char *credis_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return failure;
}

bool credis_hastls(void) { return encrypts; }

/* ---- Connections ----------------------------------------------------------------------------- */

credis_context *credis_connect(const char *path, const char *host, int port) {
  credis_context *context =
      path ? hiredis.redisConnectUnixNonBlock(path) : hiredis.redisConnectNonBlock(host, port);
#ifdef __APPLE__
  int on = 1;
  if (context && !*credis_error(context)) {
    setsockopt(credis_descriptor(context), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
  }
#endif
  return context;
}

const char *credis_encrypt(credis_context *context, const char *authorities,
                           const char *certificate, const char *key, const char *server) {
  int error = 0;
  void *ssl = tls.redisCreateSSLContext(authorities, NULL, certificate, key, server, &error);
  if (!ssl) return tls.redisSSLContextGetError(error);
  int status = tls.redisInitiateSSLWithContext(context, ssl);
  /* The connection keeps what it needs of it. */
  tls.redisFreeSSLContext(ssl);
  return status == 0 ? NULL : credis_error(context);
}

bool credis_send(credis_context *context, const void *bytes, size_t length) {
  return hiredis.redisAppendFormattedCommand(context, bytes, length) == 0;
}

/* hiredis writes without MSG_NOSIGNAL: a connection that is broken must not end the process. On
   macOS the socket has an option for that. */
#ifdef __APPLE__

typedef int quiet;

static quiet begin_quiet(void) { return 0; }

static void end_quiet(const quiet *state) { (void)state; }

#else

typedef struct quiet {
  sigset_t former;
  bool pending;
} quiet;

static quiet begin_quiet(void) {
  quiet state;
  sigset_t pipes, pending;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  sigpending(&pending);
  state.pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipes, &state.former);
  return state;
}

static void end_quiet(const quiet *state) {
  if (!state->pending) {
    sigset_t pipes;
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    const struct timespec now = {0, 0};
    sigtimedwait(&pipes, NULL, &now);
  }
  pthread_sigmask(SIG_SETMASK, &state->former, NULL);
}

#endif

/* Where a context has its reader. */
static reader **reader_of(credis_context *context) {
  return recent ? &((context_1 *)context)->reader : &((context_0 *)context)->reader;
}

const char *credis_read(credis_context *context, size_t *length) {
  /* hiredis appends to the bytes in the reader, and removes bytes only when it parses replies,
     which it never does here. So each call begins with an empty reader. */
  reader **place = reader_of(context);
  if ((*place)->length > 0) {
    reader *empty = hiredis.redisReaderCreate();
    if (!empty) return NULL;
    hiredis.redisReaderFree(*place);
    *place = empty;
  }
  quiet state = begin_quiet();
  bool failed = hiredis.redisBufferRead(context) != 0;
  end_quiet(&state);
  *length = (*place)->length;
  return failed ? NULL : (*place)->bytes;
}

int credis_write(credis_context *context) {
  int done = 0;
  quiet state = begin_quiet();
  bool failed = hiredis.redisBufferWrite(context, &done) != 0;
  end_quiet(&state);
  return failed ? CREDIS_FAILED : done ? CREDIS_DONE : CREDIS_MORE;
}

void credis_free(credis_context *context) { hiredis.redisFree(context); }

int credis_descriptor(const credis_context *context) {
  return recent ? ((const context_1 *)context)->fd : ((const context_0 *)context)->fd;
}

const char *credis_error(const credis_context *context) {
  return recent ? ((const context_1 *)context)->errstr : ((const context_0 *)context)->errstr;
}
