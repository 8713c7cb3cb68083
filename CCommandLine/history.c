#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line of the file is an entry; a line break in it is "\\n" and a backslash is doubled. Each
   entry is appended in one write as soon as it was typed, so concurrent sessions lose none. */

/// When the file has more than MOST_LINES, the last KEPT_LINES are kept.
enum { MOST_LINES = 2000, KEPT_LINES = 1000 };

static char path[PATH_MAX];
static char *last;

/* Makes a folder and its parent folders. */
static bool make_folders(char *folder) {
  for (char *end = folder + 1; *end; end++) {
    if (*end != '/') continue;
    *end = 0;
    int status = mkdir(folder, 0700);
    *end = '/';
    if (status != 0 && errno != EEXIST) return false;
  }
  return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

/* Sets `path`, and makes its folder. */
static bool find_path(void) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  int length;
  // The XDG standard says to ignore a relative folder.
  if (state && *state == '/') {
    length = snprintf(path, sizeof path, "%s/obs-lua", state);
  } else if (home && *home == '/') {
    length = snprintf(path, sizeof path, "%s/.local/state/obs-lua", home);
  } else {
    return false;
  }
  static const char name[] = "/history";
  if (length < 0 || (size_t)length + sizeof name > sizeof path) return false;
  if (!make_folders(path)) return false;
  strcat(path, name);
  return true;
}

/* Turns a line of the file into an entry. */
static void unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (*from == '\\' && from[1]) {
      from++;
      *to++ = *from == 'n' ? '\n' : *from;
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
}

static char *escaped(const char *entry) {
  char *text = malloc(2 * strlen(entry) + 2), *to = text;
  if (!text) return NULL;
  for (; *entry; entry++) {
    if (*entry == '\n' || *entry == '\\') *to++ = '\\';
    *to++ = *entry == '\n' ? 'n' : *entry;
  }
  *to++ = '\n';
  *to = 0;
  return text;
}

/* Replaces the file by its last lines, `lines`. */
static void shorten(char *const *lines, size_t count) {
  char other[PATH_MAX + 16];
  snprintf(other, sizeof other, "%s.%ld", path, (long)getpid());
  int descriptor = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) return;
  for (size_t i = 0; i < count; i++) fputs(lines[i], file);
  bool is_whole = !ferror(file);
  if (fclose(file) != 0 || !is_whole || rename(other, path) != 0) unlink(other);
}

static void remember_last(const char *entry) {
  free(last);
  last = strdup(entry);
}

void ccl_history_open(void (*remember)(const char *entry)) {
  if (*path) return;
  if (!find_path()) {
    *path = 0;
    return;
  }
  FILE *file = fopen(path, "re");
  if (!file) return;
  // The last lines, in a ring buffer.
  static char *lines[KEPT_LINES];
  size_t count = 0, capacity = 0;
  char *line = NULL;
  while (getline(&line, &capacity, file) >= 0) {
    char *copy = strdup(line);
    if (!copy) break;
    free(lines[count % KEPT_LINES]);
    lines[count++ % KEPT_LINES] = copy;
  }
  free(line);
  fclose(file);
  size_t kept = count < KEPT_LINES ? count : KEPT_LINES;
  char *ordered[KEPT_LINES];
  for (size_t i = 0; i < kept; i++) ordered[i] = lines[(count - kept + i) % KEPT_LINES];
  if (count > MOST_LINES) shorten(ordered, kept);
  for (size_t i = 0; i < kept; i++) {
    ordered[i][strcspn(ordered[i], "\n")] = 0;
    unescape(ordered[i]);
    remember(ordered[i]);
    if (i + 1 == kept) remember_last(ordered[i]);
    free(ordered[i]);
  }
  memset(lines, 0, sizeof lines);
}

void ccl_history_append(const char *entry) {
  if (!*path || (last && strcmp(last, entry) == 0)) return;
  remember_last(entry);
  char *text = escaped(entry);
  int descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (text && descriptor >= 0) {
    ssize_t written = write(descriptor, text, strlen(text));
    (void)written;  // If the write fails, the entry is in this session's history only.
  }
  free(text);
  if (descriptor >= 0) close(descriptor);
}
