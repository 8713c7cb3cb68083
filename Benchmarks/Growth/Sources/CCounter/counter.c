#include "counter.h"
#include <valgrind/callgrind.h>

void counter_begin(void) { CALLGRIND_ZERO_STATS; }
void counter_end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
