Limits of time, which the thread sanitizer cannot keep: it delivers signals late.

  $ . "$TESTDIR/functions"
  $ skip_under thread

The time limit stops a loop and shows its position.

  $ obs --timeout=0.2 -e 'while true do end'
  ! obs-lua: (command line):1: timed out (--timeout=0.2)
  ! stack traceback:
  ! \t(command line):1: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [124]

No script outlives the time limit.

  $ outlives() { obs --timeout=0.05 -e "$1" | grep -o 'timed out.*'; echo "[${PIPESTATUS[0]}]"; }
  $ gives outlives <<'END'
  > while true do pcall(function() while true do end end) end => timed out (--timeout=0.05) | [124]
  > coroutine.wrap(function() while true do end end)() => timed out (--timeout=0.05) | [124]
  > string.find(string.rep('a', 1000000), '.*b') => timed out (--timeout=0.05) | [124]
  > setmetatable({}, {__gc = function() while true do end end}) collectgarbage() => timed out (--timeout=0.05) | [124]
  > while true do coroutine.wrap(function() while true do end end)() end => timed out (--timeout=0.05) | [124]
  > END
  5 of them

S1: the preparation of a sandbox does not count as time of its scripts.

  $ obs --sandbox --turn-time=1ms -e 'while true do end' 2>&1 | head -1
  ! obs-lua: (command line):1: the turn took longer than its limit (1 ms)

Without a timer, scripts with a time limit do not run.

  $ for sandbox in '' --sandbox; do
  >   prlimit --sigpending=0 obs-lua --turn-time=50ms $sandbox -e 'while true do end' </dev/null
  >   echo "[$?]"
  > done 2>&1 | grep -v '\[C\]'
  obs-lua: the system refused the timer that limits the time of the turn: Resource temporarily unavailable (EAGAIN)
  [1]
  obs-lua: the system refused the timer that limits the time of the turn: Resource temporarily unavailable (EAGAIN)
  [1]

X4: a stopped merge has changed nothing. A plain list is assigned as a whole, an array element by element.

  $ cat >template <<'END'
  > local obs = require "obs"
  > local list, counts = LIST, { whole = 0, empty = 0, torn = 0 }
  > local size, isMerged = 1, false
  > local timer
  > timer = obs.every(0.001, function()
  >   if isMerged then
  >     isMerged = false
  >     local how = #list == size and "whole" or #list == 0 and "empty" or "torn"
  >     counts[how] = counts[how] + 1
  >     size = size + 500
  >     if counts.whole == 20 then
  >       timer:stop()
  >       print(counts.empty > 0, counts.torn)
  >     end
  >   elseif #list < size then
  >     -- A slow machine may stop this, too: the next turn goes on.
  >     for i = #list + 1, math.min(#list + 500, size) do list[i] = ELEMENT end
  >   else
  >     isMerged = true
  >     obs.merge(list, {})
  >   end
  > end)
  > END
  $ for kind in 's/LIST/{}/; s/ELEMENT/i/' 's/LIST/obs.array()/; s/ELEMENT/{ a = i }/'; do
  >   sed "$kind" template >f.lua
  >   obs --sandbox --turn-time=10ms --error=continue f.lua | sed 's/^!.*\(the turn took.*\)/\1/; /^!/d' | uniq
  > done
  true\t0 (esc)
  the turn took longer than its limit (10 ms)
  true\t0 (esc)
  the turn took longer than its limit (10 ms)

The time limit for on_exit comes after that of the program. A busy machine starts the script late: if it was
stopped before its first statement, it runs again with more time.

  $ timed_out() {  # script
  >   local limit
  >   for limit in 0.1 1 10; do
  >     { echo 'io.open("begun", "w"):close()'; cat "$1"; } >f
  >     rm -f begun; obs --timeout=$limit f >out || echo "[$?]" >>out
  >     [ -e begun ] && break
  >   done
  >   sed "s/--timeout=$limit/--timeout=LIMIT/" out
  > }
  $ cat >begin <<'END'
  > local obs = require "obs"
  > function spin() while true do end end
  > obs.on_exit(function() print("exit") end)
  > END

on_exit gets extra time after the time limit.

  $ { cat begin; cat; } >script <<'END'
  > obs.on_exit(function() for _ = 1, 1000 do end print('done') end)
  > obs.every(1000, print)
  > END
  $ timed_out script
  exit
  done
  [124]

The time limit for on_exit is enforced, too.

  $ { cat begin; cat; } >script <<'END'
  > obs.on_exit(function() while true do pcall(spin) end end)
  > obs.on_exit(function() print("not called") end)
  > obs.every(1000, print)
  > END
  $ timed_out script | sed '/^! \t/d'
  exit
  ! obs-lua: f:5: timed out (--timeout=LIMIT)
  ! stack traceback:
  ! in exit on_exit (registered at f:5)
  [124]

The time limit applies in coroutines.

  $ { cat begin; echo 'while true do pcall(coroutine.wrap(spin)) end'; } >script
  $ timed_out script | sed '/^! \t/d'
  exit
  ! obs-lua: f:5: timed out (--timeout=LIMIT)
  ! stack traceback:
  [124]
