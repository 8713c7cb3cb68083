#include "screen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The idea: before a callback runs, the codes that clear the line are put into the buffers of both
   streams, and not flushed. The first text from any code flushes them, too. If no text was written
   they are removed, so a silent timer changes nothing. The cursor is moved to the beginning of the
   line directly, and the codes clear only to the right of it and below: one stream must not clear
   the output of the other. */

#ifdef __linux__

#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum {
  MOST_CODES = 1024,
  /// The column at which the codes begin for the C library, which counts them as text: further
  /// right than lines usually reach.
  FAR_COLUMN = 30000,
};

static char codes[MOST_CODES];
static size_t length;
/* Moves the cursor to the beginning of the line; empty if the codes do this. */
static char approach[32];
/* Whether the terminal has saved the cursor's place in the line. */
static bool is_saved;
static bool is_out_prepared, is_error_prepared;
static char error_buffer[BUFSIZ];

int ccl_screen_height(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

static int columns(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

typedef struct cursor {
  int row, column, width;
} cursor;

/* Moves over the first character of a text, and returns its bytes. */
static size_t move_over_character(cursor *cursor, const char *text, size_t count) {
  mbstate_t state = {0};
  unsigned char byte = (unsigned char)*text;
  wchar_t character = byte;
  size_t size = byte < 0x80 ? 1 : mbrtowc(&character, text, count, &state);
  if (size == 0 || size > count) size = 1;
  if (byte == '\n') {
    cursor->row++;
    cursor->column = 0;
    return size;
  }
  int wide = byte < 0x20 || byte == 0x7f ? 2 : byte < 0x80 ? 1 : wcwidth((wint_t)character);
  if (byte == '\t') wide = 8 - cursor->column % 8;
  if (wide < 0) wide = 1;
  if (cursor->column + wide > cursor->width) {
    cursor->row++;
    cursor->column = 0;
  }
  cursor->column += wide;
  return size;
}

static void move_over(cursor *cursor, const char *text, size_t count) {
  bool is_hidden = false;
  for (size_t i = 0; i < count;) {
    // These enclose parts of a prompt that only control the terminal.
    bool is_mark = text[i] == '\001' || text[i] == '\002';
    if (is_mark) is_hidden = text[i] == '\001';
    if (is_mark || is_hidden) i++;
    else i += move_over_character(cursor, text + i, count - i);
  }
  if (cursor->column == cursor->width) {
    cursor->row++;
    cursor->column = 0;
  }
}

size_t ccl_screen_fill(const char *text, size_t count, int rows) {
  cursor cursor = {.width = columns()};
  for (size_t i = 0; i < count;) {
    // Codes for colours end with a letter.
    const char *end = text[i] == '\033' ? memchr(text + i, 'm', count - i) : NULL;
    size_t size = end ? (size_t)(end + 1 - text) - i
                      : move_over_character(&cursor, text + i, count - i);
    if (cursor.row >= rows && text[i] == '\n') return i + size;
    if (cursor.row >= rows && i > 0) return i;
    i += size;
  }
  return count;
}

static bool is_simple(void) {
  const char *type = getenv("TERM");
  return !type || !*type || strcmp(type, "dumb") == 0;
}

/* Makes the codes that clear the rows of the line and leave the cursor at their beginning. */
static void make_codes(const ccl_screen *screen) {
  cursor cursor = {.width = columns()};
  const char *prompt = *screen->prompt, *line = *screen->line;
  if (prompt) move_over(&cursor, prompt, strlen(prompt));
  if (line && is_simple()) move_over(&cursor, line, strlen(line));
  else if (line && *screen->point > 0) move_over(&cursor, line, (size_t)*screen->point);
  approach[0] = '\0';
  if (is_simple()) {
    // A terminal without codes has one row, which is overwritten.
    int wide = cursor.row > 0 ? cursor.width - 1 : cursor.column;
    if (wide > MOST_CODES - 3) wide = MOST_CODES - 3;
    length = (size_t)snprintf(codes, sizeof codes, "\r%*s\r", wide, "");
  } else {
    const char *up = cursor.row > 0 ? "\0337\r\033[%dA" : "\0337\r";
    snprintf(approach, sizeof approach, up, cursor.row);
    length = (size_t)snprintf(codes, sizeof codes, "\033[J");
  }
}

/* Whether nothing was written since the codes were. */
static bool is_untouched(FILE *stream) {
#ifdef __GLIBC__
  return __fpending(stream) == length && memcmp(stream->_IO_write_base, codes, length) == 0;
#else
  return __fpending(stream) == length;
#endif
}

/* Writes to the terminal directly, without the buffers. */
static bool tell(const char *text) {
  size_t size = strlen(text);
  return size > 0 && write(STDOUT_FILENO, text, size) == (ssize_t)size;
}

static bool prepare(FILE *stream) {
  fflush(stream);
  if (!isatty(fileno(stream)) || !__flbf(stream) || __fbufsize(stream) <= length) return false;
#ifdef __GLIBC__
  // The C library counts the bytes since the last line break, plus one.
  stream->_cur_column = FAR_COLUMN;
#endif
  return fwrite(codes, 1, length, stream) == length;
}

void ccl_screen_begin(const ccl_screen *screen) {
  is_out_prepared = is_error_prepared = is_saved = false;
  if (!screen->line || !screen->point || !screen->prompt || !screen->draw) return;
  make_codes(screen);
  is_out_prepared = prepare(stdout);
  if (is_out_prepared) is_saved = tell(approach);
  // Otherwise the standard error stream has no buffer.
  if (is_out_prepared && !__flbf(stderr) && __fbufsize(stderr) <= 1 &&
      setvbuf(stderr, error_buffer, _IOLBF, sizeof error_buffer) == 0) {
    is_error_prepared = prepare(stderr);
    if (!is_error_prepared) setvbuf(stderr, NULL, _IONBF, 0);
  }
}

/* Whether the latest text, buffered or not, ended within a line. */
static bool has_begun_line(FILE *stream) {
#ifdef __GLIBC__
  fflush(stream);
  return stream->_cur_column != 1 && stream->_cur_column != FAR_COLUMN + length;
#else
  return __fpending(stream) > 0;
#endif
}

static void end_line(FILE *stream) {
  fflush(stream);
#ifdef __GLIBC__
  stream->_cur_column = 1;
#endif
}

void ccl_screen_lineended(void) {
  if (is_out_prepared) end_line(stdout);
  if (is_error_prepared) end_line(stderr);
}

/* Whether any text was written. Ends an unfinished line. */
static bool finish(FILE *stream) {
  if (is_untouched(stream)) {
    __fpurge(stream);
    return false;
  }
  if (has_begun_line(stream)) putc('\n', stream);
  fflush(stream);
  return true;
}

void ccl_screen_end(const ccl_screen *screen, bool goes_on) {
  bool is_written = is_out_prepared && finish(stdout);
  if (is_error_prepared) {
    is_written |= finish(stderr);
    setvbuf(stderr, NULL, _IONBF, 0);
  }
  if (is_written && goes_on) screen->draw();
  else if (is_saved && !is_written) tell("\0338");
}

#else

void ccl_screen_begin(const ccl_screen *screen) { (void)screen; }
void ccl_screen_lineended(void) {}
int ccl_screen_height(void) { return 0; }
size_t ccl_screen_fill(const char *text, size_t count, int rows) {
  (void)text;
  (void)rows;
  return count;
}
void ccl_screen_end(const ccl_screen *screen, bool goes_on) {
  (void)screen;
  (void)goes_on;
}

#endif
