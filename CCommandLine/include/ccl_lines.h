/// Lines from the standard input, by the line editor that is looked for when the prompt starts.
#ifndef CCL_LINES_H
#define CCL_LINES_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ccl_line {
  CCL_LINE_READ,
  CCL_LINE_END,      // the input has ended, or a signal ends the program
  CCL_LINE_DROPPED,  // SIGINT came: the typed text is dropped
} ccl_line;

/// Reads a line from the standard input, with line editing where a library for it is installed. The
/// caller frees it.
ccl_line ccl_readline(const char *prompt, char **line);

/// Has `function` called again and again while `ccl_readline` waits, where there is line editing
/// and `is_due` returns true; NULL for nothing. What it writes to the standard output and error
/// streams takes the place of the line that is typed, which is drawn again below.
typedef bool (*ccl_due_function)(void *context);
typedef void (*ccl_idle_function)(void *context);
void ccl_setidle(ccl_due_function is_due, ccl_idle_function function, void *context);

/// What can continue a text: `count` texts, which each begin at `start` in it. The receiver frees
/// them and the list.
typedef struct ccl_candidates {
  size_t start;
  size_t count;
  char **texts;
} ccl_candidates;

/// Has `function` find what Tab completes: the first `length` bytes of `line` stand before the
/// cursor. NULL for nothing.
typedef ccl_candidates (*ccl_complete_function)(void *context, const char *line, size_t length);
void ccl_setcompleter(ccl_complete_function function, void *context);

/// Looks for the line editor, and has it read its settings, before the process is locked.
void ccl_prepareeditor(void);

/// Takes the history of earlier sessions from the user's file, to which ccl_addhistory appends from
/// now on. Does nothing where there is no line editing, or no such file can be.
void ccl_openhistory(void);
/// Appends an entry, of one or more lines, to the history of the line editor.
void ccl_addhistory(const char *entry);

#endif
