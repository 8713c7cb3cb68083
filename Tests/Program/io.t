Q2, Q4: the functions of obs for descriptors, and the module obs.io.

  $ . "$TESTDIR/functions"
  $ in_obs() { { echo 'local obs, obsio = require "obs", require "obs.io"'; cat "$1"; } >f; }

Q2: lines of an input are read one by one, including buffered ones.

  $ cat >script <<'END'
  > local input
  > input = obs.on_readable(io.stdin, function(file)
  >   local line = file:read()
  >   print(file == io.stdin, line)
  >   if not line then input:stop() end
  > end)
  > print(input.active)
  > END
  $ in_obs script; printf 'one\ntwo\nthree' | obs f
  true
  true\tone (esc)
  true\ttwo (esc)
  true\tthree (esc)
  true\tnil (esc)

A number can name a descriptor, and a turn flushes.

  $ cat >script <<'END'
  > local state = { text = "" }
  > obs.observe(state, "text", function(s) print(s.text) end)
  > local input
  > input = obs.on_readable(0.0, function(descriptor)
  >   state.text = "reading " .. descriptor
  >   input:stop()
  > end)
  > local output
  > output = obs.on_writable(1, function(d) state.text = "writing " .. d output:stop() end)
  > END
  $ in_obs script; printf x | obs f | sort
  reading 0
  writing 1

Errors name the expected value.

  $ obs - <<'END'
  > local obs = require "obs"
  > local closed = io.tmpfile()
  > closed:close()
  > for _, value in ipairs { "stdin", closed, 77, 1.5, {} } do
  >   print(select(2, pcall(function() obs.on_readable(value, print) end)))
  > end
  > print(select(2, pcall(function() obs.on_writable(1) end)))
  > END
  stdin:5: bad argument #1 to 'on_readable' (file or descriptor expected, got string)
  stdin:5: bad argument #1 to 'on_readable' (the file is closed)
  stdin:5: bad argument #1 to 'on_readable' (descriptor 77 is not open)
  stdin:5: bad argument #1 to 'on_readable' (descriptor expected, got 1.5)
  stdin:5: bad argument #1 to 'on_readable' (file or descriptor expected, got table)
  stdin:7: bad argument #2 to 'on_writable' (function expected, got nil)

T10: closing a file that a handler waits for is an error.

  $ obs - <<'END'
  > local obs = require "obs"
  > local pipe = io.popen("sleep 60 & echo $!; exec >&-; wait", "r")
  > local process = pipe:read()
  > local file = io.open("/dev/zero")
  > local handler = obs.on_readable(file, function() file:close() end)
  > obs.on_error(function(message, where)
  >   print(message, where.kind, where.name, where.site, handler.active)
  >   os.execute("kill " .. process)
  > end)
  > END
  its descriptor was closed: stop the handler before you close it\thandler\ton_readable\tstdin:5\tfalse (esc)

An unrefed handler, or one stopped by its scope, does not keep the program.

  $ obs - <<'END'
  > local obs = require "obs"
  > obs.on_readable(0, function() print "never" end):unref()
  > local scope = obs.scope(function() obs.on_readable(0, function() print "never" end) end)
  > scope:stop()
  > END

S5: scripts without files have no descriptors.

  $ obs --sandbox -l obs -e 'print(select(2, pcall(obs.on_readable, 0, print)))'
  obs.on_readable is not available: the host gives these scripts no files

The other scripts run in a task.

  $ run() {
  >   { echo 'local obs, obsio = require "obs", require "obs.io" obs.task(function()'; cat script; echo 'end)'; } >f
  >   obs "$@" f
  > }

Q4: a process returns its status, its output and its errors.

  $ cat >script <<'END'
  > print(obsio.run { "sh", "-c", "cat; printf err >&2; exit 4", input = "in" })
  > print(obsio.run { "sh", "-c", "kill -9 $$" })
  > print(obsio.run { "no-such-program" })
  > print(obsio.run { "sh", "-c", "printf part; exec sleep 60", timeout = 0.2 })
  > print(obsio.run { "pwd", cwd = "/" })
  > print(obsio.run { "true", input = ("x"):rep(1000000) })
  > local status, output = obsio.run { "cat", input = ("x"):rep(1000000) }
  > print(status, #output)
  > END
  $ run
  4\tin\terr (esc)
  137\t\t (esc)
  nil\tENOENT: no such file or directory (esc)
  false\tpart\t (esc)
  0\t/ (esc)
  \t (esc)
  0\t\t (esc)
  0\t1000000 (esc)

A task that is cancelled ends its process.

  $ cat >script <<'END'
  > local other
  > other = obs.task(function() obsio.run { "sleep", "60" } end)
  > obs.sleep(0.01)
  > other:cancel()
  > END
  $ run

I1: a process ends with the program, however the program ends. The end of the process closes the FIFO.

  $ mkfifo fifo
  $ ends() {  # the end of the program
  >   cat >f <<END
  > local obs, obsio, uv = require "obs", require "obs.io", require "luv"
  > obs.task(function() obsio.run { "sh", "-c", "exec 9>fifo; : >started; exec sleep 600" } end)
  > obs.every(0.01, function() if io.open "started" then $1 end end)
  > END
  >   obs f & cat fifo; wait $!; echo "[$?]"; rm started
  > }
  $ each ends <<'END'
  > error('no', 0)
  > os.exit(1)
  > uv.kill(uv.os_getpid(), 'sigterm')
  > END
  ! obs-lua: no
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:3: in function <f:3> (esc)
  ! \t[C]: in ? (esc)
  ! in timer every (registered at f:3)
  [1]
  [1]
  ! obs-lua: interrupted!
  ! stack traceback:
  ! \tf:3: in function <f:3> (esc)
  ! \t[C]: in ? (esc)
  ! in timer every (registered at f:3)
  [143]
  3 of them

Wrong commands are errors that name the mistake.

  $ cat >script <<'END'
  > for _, command in ipairs { "ls", {}, { "ls", inptu = "" }, { "ls", timeout = "1" },
  >   { "ls", {} }, { "ls", nil, "x" }, { "ls", [0] = "x" }, { "ls", [1.5] = "x" } } do
  >   print(select(2, pcall(function() obsio.run(command) end)))
  > end
  > END
  $ run
  f:4: bad argument #1 to 'run' (table expected that begins with a program, as in { "ls", "-l" })
  f:4: bad argument #1 to 'run' (table expected that begins with a program, as in { "ls", "-l" })
  f:4: bad argument #1 to 'run' ('inptu' is not an option; the options are cwd, input, timeout; did you mean 'input'?)
  f:4: bad argument #1 to 'run' ('timeout' takes a number, not a string)
  f:4: bad argument #1 to 'run' (argument 2 must be a string, not a table)
  f:4: bad argument #1 to 'run' (argument 2 must be a string, not nil)
  f:4: bad argument #1 to 'run' ('0' is not an option; the options are cwd, input, timeout)
  f:4: bad argument #1 to 'run' ('1.5' is not an option; the options are cwd, input, timeout)

Reading accepts the formats of io.read, and lets other turns continue.

  $ cat >script <<'END'
  > obs.task(function() obs.sleep(0.01) print "meanwhile" io.open("meanwhile", "w"):close() end)
  > print(obsio.read("n", "l", 3, "L"))
  > for line in obsio.lines() do print("line", line) end
  > print(obsio.read("a"), obsio.read("l"), obsio.read(0), obsio.read("n"))
  > END
  $ (printf '0x1Fp1 rest\nabcd'; until [ -e meanwhile ]; do :; done; printf 'ef\nx\n\nlast') | run
  meanwhile
  62.0\t rest\tabc\tdef (esc)
  
  line\tx (esc)
  line\t (esc)
  line\tlast (esc)
  \tnil\tnil\tnil (esc)

Numerals are read like in io.read.

  $ cat >script <<'END'
  > local texts = { "12", "-7.5e3x", "0x.8p1", "1e", "e5", "  42,", ".", "0x", "+3", "1.2.3",
  >   "99999999999999999999" }
  > for _, text in ipairs(texts) do
  >   io.open("t", "w"):write(text, "\n7"):close()
  >   local a, b = io.open "t", io.open "t"
  >   print(text, obsio.read(a, "n") == b:read "n", obsio.read(a, "a") == b:read "a")
  > end
  > END
  $ run
  12\ttrue\ttrue (esc)
  -7.5e3x\ttrue\ttrue (esc)
  0x.8p1\ttrue\ttrue (esc)
  1e\ttrue\ttrue (esc)
  e5\ttrue\ttrue (esc)
    42,\ttrue\ttrue (esc)
  .\ttrue\ttrue (esc)
  0x\ttrue\ttrue (esc)
  +3\ttrue\ttrue (esc)
  1.2.3\ttrue\ttrue (esc)
  99999999999999999999\ttrue\ttrue (esc)

An invalid format, file or option is an error.

  $ cat >script <<'END'
  > local function try(...) print(select(2, pcall(...))) end
  > try(function() obsio.read(-1) end)
  > try(function() obsio.read(1.5) end)
  > try(function() obsio.lines(99) end)
  > try(function() obsio.get("file:///", 5) end)
  > try(function() obsio.get("file:///", { timout = 5 }) end)
  > try(function() obsio.watch("", print) end)
  > try(function() obsio.watch("f") end)
  > try(function() obsio.on_signal("USR", print) end)
  > try(function() obsio.on_signal("KILL", print) end)
  > print(obsio.read(2.0))
  > END
  $ printf abc | run
  f:3: bad argument #1 to 'read' (format expected ('l', 'L', 'a', 'n', or a number of bytes))
  f:4: bad argument #1 to 'read' (format expected ('l', 'L', 'a', 'n', or a number of bytes))
  f:5: bad argument #1 to 'lines' (descriptor 99 is not open)
  f:6: bad argument #2 to 'get' (table of options expected, got number)
  f:7: bad argument #2 to 'get' ('timout' is not an option; the options are timeout; did you mean 'timeout'?)
  f:8: bad argument #1 to 'watch' (path expected, got '')
  f:9: bad argument #2 to 'watch' (function expected, got no value)
  f:10: bad argument #1 to 'on_signal' (name of a signal expected, got 'USR'; did you mean 'USR1'?)
  f:11: obs.io.on_signal cannot handle 'KILL': EINVAL: invalid argument
  ab

Buffered input of a file comes first.

  $ echo "print(io.read(), obsio.read(), obsio.read('a'))" >script; printf 'one\ntwo\nthree' | run
  one\ttwo\tthree (esc)

Waiting outside a task is an error.

  $ obs -l obsio=obs.io -e 'print(pcall(obsio.read)) print(pcall(obsio.run, { "ls" }))'
  false\tobs.io.read was called outside a task: it waits, which works only inside obs.task (esc)
  false\tobs.io.run was called outside a task: it waits, which works only inside obs.task (esc)

Files and folders can be watched, also when an editor replaces the file.

  $ cat >script <<'END'
  > os.execute "mkdir w"
  > local seen, folder = { count = 0 }, {}
  > local file = obsio.watch("w/config", function(path)
  >   seen[#seen + 1], seen.count = path, seen.count + 1
  > end)
  > local all = obsio.watch("w/", function(path) folder[path] = true end)
  > os.execute "echo 1 >w/other; echo 1 >w/config"
  > while seen.count < 1 do obs.next_change(seen, "count") end
  > os.execute "echo 2 >w/.new; mv w/.new w/config"
  > local count = seen.count
  > while seen.count == count do obs.next_change(seen, "count") end
  > file:stop()
  > all:stop()
  > for _, path in ipairs(seen) do assert(path == "w/config") end
  > print(folder["w/other"], folder["w/config"], folder["w/.new"])
  > END
  $ run; rm -r w
  true\ttrue\ttrue (esc)

T7: a handle stopped by its callback calls no more, even for other files.

  $ cat >script <<'END'
  > os.execute "mkdir w"
  > local watching
  > watching = obsio.watch("w", function()
  >   print "called"
  >   watching:stop()
  > end)
  > os.execute "echo 1 >w/a; echo 1 >w/b"
  > END
  $ run; rm -r w
  called

T10: an error in a callback is reported with its place, and the watched folder is still watched.

  $ cat >script <<'END'
  > os.execute "mkdir w"
  > local uv, seen = require "luv", { count = 0, signals = 0 }
  > obs.on_error(function(message, at) print(message, at.kind, at.name, at.site) end)
  > local watching = obsio.watch("w", function(path)
  >   seen.count = seen.count + 1
  >   if seen.count == 1 then error("no", 0) end
  > end)
  > local listening = obsio.on_signal("USR1", function()
  >   seen.signals = seen.signals + 1
  >   error("signal", 0)
  > end)
  > os.execute "echo 1 >w/a; echo 1 >w/b"
  > while seen.count < 2 do obs.next_change(seen, "count") end
  > watching:stop()
  > uv.kill(uv.os_getpid(), "sigusr1")
  > while seen.signals < 1 do obs.next_change(seen, "signals") end
  > listening:stop()
  > END
  $ run
  no\thandler\tobs.io.watch\tf:5 (esc)
  signal\thandler\tobs.io.on_signal\tf:9 (esc)

I1: a signal is handled, and ends the program once its handle is stopped.

  $ obs - <<'END'
  > local obs, obsio = require "obs", require "obs.io"
  > local process = io.open("/proc/self/stat"):read "n"
  > local handle
  > handle = obsio.on_signal("SIGTERM", function(name)
  >   print(name)
  >   handle:stop()
  >   os.execute(("kill -TERM %d"):format(process))
  > end)
  > obs.on_exit(function() print "exit" end)
  > obs.after(60, function() end)
  > os.execute(("kill -TERM %d"):format(process))
  > END
  TERM
  exit
  ! obs-lua: interrupted!
  ! stack traceback:
  ! \tstdin:8: in function <stdin:4> (esc)
  ! \t[C]: in ? (esc)
  ! in handler obs.io.on_signal (registered at stdin:4)
  [143]

Without luv the error names the package.

  $ obs -e 'package.cpath = "" print(pcall(require, "obs.io"))' | head -1
  false\tobs.io needs the module luv, which is not installed (Debian's package is lua-luv): module 'luv' not found: (esc)
