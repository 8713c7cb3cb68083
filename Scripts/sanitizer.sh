# For scripts that build with a sanitizer: replaces the build options in `debug`, which
# Scripts/debug.sh has set, and sets the environment.
#
# Each sanitizer has its own build folder. Fails if there is no sanitizer of that name.
use_sanitizer() {  # address or thread
  case $1 in
    # Records that are given out again would hide that somebody still uses them.
    address)
      debug=(--traits Macros --sanitize address --scratch-path .build-asan -Xswiftc -DUNPOOLED)
      ;;
    thread) debug=(--traits Macros --sanitize thread --scratch-path .build-tsan) ;;
    *)
      echo "$0: --sanitize takes address or thread" >&2
      return 2
      ;;
  esac
  # For `use_program`: the program with the sanitizer.
  export OBS_LUA_PROGRAM=$PWD/.build-${1:0:1}san/debug/obs-lua
  export LSAN_OPTIONS=suppressions=$PWD/Scripts/leaks.suppressed:print_suppressions=0
  # Locals that the sanitizer moves away from the stack don't tell how much of that is left. A program
  # that loses memory fails when it ends.
  export ASAN_OPTIONS=detect_stack_use_after_return=0:detect_leaks=1
  export TSAN_OPTIONS=suppressions=$PWD/Scripts/thread.suppressed:print_suppressions=0
}
