#include "counter.h"
#include <valgrind/callgrind.h>

void counter_begin(void) {
  // What precedes is not counted, so it runs faster.
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}
void counter_end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
