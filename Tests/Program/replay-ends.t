D3, D5, D6, D8: where a replay ends or is refused, and what it says.

  $ . "$TESTDIR/functions"
  $ skip_under thread

A replay runs in a locked process. Its output does not fit into a pipe.

  $ echo "require 'obs'.next_turn(function() end) for i = 1, 50000 do print(i) end" >a.lua
  $ status() { grep -E '^(Seccomp|NoNewPrivs):' /proc/$!/status; }
  $ obs --record=r a.lua >out; mkfifo to from
  $ obs-lua --replay=r >from </dev/null & exec 8<from; read line <&8; status
  NoNewPrivs:\t1 (esc)
  Seccomp:\t2 (esc)
  $ cat <&8 >rest; wait; wc -l <rest
  49999
  $ obs-lua --replay=r --until=1 <to >from 2>&1 & exec 7>to 8<from; read line <&8; status
  NoNewPrivs:\t1 (esc)
  Seccomp:\t2 (esc)
  $ echo 'print(io.open "r")' >&7; exec 7>&-; grep -o 'r: .*' <&8; wait
  r: Operation not permitted\t1 (esc)

A changed line of the script is reported if the script is named.

  $ printf 'print(%s)\n' 1 2 3 >a.lua; obs --record=r a.lua >out; sed -i s/2/22/ a.lua
  $ obs --replay=r | cmp - out; obs --replay=r a.lua; rm a.lua; obs --replay=r a.lua
  ! obs-lua: a.lua:2 has changed since the recording: it was 'print(2)', and is 'print(22)' (without the script's name, the recorded one is replayed)
  1
  2
  3

A recording that was cut is replayed as far as it goes.

  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() print(t.n) end)
  > obs.every(0.001, function()
  >   t.n = t.n + 1
  >   if t.n == 20 then os.execute("kill -9 $PPID") end
  > end)
  > END
  $ obs --record=r a.lua >recorded
  [137]
  $ obs --replay=r >out; head -19 out | cmp recorded -; tail -2 out | sed 's/turn [0-9]*/turn N/'
  19
  ! obs-lua: the recording ends here, in turn N (timer, a.lua:4)

A replay stops at the first event or input that differs.

  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() print(t.n) end)
  > obs.after(0.01, function() t.n = 5 end)
  > obs.after(0.02, function() t.n = 6 print(os.getenv "A") end)
  > END
  $ obs --record=r a.lua >out
  $ sed '/"write",1/s/,5,/,4,/' r >r1; obs --replay=r1
  5
  ! obs-lua: the replay differs from the recording: line *, in turn 2 (timer, a.lua:4) at a.lua:4: recorded ["write",1,1,"n",0,4,*], now ["write",1,1,"n",0,5,*] (glob)
  [1]
  $ sed 's/"getenv","A"/"getenv","B"/' r >r2; obs --replay=r2
  5
  ! obs-lua: the replay differs from the recording: line *, in turn 3 (timer, a.lua:5): recorded ["input","getenv","B",*], now the input 'getenv' of 'A' (glob)
  [1]

A write of another table is an event that differs.

  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > local t = {}
  > obs.observe(t, "a", function() end)
  > t.a = {}
  > t.b = obs.array {}
  > END
  $ obs --record=r a.lua; obs --replay=r
  $ sed '/"write"/s/"o":"2000[0-9a-f]*"/"o":"200000000000"/' r >r1; obs --replay=r1 | grep -o 'the replay differs.*: '
  the replay differs from the recording: line *, in turn 1 (chunk) at a.lua:4:* (glob)

D6: a recording of another build, and one without inputs, are refused, as is a file that is not one.

  $ obs --record=r -e 'print(1)' >out; obs --record=r3 --no-inputs -e 'print(1)' >out
  $ obs --record=r4 --record-last=9 -e 'print(1)' >out
  $ sed '1s/, build [0-9a-f]*/, build 123/' r >r1; echo x >r2; mkfifo pipe
  $ refused() { ends_with 1 "$1" | sed 's/obs-lua [0-9.]* [^,]*/V/g; s/build [0-9a-f]*$/build B/'; }
  $ gives refused <<'END'
  > --replay=r1 => 'r1' was recorded by V, build 123, and this is V, build B
  > --replay=r b.lua => 'r' is a recording of '-', not of 'b.lua'; leave out the name to replay it
  > --replay=none => cannot replay 'none': No such file or directory
  > --replay=r2 => 'r2' is not a recording
  > --replay=r3 => 'r3' cannot be replayed: it has no inputs (they are recorded by --record, without --record-last and --no-inputs)
  > --replay=r4 => 'r4' cannot be replayed: it has no inputs (they are recorded by --record, without --record-last and --no-inputs)
  > --replay=/dev/zero => cannot replay '/dev/zero': it is not a regular file
  > --replay=. => cannot replay '.': it is not a regular file
  > --replay=pipe => cannot replay 'pipe': it is not a regular file
  > END
  9 of them

A replay ends with an answer. --bisect evaluates expressions, which cannot change the run; steps that cannot be
replayed are named.

  $ answers() {  # options of the replay: program
  >   printf "%s\n" "obs = require 'obs'" "${1#*: }" >a.lua
  >   obs --record=r a.lua >out
  >   eval "obs --replay=r ${1%%: *}" | tail -1; ls g 2>/dev/null
  > }
  $ gives answers <<'END'
  > : f = io.open('f', 'w') f:write 'a' obs.next_turn(function() os.execute 'kill -9 $PPID' end) => ! obs-lua: the recording ends here, in the main chunk
  > --bisect='x == 0': f = io.open('f', 'w') f:write 'a' x = 0 obs.next_turn(function() x = 1 end) => 'x == 0' is false after turn 2 (next, a.lua:2)
  > --bisect='x ~= 1': x = 1 os.exit(3) => 'x ~= 1' is false after the main chunk
  > --bisect='x == 1': x = 1 => 'x == 1' is true after each turn, up to the main chunk
  > --until=3: obs.on_exit(print) => ! obs-lua: the program has ended with turn 3 (exit, a.lua:2): there is no prompt after it
  > --until=9: os.exit() => ! obs-lua: the run ends before turn 9, after the main chunk
  > --bisect='os.exit(0)': x = 1 => ! obs-lua: the expression cannot be evaluated after the main chunk
  > --bisect='os.time() > 0': x = 1 => 'os.time() > 0' is true after each turn, up to the main chunk
  > --bisect='obs.start_recording([[g]]) or true': x = 1 => 'obs.start_recording([[g]]) or true' is true after each turn, up to the main chunk
  > : print(1) obs.inspect() os.exit() => ! obs-lua: the rest cannot be replayed: an inspector
  > END
  10 of them

A time limit of the recorded run does not end a replay.

  $ obs --record=r --timeout=1000 -e 'for i = 1, 60000 do print(i) end' >out
  $ sed '1s/--timeout=1000/--timeout=0.001/' r >r1; obs --replay=r1 | tail -1
  60000

D6: an interruption of running code is named.

  $ for o in --timeout=0.2 --turn-time=200ms; do
  >   obs --record=r $o -l obs -e 'obs.after(0, function() while os.clock() do end end)' | grep warning
  >   grep -c '^."cannot"' r; obs --replay=r; echo "[$?]"
  > done
  ! obs-lua: warning: this run cannot be replayed beyond this point: a signal or time limit that interrupts the script, in turn 2
  1
  ! obs-lua: the rest cannot be replayed: a signal or time limit that interrupts the script
  [1]
  ! obs-lua: warning: this run cannot be replayed beyond this point: a signal or time limit that interrupts the script, in turn 2
  1
  ! obs-lua: the rest cannot be replayed: a signal or time limit that interrupts the script
  [1]

D6: calls of a C module that cannot be replayed are named when they are met.

  $ printf "local lfs = require 'lfs'\nprint(1)\nprint(lfs.currentdir() ~= nil)\n" >a.lua
  $ { obs --record=r a.lua; obs --replay=r --trust; echo "[$?]"; } | sed 's|/[^ ]*/lfs|lfs|'
  1
  true
  ! obs-lua: warning: this run cannot be replayed beyond this point: lfs.so calls getcwd, in the main chunk at a.lua:3
  1
  ! obs-lua: the rest cannot be replayed: lfs.so calls getcwd
  [1]

D6: calls in threads of a C module are not inputs.

  $ obs --record=r - <<'END'
  > local uv = require "luv"
  > local function open(n)
  >   uv.fs_open("a.lua", "r", 0, function() if n > 0 then open(n - 1) end end)
  > end
  > for _ = 1, 20 do open(20) end
  > for _ = 1, 5 do
  >   uv.new_thread(function() for _ = 1, 100 do os.time() os.getenv "A" end end)
  > end
  > uv.run()
  > print "end"
  > END
  end
  ! obs-lua: warning: * calls epoll_create1, in the main chunk at stdin:1 (glob)

--until stops after a turn, at a prompt.

  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > t = { n = 0 }
  > w = obs.observe(t, "n", function() print(t.n) end, { name = "printer" })
  > for i = 1, 5 do obs.after(i / 100, function() t.n = i end) end
  > obs.on_exit(function() print "exit" end)
  > END
  $ obs --record=r a.lua >out
  $ printf 't.n\nrequire "obs".why(w)\nio.open("f", "w")\n' | obs --replay=r --until=3 a.lua | sed 's/^>/prompt>/; s/0x[0-9a-f]*/ADDRESS/'
  1
  2
  prompt> t.n
  2
  prompt> require "obs".why(w)
  table: ADDRESS\tprinter was called in turn 3, flush 1, because of: (esc)
    'n' was written at a.lua:4 in turn 3 (1 \xe2\x86\x92 2) (esc)
  prompt> io.open("f", "w")
  nil\tf: Operation not permitted\t1 (esc)
  prompt> 
  ! after turn 3 (timer, a.lua:4)
  $ obs --replay=r --until=99
  1
  2
  3
  4
  5
  exit
  ! obs-lua: the run ends before turn 99, after turn 8 (exit, a.lua:5)
  [1]

--bisect finds the first turn after which an expression is false.

  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > t = { n = 0 }
  > for i = 1, 9 do obs.after(i / 500, function() t.n = i print(i) end) end
  > END
  $ obs --record=r a.lua >out
  $ bisect() { obs --replay=r --bisect="$1" | grep -v '^! \(stack\|\t\)'; echo "[${PIPESTATUS[0]}]"; }
  $ gives bisect <<'END'
  > t.n < 6 => 't.n < 6' is false after turn 7 (timer, a.lua:3) | [0]
  > t.n < 60 => 't.n < 60' is true after each turn, up to turn 10 (timer, a.lua:3) | [1]
  > (function() t.n = 60 return true end)() => '(function() t.n = 60 return true end)()' is true after each turn, up to turn 10 (timer, a.lua:3) | [1]
  > t.x.y => ! obs-lua: bisect:1: attempt to index a nil value (field 'x') | ! obs-lua: the expression cannot be evaluated after turn 1 (chunk) | [2]
  > t n => ! obs-lua: bisect:1: <eof> expected near 'n' | ! obs-lua: the expression cannot be evaluated after turn 1 (chunk) | [2]
  > END
  5 of them

A copy that evaluates an expression for ever ends with its process.

  $ obs --record=r -e 'print(1)' >out; mkfifo p
  $ obs-lua --replay=r --bisect='(function() while true do end end)()' >p 2>&1 </dev/null & exec 3<p
  $ while [ -z "$(cat /proc/$!/task/$!/children)" ]; do :; done; { kill -9 $!; wait $!; } 2>/dev/null
  [137]
  $ cat <&3

D8: the copy that evaluates an expression changes nothing outside.

  $ cat >a.lua <<'END'
  > obs = require "obs"
  > cart = setmetatable({}, { __index = function()
  >   os.execute "touch written"
  >   return 1
  > end })
  > setmetatable({}, { __gc = function() os.remove "precious" end })
  > for i = 1, 50 do file = io.open "a.lua" end
  > END
  $ obs --record=r a.lua
  $ changes_nothing() { echo kept >precious; bisect "$1"; ls written 2>/dev/null; grep -v kept precious; }
  $ gives changes_nothing <<'END'
  > cart.total >= 0 => 'cart.total >= 0' is true after each turn, up to the main chunk | [1]
  > collectgarbage() == 0 => 'collectgarbage() == 0' is true after each turn, up to the main chunk | [1]
  > #string.rep('x', 1000000) > 0 => '#string.rep('x', 1000000) > 0' is true after each turn, up to the main chunk | [1]
  > io.close(file) => 'io.close(file)' is false after the main chunk | [0]
  > io.open('written', 'w') => 'io.open('written', 'w')' is false after the main chunk | [0]
  > os.rename('precious', 'written') => 'os.rename('precious', 'written')' is false after the main chunk | [0]
  > os.execute 'touch written' => 'os.execute 'touch written'' is false after the main chunk | [0]
  > io.popen 'touch written' => 'io.popen 'touch written'' is false after the main chunk | [0]
  > pcall(require, 'cjson') => 'pcall(require, 'cjson')' is false after the main chunk | [0]
  > file:read(5000) => 'file:read(5000)' is false after the main chunk | [0]
  > pcall(obs.inspect) => 'pcall(obs.inspect)' is false after the main chunk | [0]
  > obs.start_recording 'written' => 'obs.start_recording 'written'' is false after the main chunk | [0]
  > END
  12 of them
