/* The thread sanitizer keeps a list of the running functions, and follows `longjmp`, but not the
   checked variant by which Debian's Lua raises errors: each error would leave its functions in the
   list. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#include <setjmp.h>

void __longjmp_chk(jmp_buf target, int value);
void __longjmp_chk(jmp_buf target, int value) { longjmp(target, value); }

#endif
#endif
