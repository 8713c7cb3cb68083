#include "credis.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* ---- The structures of hiredis, as far as they are read -------------------------------------- */

/* The beginning of a context in hiredis 0.14. */
typedef struct context_0 {
  int err;
  char errstr[128];
  int fd;
} context_0;

/* The same in hiredis 1.x. */
typedef struct context_1 {
  const void *funcs;
  int err;
  char errstr[128];
  int fd;
} context_1;

typedef struct reply_0 {
  int type;
  long long integer;
  size_t len;
  char *str;
  size_t elements;
  struct credis_reply **element;
} reply_0;

typedef struct reply_1 {
  int type;
  long long integer;
  double dval;
  size_t len;
  char *str;
  char vtype[4];
  size_t elements;
  struct credis_reply **element;
} reply_1;

/* ---- Loading --------------------------------------------------------------------------------- */

typedef void on_status(const credis_context *context, int status);

static struct {
  credis_context *(*redisAsyncConnect)(const char *host, int port);
  credis_context *(*redisAsyncConnectUnix)(const char *path);
  int (*redisAsyncSetConnectCallback)(credis_context *context, on_status *connected);
  int (*redisAsyncSetDisconnectCallback)(credis_context *context, on_status *disconnected);
  int (*redisAsyncCommandArgv)(credis_context *context, credis_onreply *replied, void *data,
                               int count, const char *const *arguments, const size_t *lengths);
  void (*redisAsyncHandleRead)(credis_context *context);
  void (*redisAsyncHandleWrite)(credis_context *context);
  int (*redisBufferWrite)(credis_context *context, int *done);
  void (*redisAsyncFree)(credis_context *context);
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
      find(library, "redisAsyncConnect", &hiredis.redisAsyncConnect) &&
      find(library, "redisAsyncConnectUnix", &hiredis.redisAsyncConnectUnix) &&
      find(library, "redisAsyncSetConnectCallback", &hiredis.redisAsyncSetConnectCallback) &&
      find(library, "redisAsyncSetDisconnectCallback", &hiredis.redisAsyncSetDisconnectCallback) &&
      find(library, "redisAsyncCommandArgv", &hiredis.redisAsyncCommandArgv) &&
      find(library, "redisAsyncHandleRead", &hiredis.redisAsyncHandleRead) &&
      find(library, "redisAsyncHandleWrite", &hiredis.redisAsyncHandleWrite) &&
      find(library, "redisBufferWrite", &hiredis.redisBufferWrite) &&
      find(library, "redisAsyncFree", &hiredis.redisAsyncFree);
  if (!complete) failure = "the installed library hiredis lacks a function";
}

const char *credis_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return failure;
}

bool credis_hastls(void) { return encrypts; }

/* ---- Connections ----------------------------------------------------------------------------- */

/* What happened in the call of hiredis that this thread makes. */
static _Thread_local struct {
  int happened;
  char reason[128];
} call;

static void note_end(const credis_context *context) {
  call.happened |= CREDIS_ENDED;
  snprintf(call.reason, sizeof call.reason, "%s", credis_error(context));
}

static void connected(const credis_context *context, int status) {
  if (status == 0) call.happened |= CREDIS_CONNECTED;
  else note_end(context);
}

static void disconnected(const credis_context *context, int status) {
  (void)status;
  note_end(context);
}

credis_context *credis_connect(const char *path, const char *host, int port) {
  credis_context *context =
      path ? hiredis.redisAsyncConnectUnix(path) : hiredis.redisAsyncConnect(host, port);
  if (!context || *credis_error(context)) return context;
  hiredis.redisAsyncSetConnectCallback(context, connected);
  hiredis.redisAsyncSetDisconnectCallback(context, disconnected);
#ifdef __APPLE__
  int on = 1;
  setsockopt(credis_descriptor(context), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
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

bool credis_send(credis_context *context, credis_onreply *replied, void *data, int count,
                 const char *const *arguments, const size_t *lengths) {
  return hiredis.redisAsyncCommandArgv(context, replied, data, count, arguments, lengths) == 0;
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

static int happened_in(void (*function)(credis_context *), credis_context *context) {
  quiet state = begin_quiet();
  call.happened = 0;
  function(context);
  end_quiet(&state);
  int happened = call.happened;
  call.happened = 0;
  return happened;
}

int credis_read(credis_context *context) {
  return happened_in(hiredis.redisAsyncHandleRead, context);
}

int credis_write(credis_context *context) {
  return happened_in(hiredis.redisAsyncHandleWrite, context);
}

const char *credis_reason(void) { return call.reason; }

bool credis_hasmore(credis_context *context) {
  int done = 0;
  quiet state = begin_quiet();
  bool failed = hiredis.redisBufferWrite(context, &done) != 0;
  end_quiet(&state);
  return failed || !done;
}

void credis_free(credis_context *context) {
  int happened = call.happened;
  hiredis.redisAsyncFree(context);
  call.happened = happened;
}

int credis_descriptor(const credis_context *context) {
  return recent ? ((const context_1 *)context)->fd : ((const context_0 *)context)->fd;
}

const char *credis_error(const credis_context *context) {
  return recent ? ((const context_1 *)context)->errstr : ((const context_0 *)context)->errstr;
}

/* ---- Replies --------------------------------------------------------------------------------- */

#define FIELD(reply, name) \
  (recent ? ((const reply_1 *)(reply))->name : ((const reply_0 *)(reply))->name)

int credis_kind(const credis_reply *reply) { return ((const reply_0 *)reply)->type; }
long long credis_integer(const credis_reply *reply) { return ((const reply_0 *)reply)->integer; }
size_t credis_count(const credis_reply *reply) { return FIELD(reply, elements); }

const char *credis_text(const credis_reply *reply, size_t *length) {
  *length = FIELD(reply, len);
  return FIELD(reply, str);
}

const credis_reply *credis_element(const credis_reply *reply, size_t index) {
  return FIELD(reply, element)[index];
}
