#include "counter.h"
#include <valgrind/callgrind.h>

void counter_begin(void) {
  // callgrind begins without instrumentation (--instr-atstart=no), so the preparation runs faster.
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}
void counter_end(const char *name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
