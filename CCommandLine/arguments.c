#include "ccl_commandline.h"

static int count;
static char **values;

// The C library passes the arguments to constructors, too.
__attribute__((constructor)) static void keeparguments(int argc, char **argv) {
  count = argc;
  values = argv;
}

int ccl_argumentcount(void) { return count; }

char **ccl_arguments(void) { return values; }
