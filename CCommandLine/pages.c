#include "ccl_pages.h"

#include "ccl_commandline.h"
#include "ccl_interruption.h"
#include "screen.h"

#include <stdio.h>
#include <termios.h>
#include <unistd.h>

static const char QUESTION[] = "-- more (space, Enter, q) --";
enum { END_OF_INPUT = 4 };

bool ccl_canpage(void) { return ccl_screen_height() > 2 && !ccl_hasinput(stdin); }

/* The number of rows that a key asks for; -1 if the key has no meaning. */
static int rows_for(char key, int page) {
  switch (key) {
    case ' ': return page;
    case '\r': case '\n': return 1;
    case 'q': case 'Q': case END_OF_INPUT: return 0;
    default: return -1;
  }
}

/* Asks the user, and returns the number of rows to show; 0 for none. */
static int ask(int page) {
  ccl_writeoutput(QUESTION);
  int rows = -1;
  while (rows < 0) {
    char key;
    bool has_key = ccl_awaitinput(stdin) && read(STDIN_FILENO, &key, 1) == 1;
    rows = has_key ? rows_for(key, page) : 0;
  }
  printf("\r%*s\r", (int)sizeof QUESTION - 1, "");
  fflush(stdout);
  return rows;
}

void ccl_writepages(const char *text, size_t count) {
  int page = ccl_screen_height() - 1, rows = page;
  struct termios lines, keys;
  bool is_asking = page > 0 && ccl_screen_fill(text, count, page) < count
    && tcgetattr(STDIN_FILENO, &lines) == 0;
  if (!is_asking) return ccl_writebytes(text, count);
  keys = lines;
  keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
  while (count > 0 && rows > 0) {
    size_t size = ccl_screen_fill(text, count, rows);
    ccl_writebytes(text, size);
    text += size;
    count -= size;
    if (count == 0) break;
    if (text[-1] != '\n') ccl_writebytes("\n", 1);
    rows = ask(page);
  }
  tcsetattr(STDIN_FILENO, TCSADRAIN, &lines);
}
