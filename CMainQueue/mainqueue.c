#include "cmq_mainqueue.h"

#include <stdint.h>
#include <unistd.h>

#ifdef __APPLE__
#include <fcntl.h>
#include <mach/mach.h>
#include <pthread.h>
#include <sys/event.h>
#else
#include <sys/eventfd.h>
#include <sys/syscall.h>
#endif

/* Dispatch's own header needs the blocks extension. The first two functions are in no header:
   CoreFoundation uses them to serve the main queue from a run loop. The handle is a descriptor on
   Linux, and a port on macOS. */
#ifdef __APPLE__
extern mach_port_t _dispatch_get_main_queue_port_4CF(void);
#else
extern int _dispatch_get_main_queue_handle_4CF(void);
#endif
extern void _dispatch_main_queue_callback_4CF(void *message);
extern struct dispatch_queue_s _dispatch_main_q;
extern void *dispatch_get_specific(const void *key);
extern void dispatch_queue_set_specific(void *queue, const void *key, void *value,
                                        void (*end)(void *));

#ifdef __APPLE__

bool cmq_isfirstthread(void) { return pthread_main_np() != 0; }

/* A queue of events is a descriptor that is readable while the port has messages. */
int cmq_descriptor(void) {
  // Only used on the main thread.
  static int made = -1;
  if (made >= 0) return made;
  int events = kqueue();
  if (events < 0) return -1;
  fcntl(events, F_SETFD, FD_CLOEXEC);
  struct kevent message;
  EV_SET(&message, _dispatch_get_main_queue_port_4CF(), EVFILT_MACHPORT, EV_ADD, 0, 0, NULL);
  if (kevent(events, &message, 1, NULL, 0, NULL) != 0) {
    close(events);
    return -1;
  }
  return made = events;
}

void cmq_drain(void) {
  // The queue is checked in any case; the messages only wake.
  struct {
    mach_msg_header_t header;
    char rest[1024];
  } message;
  mach_port_t port = _dispatch_get_main_queue_port_4CF();
  while (mach_msg(&message.header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message, port, 0,
                  MACH_PORT_NULL) == MACH_MSG_SUCCESS) {}
  _dispatch_main_queue_callback_4CF(0);
}

#else

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

#endif

void cmq_mark(void) {
  // The queue's address is the key.
  dispatch_queue_set_specific(&_dispatch_main_q, &_dispatch_main_q, &_dispatch_main_q, 0);
}

bool cmq_ismain(void) { return dispatch_get_specific(&_dispatch_main_q) != 0; }
