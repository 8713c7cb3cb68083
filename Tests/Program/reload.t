--watch=reload: modules that are loaded again while the program runs (H5).

  $ . "$TESTDIR/functions"
  $ cat >rules.lua <<'END'
  > local rules = {}
  > function rules.move(world) world.x = world.x + 1 end
  > return rules
  > END
  $ cp rules.lua first.lua

H1, H2: modules and the script change while the program runs.

  $ cat >game.lua <<'END'
  > io.stdout:setvbuf "line"
  > local obs, rules = require "obs", require "rules"
  > local world = obs.state("world", { x = 0, steps = 0 })
  > local first = ...
  > obs.every(0.01, function()
  >   world.steps = world.steps + 1
  >   rules.move(world)
  > end)
  > obs.observe(world, "x", function(world)
  >   print("drawing " .. (world.x > 1000 and "far" or "near") .. " " .. first)
  > end)
  > END
  $ start --watch=reload game.lua here; until_line 'drawing near here'
  drawing near here
  $ sed 's/+ 1 end/+ 1000 end/' rules.lua >other; mv other rules.lua; until_line 'drawing far' | grep -v near
  obs-lua: 'rules' was loaded again
  drawing far here
  $ sed 's/drawing/painting/' game.lua >other; cat other >game.lua; until_line painting | grep -v drawing
  obs-lua: 'game.lua' was loaded again
  painting far here
  $ echo 'x = =' >rules.lua; until_line 'not loaded again' | grep again
  obs-lua: 'rules' was not loaded again, its former code goes on: ./rules.lua:1: unexpected symbol near '='
  $ : >rules.lua; until_line 'returns nothing now' | grep again
  obs-lua: 'rules' was not loaded again, its former code goes on: the module 'rules' returned a table before, and returns nothing now
  $ printf '%s' 'return { move = function(world) print "stopped" os.exit(7) end }' >rules.lua
  $ until_line stopped | grep -v painting
  obs-lua: 'rules' was loaded again
  stopped
  $ until_idle; finish TERM
  [143]

H4: copies of functions are named, and other files restart the script.

  $ mv first.lua rules.lua; echo 'return 1' >data.lua; cat >other.lua <<'END'
  > local move = require "rules".move
  > return { go = function(world) move(world) end }
  > END
  $ cat >main.lua <<'END'
  > io.stdout:setvbuf "line"
  > local obs = require "obs"
  > require "other"
  > print("data " .. dofile "data.lua")
  > obs.every(60, function() end)
  > END
  $ start --watch=reload main.lua; until_line 'data 1'
  data 1
  $ echo >>rules.lua; until_line warning
  obs-lua: 'rules' was loaded again
  obs-lua: warning: the function 'go' of the module 'other' has the old 'move' of 'rules' in its local 'move'
  $ echo 'return 2' >data.lua; until_line 'data 2'
  data 2
  $ finish TERM
  [143]

H1: a mistake in a callback, or one that another module repairs, does not end the program.

  $ echo 'return {}' >b.lua; echo 'return { v = 1, f = function() end }' >a.lua; cat >main.lua <<'END'
  > io.stdout:setvbuf "line"
  > local obs, a = require "obs", require "a"
  > require "b"
  > local state = obs.state("s", { n = 0 })
  > obs.every(0.01, function()
  >   a.f()
  >   state.n = state.n + 1
  >   print("v" .. a.v)
  > end)
  > END
  $ start --watch=reload main.lua; until_line v1
  v1
  $ echo 'return { v = 2, f = function() error "oops" end }' >a.lua; until_line oops | grep -v v1
  obs-lua: 'a' was loaded again
  obs-lua: ./a.lua:1: oops
  $ echo 'return { v = require "b".v + 1, f = function() end }' >a.lua
  $ until_line "'a' was not loaded again" | grep "'a'"
  obs-lua: 'a' was not loaded again, its former code goes on: ./a.lua:1: attempt to perform arithmetic on a nil value (field 'v')
  $ echo 'return { v = 2 }' >b.lua; until_line v3 | grep 'again\|v[13]'
  obs-lua: 'b' was loaded again
  obs-lua: 'a' was loaded again
  v3
  $ { until_line v3; finish TERM; } | uniq
  v3

A script that is busy for ever, or ends before it sees a change, runs again.

  $ echo 'return { version = 1 }' >m.lua; cat >main.lua <<'END'
  > io.stdout:setvbuf "line"
  > local obs, m = require "obs", require "m"
  > print("version " .. m.version)
  > if m.version == 1 then while true do end end
  > if m.version == 2 then os.execute "until [ -e go ]; do :; done" end
  > END
  $ start --watch=reload main.lua; until_line 'version 1'
  version 1
  $ echo 'return { version = 2 }' >m.lua; until_line 'version 2' | grep version
  version 2
  $ echo 'return { version = 3 }' >m.lua; : >go; until_line 'version 3' | grep version
  version 3
  $ until_idle; finish TERM
  [143]
