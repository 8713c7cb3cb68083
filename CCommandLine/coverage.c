#include "ccl_coverage.h"

#include <stdlib.h>
#include <string.h>

typedef struct file {
  struct file *next;
  char *source;
  size_t count;  // of `hits`
  unsigned *hits;
} file;

static file *files;
static file *latest;

static file *file_of(const char *source) {
  if (latest && strcmp(latest->source, source) == 0) return latest;
  for (latest = files; latest; latest = latest->next)
    if (strcmp(latest->source, source) == 0) return latest;
  file *made = calloc(1, sizeof *made);
  if (made && !(made->source = strdup(source))) {
    free(made);
    made = NULL;
  }
  if (!made) return NULL;
  made->next = files;
  return files = latest = made;
}

static void count_line(lua_State *L, lua_Debug *activation) {
  lua_getinfo(L, "S", activation);
  if (*activation->source != '@' || activation->currentline < 0) return;
  file *file = file_of(activation->source);
  size_t line = (size_t)activation->currentline;
  if (file && line >= file->count) {
    size_t count = (line + 1) * 2;
    unsigned *hits = realloc(file->hits, count * sizeof *hits);
    if (!hits) return;
    memset(hits + file->count, 0, (count - file->count) * sizeof *hits);
    file->hits = hits;
    file->count = count;
  }
  if (file) file->hits[line]++;
}

void ccl_countlines(lua_State *L) { lua_sethook(L, count_line, LUA_MASKLINE, 0); }

void ccl_readcounts(void (*read)(void *context, const char *path, const unsigned *hits,
                                 size_t count),
                    void *context) {
  for (const file *file = files; file; file = file->next)
    read(context, file->source + 1, file->hits, file->count);
}
