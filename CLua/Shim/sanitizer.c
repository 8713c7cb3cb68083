/* The thread sanitizer keeps a list of the functions that are running, and follows `longjmp` with
   it, but not the checked one by which Debian's Lua raises errors: each of them would leave its
   functions there. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <setjmp.h>

void __longjmp_chk(jmp_buf target, int value);
void __longjmp_chk(jmp_buf target, int value) { longjmp(target, value); }

#endif
#endif
