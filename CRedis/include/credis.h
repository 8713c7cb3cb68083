/// The asynchronous functions of hiredis, loaded when they are first needed: a program that mirrors
/// nothing neither links the library nor needs it installed.
///
/// The functions are those of hiredis; its documentation describes them. hiredis 0.14 and 1.x lay
/// out their structures differently, so these are read through functions.
#ifndef CREDIS_H
#define CREDIS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct credis_context credis_context;
typedef struct credis_reply credis_reply;

typedef void credis_onreply(credis_context *context, credis_reply *reply, void *data);

/// What happened in a call.
enum {
  CREDIS_CONNECTED = 1,
  CREDIS_ENDED = 2,  // the context is freed; credis_reason says why
};

/// Loads the library; returns NULL, or why it cannot be loaded.
const char *credis_load(void);
/// Whether connections can be encrypted: hiredis 1.0 or later, built for TLS.
bool credis_hastls(void);

/// Starts to connect; `path` is the path of a socket, or NULL for a host and a port. NULL if memory
/// runs out.
credis_context *credis_connect(const char *path, const char *host, int port);
/// Begins encryption; returns NULL, or the reason why it failed. The names may be NULL.
const char *credis_encrypt(credis_context *context, const char *authorities,
                           const char *certificate, const char *key, const char *server);
/// Sends a command; `data` is passed to `replied`, which is called once, with NULL if the
/// connection ended. Returns false if nothing was sent, and `replied` will not be called.
bool credis_send(credis_context *context, credis_onreply *replied, void *data, int count,
                 const char *const *arguments, const size_t *lengths);
/// Reads, and calls `replied` for each complete reply.
int credis_read(credis_context *context);
/// Goes on to connect, or writes.
int credis_write(credis_context *context);
/// Why the last call of this thread ended a connection.
const char *credis_reason(void);
/// Whether something is left to write; for a connection that is made.
bool credis_hasmore(credis_context *context);
/// Ends the connection; outstanding replies are NULL.
void credis_free(credis_context *context);

int credis_descriptor(const credis_context *context);
/// The text of the connection's error; empty without one.
const char *credis_error(const credis_context *context);

/// The kinds of replies, as hiredis numbers them.
enum {
  CREDIS_STRING = 1, CREDIS_ARRAY = 2, CREDIS_INTEGER = 3, CREDIS_NIL = 4, CREDIS_STATUS = 5,
  CREDIS_ERROR = 6,
};

int credis_kind(const credis_reply *reply);
long long credis_integer(const credis_reply *reply);
const char *credis_text(const credis_reply *reply, size_t *length);
size_t credis_count(const credis_reply *reply);
const credis_reply *credis_element(const credis_reply *reply, size_t index);

#endif
