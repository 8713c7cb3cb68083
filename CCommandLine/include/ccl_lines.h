/// Lines from the standard input, using the line editor found when the prompt starts.
#ifndef CCL_LINES_H
#define CCL_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ccl_line {
  CCL_LINE_READ,
  CCL_LINE_END,      // the input has ended, or a signal ends the program
  CCL_LINE_DROPPED,  // SIGINT: the typed text is dropped
} ccl_line;

/// Reads a line from the standard input, with line editing if a library for it is installed. The
/// caller frees the line.
ccl_line ccl_readline(const char *prompt, char **line);

/// While `ccl_readline` waits with line editing, calls `function` repeatedly if `is_due` returns
/// true; NULL for none. Its output to the standard streams replaces the typed line, which is drawn
/// again below.
typedef bool (*ccl_due_function)(void *context);
typedef void (*ccl_idle_function)(void *context);
void ccl_setidle(ccl_due_function is_due, ccl_idle_function function, void *context);

/// Continuations of a text: `count` texts, which all begin at `start` in it. The receiver frees
/// them and the list.
typedef struct ccl_candidates {
  size_t start;
  size_t count;
  char **texts;
} ccl_candidates;

/// Sets the function that finds completions for Tab: the first `length` bytes of `line` are before
/// the cursor. NULL for none.
typedef ccl_candidates (*ccl_complete_function)(void *context, const char *line, size_t length);
void ccl_setcompleter(ccl_complete_function function, void *context);

/// Finds the line editor and makes it read its settings, before the process is locked.
void ccl_prepareeditor(void);

/// Reads the history of earlier sessions from the user's file, to which ccl_addhistory appends from
/// now on. Does nothing without line editing or without such a file.
void ccl_openhistory(void);
/// Appends an entry of one or more lines to the history of the line editor.
void ccl_addhistory(const char *entry);

#endif
