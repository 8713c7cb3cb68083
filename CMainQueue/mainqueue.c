#include "cmq_mainqueue.h"

#include <stdint.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/syscall.h>

/* Dispatch's own header needs the blocks extension. The first two functions are in none: they are
   what CoreFoundation uses to serve the main queue from a run loop. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
extern struct dispatch_queue_s _dispatch_main_q;
extern void dispatch_async_f(void *queue, void *context, cmq_Work work);
extern void dispatch_after_f(uint64_t when, void *queue, void *context, cmq_Work work);
extern uint64_t dispatch_time(uint64_t when, int64_t nanoseconds);
extern void *dispatch_get_specific(const void *key);
extern void dispatch_queue_set_specific(void *queue, const void *key, void *value, cmq_Work end);

bool cmq_isfirstthread(void) { return getpid() == syscall(SYS_gettid); }

int cmq_descriptor(void) {
  // Only used on the main thread. Dispatch ends the process where it gets no descriptor.
  static int made = -1;
  if (made >= 0) return made;
  int probe = eventfd(0, EFD_CLOEXEC);
  if (probe < 0) return -1;
  close(probe);
  return made = _dispatch_get_main_queue_handle_4CF();
}

void cmq_drain(void) {
  uint64_t count;
  // The work is looked for in any case, and the descriptor does not block.
  ssize_t length = read(cmq_descriptor(), &count, sizeof count);
  (void)length;
  _dispatch_main_queue_callback_4CF(0);
}

void cmq_mark(void) {
  // The queue's address is the key.
  dispatch_queue_set_specific(&_dispatch_main_q, &_dispatch_main_q, &_dispatch_main_q, 0);
}

bool cmq_ismain(void) { return dispatch_get_specific(&_dispatch_main_q) != 0; }

void cmq_perform(double seconds, void *context, cmq_Work work) {
  if (seconds <= 0) {
    dispatch_async_f(&_dispatch_main_q, context, work);
  } else {
    // A century stands for never, and fits.
    double limited = seconds < 3e9 ? seconds : 3e9;
    dispatch_after_f(dispatch_time(0, (int64_t)(limited * 1e9)), &_dispatch_main_q, context, work);
  }
}
