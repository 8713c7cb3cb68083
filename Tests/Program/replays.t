D5, D8: a replay has the same output, errors and status, whatever the system does differently. The thread sanitizer
reserves the addresses that a replay needs.

  $ . "$TESTDIR/functions"
  $ skip_under thread

Each of these programs is recorded with two arguments and an input of three lines, and loses its files.

  $ replays_program() {  # program
  >   echo "$1" >a.lua
  >   replays "printf '12 a\nbcd\nrest\n' | obs-lua --record=r a.lua 'b c' d" 'rm -rf a.lua f m m.lua'
  > }
  $ each replays_program <<'END'
  > print(os.time(), os.clock(), os.date(), os.date('%c %Z'), os.getenv 'HOME', os.getenv 'no')
  > print(os.time { year = 2020, month = 13, day = 1, hour = 12 })
  > print(os.tmpname(), os.remove 'none', os.rename('none', 'other'))
  > print(os.execute 'exit 3', os.execute())
  > print(os.setlocale(), os.setlocale 'none')
  > local f = io.popen 'date +%N; exit 4' print(f:read 'a', f:close())
  > local f = io.popen('cat >/dev/null', 'w') print(f:write(('x'):rep(100000)), f:close())
  > print(io.read('n', 'l', 3, 'a'))
  > for line in io.lines() do print(line) end print(io.read())
  > print(io.open 'none', io.open('/', 'r'):read())
  > local f = io.open('f', 'w+') f:write('abc', 1) print(f:seek('set', 1), f:read 'a', f)
  > local f = io.tmpfile() f:write(('line\n'):rep(3000)) f:seek 'set' print(#f:read 'a')
  > io.output 'f' io.write 'abc' io.close() for line in io.lines 'f' do print(line) end
  > print(loadfile 'a.lua', pcall(dofile, 'none'), pcall(require, 'none'))
  > local f = io.open('m.lua', 'w') f:write 'return os.time()' f:close() print(require 'm')
  > print(os.setlocale 'C.UTF-8', os.setlocale(nil), os.setlocale 'C')
  > print(math.random(), math.randomseed(), {}, print, io.stdin, coroutine.create(print))
  > for name in pairs(string) do io.write(name, ' ') end error 'no'
  > error { }
  > os.exit(7)
  > os.exit(7, true)
  > print(#arg, arg[0], arg[1], ...)
  > setmetatable({}, { __gc = function() print(os.time(), io.read()) end })
  > local t <close> = setmetatable({}, { __close = function() print(os.clock()) end })\
  > os.exit(1, true)
  > io.stdout:close() print(1)
  > io.stderr:write 'err' io.stdout:setvbuf 'no' print 'out'
  > obs = require 'obs'\
  > obs.every(0.01, function() print(obs.now()) if os.clock() > 0.1 then os.exit(2) end end)
  > obs = require 'obs'\
  > h = obs.on_readable(io.stdin, function(f)\
  >   local line = f:read()\
  >   print(line)\
  >   if not line then h:stop() end\
  > end)
  > obs = require 'obs' obs.task(function() obs.sleep(0.02) print(obs.now()) error 'late' end)
  > obs = require 'obs'\
  > obs.on_exit(function() print(obs.stats().seconds, collectgarbage 'count') end)
  > obs = require 'obs' print(pcall(obs.on_readable, 77, print))
  > local f = io.open('/dev/stderr', 'a') f:write 'errors' f:close() print 'out'
  > obs = require 'obs' print(obs.start_recording 'f', obs.start_recording 'a.lua')
  > END
  33 of them

The command line and the environment are those of the recorded run.

  $ replays_line() { echo 'print(1)' >b.lua; replays "$1" 'rm b.lua'; }
  $ each replays_line <<'END'
  > LUA_INIT='print(os.time())' obs-lua --record=r -e 'print(1)'
  > LUA_PATH='./?.x' obs-lua --record=r -e 'print(package.path, pcall(require, [[none]]))'
  > echo 'print(os.clock())' | obs-lua --record=r -
  > echo 'print(obs.now())' | obs-lua --record=r --sandbox -l obs -
  > obs-lua --record=r --sandbox b.lua
  > obs-lua --record=r --virtual-time -l obs -e 'obs.after(9, function() print(obs.now()) end)'
  > obs-lua --record=r -W -e 'warn [[a]] print(...)'
  > obs-lua --record=r --error=continue -l obs -e 'obs.next_turn(error) obs.after(0.01, print)'
  > obs-lua --record=r $(printf -- '-eprint[[\377]]')
  > obs-lua --record=r none.lua
  > obs-lua --record=r --timeout=2 -l obs -e 'obs.after(9, print) obs.on_exit(print)'
  > obs-lua --record=r --max-memory=64M --turn-time=20s -e 'print(collectgarbage [[count]])'
  > END
  12 of them

Each long option is replayed, whatever the build does with its names.

  $ for option in --error=continue --virtual-time --timeout=60 --sandbox --max-memory=64M --turn-time=60s; do
  >   replays "obs-lua $option --record=r -e 'print(1)'"
  > done

The program starts itself again, which neither its script nor its processes see: the environment, arguments and
input are those of the user.

  $ cat >a.lua <<'END'
  > local hashing, again = "SWIFT_DETERMINISTIC_HASHING", "OBS_LUA_STARTED_AGAIN"
  > print(os.getenv(hashing), os.getenv(again), os.getenv "A")
  > for line in io.popen "env | grep -E '^(SWIFT_|OBS_LUA_S|A=)'":lines() do print(line) end
  > print(arg[-2], arg[-1], arg[0], io.read())
  > END
  $ for setting in A=1 SWIFT_DETERMINISTIC_HASHING=0 SWIFT_DETERMINISTIC_HASHING=1; do
  >   echo in | env $setting obs-lua --record=r a.lua; A=3 obs --replay=r
  > done
  nil\tnil\t1 (esc)
  A=1
  nil\tobs-lua\ta.lua\tin (esc)
  nil\tnil\t1 (esc)
  A=1
  nil\tobs-lua\ta.lua\tin (esc)
  0\tnil\tnil (esc)
  SWIFT_DETERMINISTIC_HASHING=0
  nil\tobs-lua\ta.lua\tin (esc)
  0\tnil\tnil (esc)
  SWIFT_DETERMINISTIC_HASHING=0
  nil\tobs-lua\ta.lua\tin (esc)
  1\tnil\tnil (esc)
  SWIFT_DETERMINISTIC_HASHING=1
  nil\tobs-lua\ta.lua\tin (esc)
  1\tnil\tnil (esc)
  SWIFT_DETERMINISTIC_HASHING=1
  nil\tobs-lua\ta.lua\tin (esc)

A program that does everything at random is replayed.

  $ for i in 1 2 3 4 5 6 7 8 9 10; do replays "seq 1000 | obs-lua --record=r $TESTDIR/recordings/random.lua 300"; done

A signal during a wait ends the replay, too.

  $ for signal in INT TERM; do
  >   cat >a.lua <<END
  > obs = require "obs"
  > obs.after(100, print)
  > obs.on_exit(function() print("exit", obs.now()) end)
  > os.execute [[(until grep -q '^."end",1' r; do :; done; kill -$signal \$PPID) &]]
  > END
  >   replays 'obs-lua --record=r a.lua'
  > done

A replay writes no file and starts no process.

  $ cat >a.lua <<'END'
  > io.open("made", "w"):write("x"):close()
  > os.execute "touch started"
  > io.popen("touch opened"):close()
  > os.rename("kept", "moved")
  > os.remove "gone"
  > print(os.tmpname())
  > END
  $ names='made started opened moved'; touch kept gone; name=$(obs-lua --record=r a.lua </dev/null)
  $ rm $names "$name"; touch kept gone
  $ [ "$(obs --replay=r)" = "$name" ] && ls $names "$name" kept gone 2>/dev/null
  gone
  kept
  [2]

The message of a C module that could not be loaded is an input.

  $ echo "print(package.loadlib('./x.so', '*')) print(package.loadlib('./y.so', '*'))" >a.lua; echo x >x.so
  $ replays 'obs-lua --record=r a.lua' 'rm x.so'

Bytecode and C modules are replayed if the recording is the user's own.

  $ trusted() {  # program
  >   printf '%s\n' "B = string.dump(function() print 'b' end)" "$1" >a.lua
  >   replays 'obs-lua --record=r a.lua' 'rm -f a.lua m' --trust
  >   obs --replay=r; echo "[$?]"
  > }
  $ each trusted <<'END'
  > local f = io.open('m', 'wb') f:write(B) f:close() dofile 'm'
  > print(load(B))
  > print(load(function() local s = B B = nil return s end, 'b', 'b'))
  > print(require 'cjson'.encode { 1 }, require 'lpeg'.P 'a')
  > END
  ! obs-lua: the rest cannot be replayed: a chunk of bytecode (a replay loads it with --trust only)
  [1]
  ! obs-lua: the rest cannot be replayed: a chunk of bytecode (a replay loads it with --trust only)
  [1]
  ! obs-lua: the rest cannot be replayed: a chunk of bytecode (a replay loads it with --trust only)
  [1]
  ! obs-lua: the rest cannot be replayed: the C module '/*/cjson.so' (--trust allows modules in package.cpath of this machine) (glob)
  [1]
  4 of them

A library that is not a module of this machine is never loaded.

  $ cat >a.lua <<'END'
  > local path = package.searchpath("cjson", package.cpath)
  > local folder, file = path:match "^(.*)/(.-)$"
  > local paths = {
  >   "./x.so", io.popen "pwd":read() .. "/x.so", folder .. "/../5.4/" .. file,
  >   folder .. "/./" .. file, folder .. "//" .. file, "libm.so.6",
  > }
  > print(package.loadlib(paths[tonumber(arg[1])], "*"))
  > END
  $ cp "$(obs -e 'print(package.searchpath("cjson", package.cpath))')" x.so
  $ for i in 1 2 3 4 5 6; do
  >   obs --record=r a.lua $i; LUA_CPATH='./?.so;;' obs --replay=r --trust
  > done | sed "s/'.*'/FILE/" | sort | uniq -c
        6 ! obs-lua: the rest cannot be replayed: the C module FILE, which is not in package.cpath of this machine
        6 true

Each recorded run has another order and other random numbers.

  $ for line in 'for name in pairs(string) do print(name) end' 'print(math.random(0), math.random(0))' \
  >   'math.randomseed() print(math.random(0))'; do
  >   for i in 1 2 3 4 5; do obs --record=r -e "$line" | tr -d '\n'; echo; done | sort -u | wc -l
  > done
  5
  5
  5
