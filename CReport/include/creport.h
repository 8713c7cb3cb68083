#ifndef CREPORT_H
#define CREPORT_H

#include <stddef.h>

/// The parts of the page that shows a recording, which lie in the folder Page.
typedef enum creport_part {
  CREPORT_HTML,      // the page, with marks where the other parts belong
  CREPORT_STYLE,     // the style sheet
  CREPORT_GRAPHS,    // dagre with its licence, which lays graphs out
  CREPORT_SCRIPT,    // the page's own scripts
} creport_part;

/// The bytes of a part. They live as long as the program.
const char *creport_bytes(creport_part part, size_t *count);

#endif
