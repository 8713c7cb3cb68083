#include "ccl_commandline.h"

#include <stdlib.h>
#include <string.h>

static int count;
static char **values, **given;

// The C library passes the arguments to constructors, too.
__attribute__((constructor)) static void keeparguments(int argc, char **argv) {
  size_t size = (size_t)(argc + 1) * sizeof *argv;
  count = argc;
  given = argv;
  values = malloc(size);
  if (!values) abort();
  memcpy(values, argv, size);
}

int ccl_argumentcount(void) { return count; }

char **ccl_arguments(void) { return values; }

char *const *ccl_givenarguments(void) { return given; }
