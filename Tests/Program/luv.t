Q1: luv's loop runs inside the program's loop.

  $ . "$TESTDIR/functions"

Callbacks of luv are turns, in any loading order of the modules.

  $ cat >rest <<'END'
  > local t = { n = 0 }
  > obs.observe(t, "n", function(o) print("n", o.n) end)
  > local timer, calls = uv.new_timer(), 0
  > timer:start(1, 1, function()
  >   t.n = t.n + 1
  >   t.n = t.n + 1
  >   calls = calls + 1
  >   if calls == 3 then timer:close() end
  > end)
  > END
  $ loads() { { echo "$1"; cat rest; } >f; obs f; }
  $ each loads <<'END'
  > local obs, uv = require 'obs', require 'luv'
  > local uv, obs = require 'luv', require 'obs'
  > local uv, obs; obs = require 'obs'; obs.task(function() uv = require 'luv' end)
  > END
  n\t2 (esc)
  n\t4 (esc)
  n\t6 (esc)
  n\t2 (esc)
  n\t4 (esc)
  n\t6 (esc)
  n\t2 (esc)
  n\t4 (esc)
  n\t6 (esc)
  3 of them

The other scripts begin with this line.

  $ run() { { echo 'local obs, uv = require "obs", require "luv"'; cat; } >f; obs "$@" f; }

A process, its pipe and a timer of obs end before the program does.

  $ run <<'END'
  > local log, pipe = {}, uv.new_pipe()
  > local process
  > process = uv.spawn("sh", { args = { "-c", "echo out; exit 3" }, stdio = { nil, pipe } },
  >   function(code) log[#log + 1] = "exit " .. code process:close() end)
  > pipe:read_start(function(_, text)
  >   if text then log[#log + 1] = text:match "%w+" else pipe:close() end
  > end)
  > obs.after(0.01, function() log[#log + 1] = "timer" end)
  > obs.on_exit(function() table.sort(log) print(table.concat(log, ", ")) end)
  > END
  exit 3, out, timer

Callbacks of luv see the requested mode of the loop.

  $ run <<'END'
  > local function later(name)
  >   local timer = uv.new_timer()
  >   timer:start(1, 0, function()
  >     print(name, uv.loop_mode())
  >     timer:close()
  >   end)
  > end
  > for _, mode in ipairs { "default", "once", "nowait" } do
  >   later(mode)
  >   while uv.run(mode) do end
  > end
  > print("outside", uv.loop_mode())
  > local timer = uv.new_timer()
  > timer:start(1, 0, function()
  >   print(pcall(uv.run, "once"))
  >   print("without uv.run", uv.loop_mode())
  >   timer:close()
  > end)
  > END
  default\tdefault (esc)
  once\tonce (esc)
  nowait\tnowait (esc)
  outside\tnil (esc)
  false\tuv.run was called inside a turn: the loop of the program runs luv's, too, and goes on after the turn (esc)
  without uv.run\tdefault (esc)

uv.run runs the common loop until luv has nothing left.

  $ run <<'END'
  > obs.after(0, function() print "obs" end)
  > obs.after(600, function() end):unref()
  > uv.new_timer():start(20, 0, function() print "luv" end)
  > print(uv.run())
  > uv.new_timer():start(0, 0, function() print "stopping" uv.stop() end)
  > uv.new_timer():start(60000, 0, function() print "never" end)
  > print(uv.run())
  > print(uv.run "nowait")
  > print(pcall(uv.run, "backwards"))
  > uv.stop()
  > END
  obs
  luv
  false
  stopping
  true
  true
  false\tbad argument #1 to 'run' ('default', 'once' or 'nowait' expected, got 'backwards') (esc)

uv.run in a callback is an error that names the reason.

  $ run <<'END'
  > uv.new_timer():start(0, 0, function() uv.run() end)
  > END
  ! obs-lua: f:2: uv.run was called inside a turn: the loop of the program runs luv's, too, and goes on after the turn
  ! stack traceback:
  ! \tf:2: in function <f:2> (esc)
  ! \t[C]: in ? (esc)
  ! in callback of luv (defined at f:2)
  [1]

T10: an error in a callback is reported, and ends the program with 1.

  $ run <<'END'
  > uv.new_timer():start(1, 0, function() error "boom" end)
  > uv.new_timer():start(1, 0, function() print "the same turn" end)
  > uv.new_timer():start(60000, 0, function() print "never" end)
  > obs.on_exit(function() print "exit" end)
  > END
  the same turn
  exit
  ! obs-lua: f:2: boom
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:2: in function <f:2> (esc)
  ! \t[C]: in ? (esc)
  ! in callback of luv (defined at f:2)
  [1]

T14: a script's error handler receives errors of luv callbacks.

  $ run <<'END'
  > obs.on_error(function(message, where) print(message, where.kind, where.site) end)
  > uv.new_timer():start(0, 0, function() error "boom" end)
  > END
  f:3: boom\tluv\tf:3 (esc)

Unreferenced handles are served while the loop waits for others.

  $ run <<'END'
  > local ticks, timer = 0, uv.new_timer()
  > timer:start(1, 1, function() ticks = ticks + 1 end)
  > timer:unref()
  > obs.task(function()
  >   while ticks < 3 do obs.sleep(0.001) end
  >   print "ticked"
  > end)
  > END
  ticked

Virtual time passes as real time while a handle of luv is active, and beside one that is always busy.

  $ run --virtual-time <<'END'
  > obs.after(3600, function() print("hour", obs.now()) end)
  > uv.new_timer():start(5, 0, function() print("luv", obs.now() < 3600) end)
  > END
  luv\ttrue (esc)
  hour\t3600.0 (esc)
  $ run --virtual-time <<'END'
  > local idle, calls = uv.new_idle(), 0
  > idle:start(function() calls = calls + 1 end)
  > obs.after(0.05, function()
  >   idle:stop()
  >   print("real", calls > 1)
  >   idle:start(function() end)
  >   idle:unref()
  >   obs.after(3600, function() print("jumped", obs.now() > 3600) end)
  > end)
  > END
  real\ttrue (esc)
  jumped\ttrue (esc)

`advance` ends beside a handle that is always busy.

  $ cat >f.lua <<'END'
  > local obs, uv = require "obs", require "luv"
  > local idle, calls = uv.new_idle(), 0
  > idle:start(function() calls = calls + 1 end)
  > obs.after(0.05, function() log "timer" end)
  > advance(0)
  > expect_log {}
  > advance(0.1)
  > expect_log { "timer" }
  > expect(calls > 1)
  > idle:close()
  > END
  $ obs --test f.lua
  TAP version 13
  ok 1 - f.lua: the file
  1..1

I1, I7: signals and the time limit end the loop in order, with and without uv.run.

  $ for last in 'uv.run()' ''; do
  >   for first in 'uv.spawn("sh", { args = { "-c", "kill -INT $PPID" } })' ''; do
  >     run $([ "$first" ] || echo --timeout=1) <<END; echo "[$?]"
  > uv.new_timer():start(60000, 0, function() print "never" end)
  > obs.on_exit(function() print "exit" end)
  > $first
  > $last
  > END
  >   done
  > done | grep -v '^!'
  exit
  [130]
  exit
  [124]
  exit
  [130]
  exit
  [124]

A script without obs gets the original luv.

  $ cat >f <<'END'
  > local uv = require "luv"
  > print(#package.searchers)
  > local timer = uv.new_timer()
  > timer:start(1, 0, function() print "called" timer:close() end)
  > END
  $ obs f; echo 'uv.run()' >>f; obs f
  4
  4
  called

Sockets of luv and of luasocket, threads and work call back.

  $ run <<'END'
  > local socket = require "socket"
  > local log = { lines = {} }
  > local function note(line) table.insert(log.lines, line) end
  > local server = uv.new_tcp()
  > server:bind("127.0.0.1", 0)
  > server:listen(16, function()
  >   local client = uv.new_tcp()
  >   server:accept(client)
  >   client:read_start(function(_, text)
  >     if text then return client:write(text:upper()) end
  >     client:close()
  >     server:close()
  >   end)
  > end)
  > obs.task(function()
  >   local client = uv.new_tcp()
  >   local port = server:getsockname().port
  >   assert(not obs.await(function(done) client:connect("127.0.0.1", port, done) end))
  >   client:write("hello")
  >   note(select(2, obs.await(function(done) client:read_start(done) end)))
  >   client:close()
  > end)
  > local listener = socket.bind("127.0.0.1", 0)
  > local _, port = listener:getsockname()
  > local handler
  > handler = obs.on_readable(listener:getfd(), function()
  >   local accepted = listener:accept()
  >   note(accepted:receive())
  >   accepted:close()
  >   handler:stop()
  > end)
  > local sender = socket.connect("127.0.0.1", port)
  > sender:send("from luasocket\n")
  > local async, thread
  > async = uv.new_async(function()
  >   note "async"
  >   async:close()
  >   thread:join()
  > end)
  > thread = uv.new_thread(function(handle) handle:send() end, async)
  > uv.new_work(function(x) return x * 2 end, function(x) note("work " .. x) end):queue(21)
  > obs.on_exit(function() table.sort(log.lines) print(table.concat(log.lines, ", ")) end)
  > END
  HELLO, async, from luasocket, work 42.0

Callbacks of handles that luv closes at the end find a closed host.

  $ run <<'END'
  > obs.task(function()
  >   local server, client = uv.new_tcp(), uv.new_tcp()
  >   server:bind("127.0.0.1", 0)
  >   server:listen(1, function() end)
  >   local port = server:getsockname().port
  >   obs.await(function(done) client:connect("127.0.0.1", port, done) end)
  > end)
  > error("stops", 0)
  > END
  ! obs-lua: stops
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:9: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]

At the end the program waits for threads of luv, and starts nothing new.

  $ run <<'END'
  > local function again()
  >   uv.fs_scandir("/", again)
  >   uv.new_timer():start(0, 0, again)
  >   uv.new_fs_event():start(".", {}, again)
  >   uv.new_work(function() end, again):queue()
  > end
  > for _ = 1, 20 do again() end
  > error("stops", 0)
  > END
  ! obs-lua: stops
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:9: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]

A closed loop is served no more.

  $ run <<'END'
  > print(uv.loop_close())
  > obs.after(0, function() print "on" end)
  > END
  0
  on
