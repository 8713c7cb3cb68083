I1, I4: a second signal also ends code that catches errors, or that cannot be interrupted. The thread sanitizer
delivers signals only at the next system call.

  $ . "$TESTDIR/functions"
  $ skip_under thread
  $ cat >begin <<'END'
  > local obs = require "obs"
  > function send(name) io.popen("read line; kill -" .. name .. " $PPID", "w"):close() end
  > function spin() while true do end end
  > obs.on_exit(function() print("exit") end)
  > END
  $ run() { cat begin - >f; obs f; }

The second SIGINT ends a finalizer.

  $ run <<'END'
  > setmetatable({}, { __gc = function() send("INT") send("INT") spin() end })
  > collectgarbage()
  > END
  [130]

Repeated SIGTERM ends a callback that catches each of them.

  $ run <<'END'
  > obs.next_turn(function() pcall(send, 'TERM') while true do pcall(spin) end end)
  > END
  exit
  ! obs-lua: interrupted!
  ! stack traceback:
  ! \tf:5: in function <f:5> (esc)
  ! \t[C]: in ? (esc)
  ! in timer next_turn (registered at f:5)
  [143]
