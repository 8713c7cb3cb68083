/// The typed line while other text is written in its place.
#ifndef CCL_SCREEN_H
#define CCL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/// Variables of a line editor about its current line; NULL if the editor lacks them.
typedef struct ccl_screen {
  char **line;
  int *point;    // the cursor's place in `line`
  char **prompt;
  int (*draw)(void);  // redraws everything, from the first column of a line
} ccl_screen;

/// From now on, text on the standard streams replaces the line.
void ccl_screen_begin(const ccl_screen *screen);
/// Called when a typed line ended after such text.
void ccl_screen_lineended(void);
/// Draws the line again if text was written, unless the line is about to end.
void ccl_screen_end(const ccl_screen *screen, bool goes_on);

/// The rows of the terminal; 0 if they are not known.
int ccl_screen_height(void);
/// The number of bytes at the beginning of a text that fit on `rows` rows; at least 1.
size_t ccl_screen_fill(const char *text, size_t count, int rows);

#endif
