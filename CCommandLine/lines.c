#include "ccl_lines.h"

#include "ccl_commandline.h"
#include "ccl_interruption.h"
#include "history.h"
#include "lines.h"
#include "screen.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The functions and variables of the line editor; NULL if it lacks them.
static struct editor {
  int (*initialize)(void);
  char *(*read)(const char *prompt);
  void (*remember)(const char *line);
  int *is_done;
  void (*set_signals)(void);
  void (*clear_signals)(void);
  void (*check_signals)(void);
  void (*prepare)(int has_meta);
  void (*unprepare)(void);
  int (*get)(FILE *stream);
  int (**event_hook)(void);
  char **(**complete)(const char *text, int start, int end);
  int *completes_alone;
  int *appended;
  ccl_screen screen;
} editor;

/// Milliseconds between two checks for signals.
enum { LOOK_AGAIN = 100 };

static ccl_due_function due_function;
static ccl_idle_function idle_function;
static void *idle_context;
static bool is_idle;

static bool is_readline(void) { return editor.set_signals && editor.clear_signals; }

/* Ends the typed line if a signal asks for it. */
static bool end_line(void) {
  if (!ccl_isasked()) return false;
  if (editor.is_done) *editor.is_done = 1;
  // Other editors take it for the end of the input if the hook is gone.
  if (!is_readline() && editor.event_hook) *editor.event_hook = NULL;
  return true;
}

/* Called about ten times a second while waiting for a line. */
static int idle(void) {
  if (end_line()) return 0;
  if (idle_function && due_function(idle_context)) {
    // The editor's handlers delay signals, and a callback may need one at once.
    if (is_readline()) editor.clear_signals();
    ccl_screen_begin(&editor.screen);
    is_idle = true;
    idle_function(idle_context);
    is_idle = false;
    ccl_screen_end(&editor.screen, !ccl_isasked());
    if (is_readline()) editor.set_signals();
  }
  if (!end_line() && !is_readline()) {
    // Other editors call the hook again at once.
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    poll(&input, 1, LOOK_AGAIN);
    end_line();
  }
  return 0;
}

void ccl_lendterminal(bool is_lent) {
  if (!is_idle || !editor.prepare || !editor.unprepare) return;
  if (is_lent) {
    editor.unprepare();
  } else {
    editor.prepare(1);
    ccl_screen_lineended();
  }
}

/* Waits for a byte of an input that is not a terminal, or for a signal that ends the line. */
static int get_byte(FILE *stream) {
  for (;;) {
    struct pollfd input = {.fd = fileno(stream), .events = POLLIN};
    int ready = poll(&input, 1, LOOK_AGAIN);
    if (editor.check_signals) editor.check_signals();
    if (end_line()) return '\n';
    if (ready > 0 || (ready < 0 && errno != EINTR)) return editor.get(stream);
  }
}

/* A callback that ends the process must leave the terminal in its original state. */
static void restore_terminal(void) {
  if (is_idle && editor.unprepare) editor.unprepare();
}

void ccl_setidle(ccl_due_function is_due, ccl_idle_function function, void *context) {
  static bool is_registered;
  if (!is_registered) is_registered = atexit(restore_terminal) == 0;
  due_function = is_due;
  idle_function = function;
  idle_context = context;
}

/* ---- Completion ------------------------------------------------------------------------------ */

static ccl_complete_function complete_function;
static void *complete_context;

/* The length of the common beginning of all texts, in bytes. */
static size_t common_length(char *const *texts, size_t count) {
  size_t length = strlen(texts[0]);
  for (size_t i = 1; i < count; i++) {
    size_t same = 0;
    while (same < length && texts[i][same] == texts[0][same]) same++;
    length = same;
  }
  return length;
}

/* Converts `text`, which begins at `from` in the line, to a text that begins at `to`. */
static char *moved(char *text, size_t from, size_t to, const char *line) {
  if (from == to) return text;
  if (from < to) {
    size_t length = strlen(text), surplus = to - from;
    if (surplus > length) surplus = length;
    memmove(text, text + surplus, length - surplus + 1);
    return text;
  }
  size_t length = strlen(text), before = from - to;
  char *longer = malloc(before + length + 1);
  if (longer) {
    memcpy(longer, line + to, before);
    memcpy(longer + before, text, length + 1);
  }
  free(text);
  return longer;
}

static char **indentation(void) {
  char **list = calloc(2, sizeof *list);
  if (list) list[0] = strdup("\t");
  if (list && list[0]) return list;
  free(list);
  return NULL;
}

/* Returns a list that the editor frees: the common beginning of all candidates, and the
   candidates. */
static char **complete(const char *text, int start, int end) {
  (void)text;
  if (editor.completes_alone) *editor.completes_alone = 1;
  if (editor.appended) *editor.appended = 0;
  if (!complete_function || start < 0 || end < start) return NULL;
  const char *line = *editor.screen.line;
  // In an entry of several lines, the last line is completed.
  size_t first = (size_t)end;
  while (first > 0 && line[first - 1] != '\n') first--;
  // At the beginning of a line Tab indents, also in pasted code.
  if (first + strspn(line + first, " \t") >= (size_t)end) return indentation();
  // The editor's handlers would delay an interruption of the search.
  if (is_readline()) editor.clear_signals();
  ccl_candidates found = complete_function(complete_context, line + first, (size_t)end - first);
  if (is_readline()) editor.set_signals();
  end_line();
  size_t from = found.start + first, count = 0;
  char **list = found.count ? calloc(found.count + 2, sizeof *list) : NULL;
  for (size_t i = 0; i < found.count; i++) {
    char *candidate = found.texts[i];
    if (list) candidate = moved(candidate, from, (size_t)start, line);
    if (list && candidate) list[1 + count++] = candidate;
    else free(candidate);
  }
  free(found.texts);
  if (count) list[0] = strndup(list[1], common_length(list + 1, count));
  if (!list || !list[0]) {
    for (size_t i = 0; i < count; i++) free(list[1 + i]);
    free(list);
    return NULL;
  }
  if (count == 1) {
    free(list[1]);
    list[1] = NULL;
  }
  return list;
}

void ccl_setcompleter(ccl_complete_function function, void *context) {
  complete_function = function;
  complete_context = context;
}

/* ---- The library ----------------------------------------------------------------------------- */

static void find_editor(void) {
  static const char *const names[] = {
#ifdef __APPLE__
      "libedit.dylib",
#else
      "libreadline.so.8", "libedit.so.2",
#endif
  };
  for (size_t i = 0; i < sizeof names / sizeof *names && !editor.read; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const char **name = dlsym(library, "rl_readline_name");
    if (name) *name = "lua";
    *(void **)&editor.remember = dlsym(library, "add_history");
    *(void **)&editor.initialize = dlsym(library, "rl_initialize");
    *(void **)&editor.read = dlsym(library, "readline");
    *(void **)&editor.set_signals = dlsym(library, "rl_set_signals");
    *(void **)&editor.clear_signals = dlsym(library, "rl_clear_signals");
    *(void **)&editor.check_signals = dlsym(library, "rl_check_signals");
    *(void **)&editor.get = dlsym(library, "rl_getc");
    *(void **)&editor.prepare = dlsym(library, "rl_prep_terminal");
    *(void **)&editor.unprepare = dlsym(library, "rl_deprep_terminal");
    editor.is_done = dlsym(library, "rl_done");
    *(void **)&editor.screen.draw = dlsym(library, "rl_forced_update_display");
    editor.screen.line = dlsym(library, "rl_line_buffer");
    editor.screen.point = dlsym(library, "rl_point");
    editor.screen.prompt = dlsym(library, "rl_display_prompt");
    if (!editor.screen.prompt) editor.screen.prompt = dlsym(library, "rl_prompt");
    editor.complete = dlsym(library, "rl_attempted_completion_function");
    editor.completes_alone = dlsym(library, "rl_attempted_completion_over");
    editor.appended = dlsym(library, "rl_completion_append_character");
    // The candidates are sorted already.
    int *sorts = dlsym(library, "rl_sort_completion_matches");
    if (sorts) *sorts = 0;
    const char **word_breaks = dlsym(library, "rl_basic_word_break_characters");
    // Strings stay open: a key path may continue.
    const char **quotes = dlsym(library, "rl_basic_quote_characters");
    if (quotes) *quotes = "";
    if (editor.complete && editor.screen.line && isatty(STDIN_FILENO)) *editor.complete = complete;
    if (word_breaks) *word_breaks = " \t\n\"\\'`><=;|&{(,+-*/%^~)}[].:";
    // At the end of an input that is not a terminal, readline would call the hook forever.
    int (**get)(FILE *) = dlsym(library, "rl_getc_function");
    if (isatty(STDIN_FILENO)) editor.event_hook = dlsym(library, "rl_event_hook");
    else if (get && editor.get) *get = get_byte;
  }
}

static char *read_plain_line(const char *prompt) {
  ccl_writeoutput(prompt);
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length = ccl_awaitinput(stdin) ? getline(&line, &capacity, stdin) : -1;
  if (length < 0) {
    // A signal does not end the input.
    if (!feof(stdin)) clearerr(stdin);
    free(line);
    return NULL;
  }
  if (length > 0 && line[length - 1] == '\n') line[length - 1] = '\0';
  return line;
}

static void look_for_editor(void) {
  static bool looked;
  if (!looked) find_editor();
  looked = true;
}

void ccl_prepareeditor(void) {
  look_for_editor();
  if (editor.initialize && isatty(STDIN_FILENO)) editor.initialize();
  ccl_openhistory();
}

ccl_line ccl_readline(const char *prompt, char **line) {
  look_for_editor();
  if (editor.event_hook) *editor.event_hook = idle;
  *line = editor.read ? editor.read(prompt) : read_plain_line(prompt);
  if (!ccl_isasked()) return *line ? CCL_LINE_READ : CCL_LINE_END;
  free(*line);
  *line = NULL;
  if (ccl_settle()) return CCL_LINE_END;
  // The typed text stays on the screen; the next prompt is below it.
  if (!is_readline()) ccl_writeoutput("\n");
  return CCL_LINE_DROPPED;
}

/* ---- History --------------------------------------------------------------------------------- */

void ccl_openhistory(void) {
  look_for_editor();
  if (editor.remember) ccl_history_open(editor.remember);
}

void ccl_addhistory(const char *entry) {
  if (!editor.remember) return;
  editor.remember(entry);
  ccl_history_append(entry);
}
