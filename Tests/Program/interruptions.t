I1 to I4, I6: a signal interrupts any running code, and the loop ends in order.

  $ . "$TESTDIR/functions"

Scripts send signals to themselves, from line 6 on. A signal arrives while `close` waits, and is raised in `send`;
otherwise the code would run for ever.

  $ cat >begin <<'END'
  > local obs = require "obs"
  > function send(name) io.popen("read line; kill -" .. name .. " $PPID", "w"):close() end
  > function spin(name) send(name) while true do end end
  > obs.on_exit(function() print("exit") end)
  > local t = {}
  > END
  $ run() { cat begin - >f; obs "$@" f; }
  $ each_run() { echo "$1" | run; echo "[$?]"; }

SIGINT is raised in the running code, and names it: these are the functions of the traceback, without `send` and
`spin`.

  $ places() { echo "$1" | run | sed "s/^! //; /^obs-lua: f:3: interr\|^stack\|'s[ep][in][dn]*'$/d; s/^\t//"; echo "[${PIPESTATUS[1]}]"; }
  $ gives places <<'END'
  > spin('INT') => exit | f:6: in main chunk | [C]: in ? | [130]
  > obs.observe(t, 'a', function() spin('INT') end, {name = 'w'})\
  > t.a = 1 => exit | f:6: in function <f:6> | [C]: in ? | in watcher w (registered at f:6) | caused by the write at f:7 | [130]
  > obs.observe(t, 'a', function() spin('INT') end, {name = 'w', immediate = true})\
  > t.a = 1 print("not reached") => exit | f:6: in function <f:6> | [C]: in metamethod 'newindex' | f:7: in main chunk | [C]: in ? | in immediate watcher w (registered at f:6) | [130]
  > obs.computed(t, 'g', {'a'}, function() spin('INT') end)\
  > obs.observe(t, 'g', print) => exit | f:6: in function <f:6> | in getter g (registered at f:6) | [130]
  > obs.computed(t, 'g', {'a'}, function() spin('INT') end)\
  > obs.after(0, function() return t.g, 1 end) => exit | f:6: in function <f:6> | [C]: in metamethod 'index' | f:7: in function <f:7> | [C]: in ? | in timer after (registered at f:7) | [130]
  > obs.every(0.001, function() spin('INT') end) => exit | f:6: in function <f:6> | [C]: in ? | in timer every (registered at f:6) | [130]
  > obs.task(function() obs.sleep(0.001) spin('INT') end) => exit | f:6: in function <f:6> | in task task (registered at f:6) | [130]
  > obs.on_observed(t, function() spin('INT') end)\
  > obs.observe(t, 'a', print) => exit | f:6: in function <f:6> | [C]: in function 'obs.observe' | f:7: in main chunk | [C]: in ? | in hook on_observed (registered at f:6) | [130]
  > obs.on_exit(function() spin('INT') end) => exit | f:6: in function <f:6> | in exit on_exit (registered at f:6) | [130]
  > END
  9 of them

It is raised in the coroutine that runs, in the main chunk, in a callback and in a task.

  $ in_coroutine() {  # code
  >   for place in "obs.next_turn(function() $1 end)" "obs.task(function() $1 end)" "$1"; do
  >     each_run "$place" | sed '/^! \t/d; /^! stack/d; s/^! obs-lua: //'
  >   done
  > }
  $ gives in_coroutine <<'END'
  > coroutine.wrap(function() spin('INT') end)() => exit | f:6: f:3: interrupted! | ! in timer next_turn (registered at f:6) | [130] | exit | f:6: f:3: interrupted! | ! in task task (registered at f:6) | [130] | exit | f:6: f:3: interrupted! | [130]
  > local function body() spin('INT') end\
  > error(select(2, coroutine.resume(coroutine.create(body))), 0) => exit | f:3: interrupted! | ! in timer next_turn (registered at f:6) | [130] | exit | f:3: interrupted! | ! in task task (registered at f:6) | [130] | exit | f:3: interrupted! | [130]
  > local c = setmetatable({}, {__close = function() spin('INT') end})\
  > local co = coroutine.create(function() local c <close> = c coroutine.yield() end)\
  > coroutine.resume(co) error(select(2, coroutine.close(co)), 0) => exit | f:3: interrupted! | ! in timer next_turn (registered at f:6) | [130] | exit | f:3: interrupted! | ! in task task (registered at f:6) | [130] | exit | f:3: interrupted! | [130]
  > END
  3 of them

A signal left pending by a coroutine is raised in its caller. The coroutine is the C function in which it arrives.

  $ run <<'END'
  > local file = io.popen("read line; kill -INT $PPID", "w")
  > coroutine.wrap(file.close)(file)
  > while true do end
  > END
  exit
  ! obs-lua: interrupted!
  ! stack traceback:
  ! \tf:8: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [130]

I2: watchers that are pending are called before on_exit.

  $ run <<'END'
  > obs.observe(t, "a", function() spin "INT" end)
  > obs.observe(t, "a", function() print("second") end)
  > obs.next_turn(function() print("not called") end)
  > t.a = 1
  > END
  second
  exit
  ! obs-lua: f:3: interrupted!
  ! stack traceback:
  ! \tf:2: in function 'send' (esc)
  ! \tf:3: in function 'spin' (esc)
  ! \tf:6: in function <f:6> (esc)
  ! \t[C]: in ? (esc)
  ! in watcher f:6 (registered at f:6)
  ! caused by the write at f:9
  [130]

A flush by the script is completed, then the script is interrupted.

  $ run <<'END'
  > obs.observe(t, "a", function() spin "INT" end)
  > obs.observe(t, "a", function() print("second") end)
  > t.a = 1
  > obs.flush()
  > print("not reached")
  > END
  second
  exit
  ! obs-lua: f:3: interrupted!
  ! stack traceback:
  ! \tf:2: in function 'send' (esc)
  ! \tf:3: in function 'spin' (esc)
  ! \tf:6: in function <f:6> (esc)
  ! \t[C]: in function 'obs.flush' (esc)
  ! \tf:9: in main chunk (esc)
  ! \t[C]: in ? (esc)
  ! in watcher f:6 (registered at f:6)
  ! caused by the write at f:8
  [130]

I2: an interrupted script ends in spite of on_error and --error=continue.

  $ run --error=continue <<'END'
  > obs.on_error(print)
  > obs.every(0.001, function() spin "INT" end)
  > END
  exit
  ! obs-lua: f:3: interrupted!
  ! stack traceback:
  ! \tf:2: in function 'send' (esc)
  ! \tf:3: in function 'spin' (esc)
  ! \tf:7: in function <f:7> (esc)
  ! \t[C]: in ? (esc)
  ! in timer every (registered at f:7)
  [130]

I3: the first SIGINT can be caught, without any effect.

  $ run <<'END'
  > print(pcall(spin, "INT"))
  > obs.next_turn(function() print('turn') end)
  > END
  false\tf:3: interrupted! (esc)
  turn
  exit

I3: the second SIGINT cannot be caught, and on_exit is left out.

  $ run <<'END'
  > print(pcall(spin, "INT"))
  > while true do pcall(spin, "INT") end
  > END
  false\tf:3: interrupted! (esc)
  ! obs-lua: interrupted!
  ! stack traceback:
  ! \tf:7: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [130]

A SIGINT that is caught in each turn still ends the loop.

  $ run <<'END' | sed '/^! \t/d' | uniq
  > local function turn()
  >   pcall(spin, "INT")
  >   print("turn")
  >   obs.next_turn(turn)
  > end
  > obs.next_turn(turn)
  > END
  turn
  ! obs-lua: interrupted!
  ! stack traceback:
  ! in timer next_turn (registered at f:9)

A second SIGINT ends on_exit and skips the rest of it.

  $ run <<'END'
  > obs.on_exit(function() send("INT") while true do pcall(function() while true do end end) end end)
  > obs.on_exit(function() print("not called") end)
  > obs.next_turn(function() spin "INT" end)
  > END
  exit
  ! obs-lua: f:3: interrupted!
  ! stack traceback:
  ! \tf:2: in function 'send' (esc)
  ! \tf:3: in function 'spin' (esc)
  ! \tf:8: in function <f:8> (esc)
  ! \t[C]: in ? (esc)
  ! in timer next_turn (registered at f:8)
  ! obs-lua: f:6: interrupted!
  ! stack traceback:
  ! \tf:2: in function 'send' (esc)
  ! \tf:6: in function <f:6> (esc)
  ! in exit on_exit (registered at f:6)
  [130]

An error of an awaited task is an interruption in the awaiting task.

  $ run <<'END'
  > local first = obs.task(function() obs.sleep(0.001) spin "INT" end)
  > obs.task(function() first:await() end)
  > END
  exit
  ! obs-lua: f:3: interrupted!
  ! stack traceback:
  ! \t[C]: in method 'await' (esc)
  ! \tf:7: in function <f:7> (esc)
  ! in task task (registered at f:7)
  [130]

I4: SIGTERM and SIGHUP end an endless callback in order, even if it catches them.

  $ gives places <<'END'
  > obs.next_turn(function() spin 'TERM' end) => exit | f:6: in function <f:6> | [C]: in ? | in timer next_turn (registered at f:6) | [143]
  > obs.next_turn(function() spin 'HUP' end) => exit | f:6: in function <f:6> | [C]: in ? | in timer next_turn (registered at f:6) | [129]
  > obs.next_turn(function() pcall(spin, 'TERM') end) obs.every(1000, print) => exit | [143]
  > obs.next_turn(function() pcall(spin, 'HUP') end) obs.every(1000, print) => exit | [129]
  > END
  4 of them

I4: a program started with SIGHUP ignored keeps ignoring it.

  $ (trap '' HUP; echo "obs.next_turn(function() send 'HUP' print('goes on') end)" | run)
  goes on
  exit

Both signals end virtual time, in timers and in tasks.

  $ virtual() {  # function that sends a signal
  >   echo "local last, n = function() $1 end, 0" | cat begin - >first
  >   cat first - >f <<'END'; obs --virtual-time f; echo "[$?]"
  > obs.every(1, function()
  >   n = n + 1
  >   if n == 3 then last() elseif n > 1000 then os.exit(9) end
  > end)
  > END
  >   cat first - >f <<'END'; obs --virtual-time f; echo "[$?]"
  > obs.task(function()
  >   obs.sleep(3) last()
  >   for _ = 1, 1000 do obs.sleep(1) end
  >   os.exit(9)
  > end)
  > END
  > }
  $ quietly() { "$@" | grep -v '^!'; }
  $ gives quietly virtual <<'END'
  > pcall(send, 'TERM') => exit | [143] | exit | [143]
  > send 'INT' => exit | [130] | exit | [130]
  > END
  2 of them

Without obs a script ends as under lua.

  $ cat >begin <<'END'
  > function send(name) io.popen("kill -" .. name .. " $PPID"):close() end
  > function spin(name) send(name) while true do end end
  > END
  $ as_lua() { each_run "$1" | sed 's/^!.*\(interrupted!\)$/\1/; /^!/d'; }
  $ gives as_lua <<'END'
  > spin('INT') => interrupted! | [1]
  > pcall(spin, 'INT') spin('INT') => [130]
  > spin('TERM') => [143]
  > spin('HUP') => [129]
  > coroutine.wrap(function() spin('INT') end)() => interrupted! | [1]
  > END
  5 of them
  $ obs -e 'io.popen("kill -KILL $PPID"):close()'
  [137]
