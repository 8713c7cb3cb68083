#include "screen.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The idea: before a callback runs, the codes that clear the line are put into the buffers of both
   streams, and not flushed. The first text that is written takes them along, whoever writes it.
   Where nothing was written they are taken back, so that a timer that is silent changes nothing.
   The cursor is taken to the first row of the line itself: what one stream has written must not be
   cleared by the other. */

#ifdef __linux__

#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { MOST_CODES = 1024 };

static char codes[MOST_CODES];
static size_t length;
/* How many rows of the line lie above the cursor. */
static int rows;
static bool is_out_prepared, is_error_prepared;
static char error_buffer[BUFSIZ];

static int columns(void) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

typedef struct cursor {
  int row, column, width;
} cursor;

static void move_over(cursor *cursor, const char *text, size_t count) {
  mbstate_t state = {0};
  bool is_hidden = false;
  for (size_t i = 0; i < count;) {
    unsigned char byte = (unsigned char)text[i];
    wchar_t character = byte;
    size_t size = byte < 0x80 ? 1 : mbrtowc(&character, text + i, count - i, &state);
    if (size == 0 || size > count - i) {
      size = 1;
      memset(&state, 0, sizeof state);
    }
    i += size;
    // These enclose what a prompt tells the terminal only.
    if (byte == '\001' || byte == '\002') is_hidden = byte == '\001';
    if (is_hidden || byte == '\002') continue;
    if (byte == '\n') {
      cursor->row++;
      cursor->column = 0;
      continue;
    }
    int wide = byte < 0x20 || byte == 0x7f ? 2 : byte < 0x80 ? 1 : wcwidth((wint_t)character);
    if (byte == '\t') wide = 8 - cursor->column % 8;
    if (wide < 0) wide = 1;
    if (cursor->column + wide > cursor->width) {
      cursor->row++;
      cursor->column = 0;
    }
    cursor->column += wide;
  }
  if (cursor->column == cursor->width) {
    cursor->row++;
    cursor->column = 0;
  }
}

static bool is_simple(void) {
  const char *type = getenv("TERM");
  return !type || !*type || strcmp(type, "dumb") == 0;
}

/* Writes the codes that clear the rows of the line and leave the cursor at their beginning. */
static void make_codes(const ccl_screen *screen) {
  cursor cursor = {.width = columns()};
  const char *prompt = *screen->prompt, *line = *screen->line;
  if (prompt) move_over(&cursor, prompt, strlen(prompt));
  if (line && is_simple()) move_over(&cursor, line, strlen(line));
  else if (line && *screen->point > 0) move_over(&cursor, line, (size_t)*screen->point);
  rows = 0;
  if (is_simple()) {
    // A terminal without codes has one row, which is written over.
    int wide = cursor.row > 0 ? cursor.width - 1 : cursor.column;
    if (wide > MOST_CODES - 3) wide = MOST_CODES - 3;
    length = (size_t)snprintf(codes, sizeof codes, "\r%*s\r", wide, "");
  } else {
    rows = cursor.row;
    length = (size_t)snprintf(codes, sizeof codes, "\r\033[J");
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

/* Moves the cursor between its place in the line and the first row of that. */
static void move_rows(char direction) {
  char text[32];
  if (rows == 0) return;
  int size = snprintf(text, sizeof text, "\033[%d%c", rows, direction);
  if (write(STDOUT_FILENO, text, (size_t)size) != size) rows = 0;
}

static bool prepare(FILE *stream) {
  fflush(stream);
  if (!isatty(fileno(stream)) || !__flbf(stream) || __fbufsize(stream) <= length) return false;
  return fwrite(codes, 1, length, stream) == length;
}

void ccl_screen_begin(const ccl_screen *screen) {
  is_out_prepared = is_error_prepared = false;
  if (!screen->line || !screen->point || !screen->prompt || !screen->draw) return;
  make_codes(screen);
  is_out_prepared = prepare(stdout);
  if (is_out_prepared) move_rows('A');
  // The standard error stream has no buffer otherwise.
  if (is_out_prepared && !__flbf(stderr) && __fbufsize(stderr) <= 1 &&
      setvbuf(stderr, error_buffer, _IOLBF, sizeof error_buffer) == 0) {
    is_error_prepared = prepare(stderr);
    if (!is_error_prepared) setvbuf(stderr, NULL, _IONBF, 0);
  }
}

/* Ends the line that was begun, where it is not known whether one was: as many blanks as a row has
   go on to the next row from any column but the first. */
static void end_unknown_line(FILE *stream) {
  if (!is_simple()) fprintf(stream, "%*s\r", columns(), "");
}

/* Whether something was written. A line that was begun is ended. */
static bool finish(FILE *stream) {
  if (is_untouched(stream)) {
    __fpurge(stream);
    return false;
  }
  if (__fpending(stream) > 0) putc('\n', stream);
  else end_unknown_line(stream);
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
  else if (is_out_prepared && !is_written) move_rows('B');
}

#else

void ccl_screen_begin(const ccl_screen *screen) { (void)screen; }
void ccl_screen_end(const ccl_screen *screen, bool goes_on) {
  (void)screen;
  (void)goes_on;
}

#endif
