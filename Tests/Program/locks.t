S9: --sandbox locks its process, which can then open nothing. `Tests/LockTests`, a program that locks itself, tests
the refused and the allowed calls.

  $ . "$TESTDIR/functions"
  $ skip_under thread

The process of a sandbox is locked, also with a folder, and no other process.

  $ mkfifo ready
  $ wait_for() {  # options …
  >   obs-lua --turn-time=60s "$@" -e 'require "obs".after(60, print) print "ready"' >ready 2>/dev/null </dev/null &
  >   read line <ready
  > }
  $ lock() { wait_for "$@"; grep -E '^(Seccomp|NoNewPrivs):' /proc/$!/status; kill $!; wait $!; }
  $ lock --sandbox
  NoNewPrivs:\t1 (esc)
  Seccomp:\t2 (esc)
  [143]
  $ lock --sandbox=strict --sandbox=.
  NoNewPrivs:\t1 (esc)
  Seccomp:\t2 (esc)
  [143]
  $ lock --max-memory=1G
  NoNewPrivs:\t0 (esc)
  Seccomp:\t0 (esc)
  [143]

A script can come from a descriptor.

  $ echo 'print(...)' >s.lua; obs --sandbox /dev/fd/8 7 8<s.lua
  7

A locked process waits, and ends by time, by memory and by signals.

  $ obs --sandbox --turn-time=60s - <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() print("changed", t.n) end)
  > obs.task(function() obs.sleep(0.01) t.n = 1 print(#os.date(), os.clock() > 0) end)
  > obs.on_exit(function() print "exit" end)
  > END
  24\ttrue (esc)
  changed\t1 (esc)
  exit
  $ obs-lua --sandbox --turn-time=60s --timeout=0.05 -e 'require "obs".every(60, print)' 2>/dev/null
  [124]
  $ obs-lua --sandbox --timeout=0.05 --turn-time=60s -e 'while true do end' 2>/dev/null
  [124]
  $ obs --sandbox --turn-time=60s --max-memory=8M -e 'local t = {} for i = 1, 1e8 do t[i] = {} end'
  ! obs-lua: not enough memory
  [1]
  $ wait_for --sandbox; kill -INT $!; wait $!
  [130]

A refused lock is reported once. `refusing` runs a program for which the system refuses a lock.

  $ echo 'return 7' >m.lua
  $ refused() { refusing "$@" </dev/null 2>&1; }
  $ for error in 1 38; do
  >   for what in filter all; do refused $error $what obs-lua --sandbox=. -e 'print(require [[m]])'; done
  >   refused $error all obs-lua -e 'print(7)'
  > done
  obs-lua: warning: the system refuses to lock the process (seccomp: Operation not permitted)
  7
  obs-lua: warning: the system refuses to lock the process (seccomp: Operation not permitted)
  7
  7
  obs-lua: warning: the system refuses to lock the process (seccomp: Function not implemented)
  7
  obs-lua: warning: the system refuses to lock the process (seccomp: Function not implemented)
  7
  7

A strict sandbox ends if the system refuses the lock.

  $ for options in '' --sandbox=. --sandbox=strict; do
  >   refused 38 all obs-lua $options --sandbox=strict --sandbox -e 'print(7)'; echo "[$?]"
  > done
  obs-lua: --sandbox=strict: the system refuses to lock the process (seccomp: Function not implemented)
  [1]
  obs-lua: --sandbox=strict: the system refuses to lock the process (seccomp: Function not implemented)
  [1]
  obs-lua: --sandbox=strict: the system refuses to lock the process (seccomp: Function not implemented)
  [1]

D8: a replay that cannot be locked says so, unless the recording is the user's own.

  $ obs --record=r -e 'print(7)'
  7
  $ for option in '' --until=1 --trust; do refused 38 filter obs-lua --replay=r $option; done
  obs-lua: warning: the system refuses to lock the process (seccomp: Function not implemented); replay only recordings of programs that you trust
  7
  obs-lua: warning: the system refuses to lock the process (seccomp: Function not implemented); replay only recordings of programs that you trust
  7
  obs-lua: the run ends before turn 1, after the main chunk
  7

A folder may be called strict.

  $ mkdir strict; mv m.lua strict
  $ obs --sandbox=./strict -e 'print(require [[m]])'; obs --sandbox=strict -e 'require [[m]]'
  7
  ! obs-lua: (command line):1: module 'm' not found: the host program offers no module of that name
  ! stack traceback:
  ! \t[C]: in function 'require' (esc)
  ! \t(command line):1: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]

A missing folder ends the program.

  $ obs --sandbox=none -e 'print(7)'
  ! obs-lua: the folder of modules cannot be opened: none
  [1]
