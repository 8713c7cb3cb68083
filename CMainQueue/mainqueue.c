#include "cmq_mainqueue.h"

#include <stdint.h>
#include <unistd.h>

#include <sys/eventfd.h>
#include <sys/syscall.h>

/* Dispatch's own header needs the blocks extension. The first two functions are in no header:
   CoreFoundation uses them to serve the main queue from a run loop. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);
extern struct dispatch_queue_s _dispatch_main_q;
extern void *dispatch_get_specific(const void *key);
extern void dispatch_queue_set_specific(void *queue, const void *key, void *value,
                                        void (*end)(void *));

bool cmq_isfirstthread(void) { return getpid() == syscall(SYS_gettid); }

int cmq_descriptor(void) {
  // Only used on the main thread. Dispatch ends the process if it gets no descriptor.
  static int made = -1;
  if (made >= 0) return made;
  int probe = eventfd(0, EFD_CLOEXEC);
  if (probe < 0) return -1;
  close(probe);
  return made = _dispatch_get_main_queue_handle_4CF();
}

void cmq_drain(void) {
  uint64_t count;
  // The queue is checked in any case, and the descriptor does not block.
  ssize_t length = read(cmq_descriptor(), &count, sizeof count);
  (void)length;
  _dispatch_main_queue_callback_4CF(0);
}

void cmq_mark(void) {
  // The queue's address is the key.
  dispatch_queue_set_specific(&_dispatch_main_q, &_dispatch_main_q, &_dispatch_main_q, 0);
}

bool cmq_ismain(void) { return dispatch_get_specific(&_dispatch_main_q) != 0; }
