/// The line that is typed, while other text is written in its place.
#ifndef CCL_SCREEN_H
#define CCL_SCREEN_H

#include <stdbool.h>

/// What a line editor says of the line that it shows; pointers that are NULL where it does not.
typedef struct ccl_screen {
  char **line;
  int *point;    // the cursor's place in `line`
  char **prompt;
  int (*draw)(void);  // draws all anew, from the first column of a line
} ccl_screen;

/// What is written to the standard streams from now on takes the place of the line.
void ccl_screen_begin(const ccl_screen *screen);
/// What was written was followed by an end of a line that was typed.
void ccl_screen_lineended(void);
/// Draws the line again if something was written, unless it is about to end.
void ccl_screen_end(const ccl_screen *screen, bool goes_on);

#endif
