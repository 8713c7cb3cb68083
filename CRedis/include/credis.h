/// The functions of hiredis that connect, encrypt, write and read bytes, loaded when they are first
/// needed: a program that mirrors nothing neither links the library nor needs it installed.
///
/// The functions are those of hiredis; its documentation describes them. hiredis 0.14 and 1.x lay
/// out their structures differently, so these are read through functions. Its reader of replies is
/// not used, because it limits neither a text nor a line. Its asynchronous functions are not used,
/// because they end the process if a server sends an answer that no command asked for.
#ifndef CREDIS_H
#define CREDIS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct credis_context credis_context;

/// The results of `credis_write`: everything is written, some bytes are left, or the connection has
/// ended.
enum { CREDIS_DONE, CREDIS_MORE, CREDIS_FAILED };

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
/// Adds bytes of commands to those that `credis_write` writes; false if memory runs out.
bool credis_send(credis_context *context, const void *bytes, size_t length);
/// Reads at most 16 KB and returns the bytes, which are valid until the next call; NULL if the
/// connection has ended.
const char *credis_read(credis_context *context, size_t *length);
/// Writes as many bytes as it can without waiting.
int credis_write(credis_context *context);
void credis_free(credis_context *context);

int credis_descriptor(const credis_context *context);
/// The text of the connection's error; empty without one.
const char *credis_error(const credis_context *context);

#endif
