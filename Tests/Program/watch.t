--watch: scripts and tests that run again after a change. Each line of the output is awaited.

  $ . "$TESTDIR/functions"
  $ new() { rm -rf scripts; mkdir scripts; cd scripts; }
  $ begin='io.stdout:setvbuf "line"'

A script runs again when it changes, or a module that it requires.

  $ new; echo 'return 1' >m.lua; { echo "$begin"; cat; } >s.lua <<'END'
  > local obs, value = require "obs", require "m"
  > obs.on_exit(function() print("end of " .. value) end)
  > obs.every(60, function() end)
  > print("value " .. value)
  > END
  $ start --watch s.lua; until_line 'value 1'
  value 1
  $ echo 'return 2' >other; mv other m.lua; until_line 'value 2'
  end of 1
  value 2
  $ sed 's/value "/second value "/' s.lua >other; cat other >s.lua; until_line 'second value 2'
  end of 2
  second value 2
  $ finish TERM
  end of 2
  [143]

S9: a sandbox runs again when a module in its folder changes. Only the process that runs the script is locked.

  $ cd ..; new; mkdir modules; echo 'return 1' >modules/m.lua
  $ echo 'require("obs").every(60, print) print("value " .. require "m")' >s.lua
  $ start --watch --sandbox=modules s.lua; until_line 'value 1'
  value 1
  $ echo 'return 2' >other; mv other modules/m.lua; until_line 'value 2'
  value 2
  $ finish TERM
  [143]

A script that has ended or failed runs again, too.

  $ cd ..; new; echo 'print "first"' >s.lua
  $ start --watch s.lua; until_line first
  first
  $ echo 'x = =' >s.lua; until_line unexpected
  obs-lua: s.lua:1: unexpected symbol near '='
  $ echo 'print "third"' >s.lua; until_line third
  third
  $ until_idle; finish INT
  [130]

Targets of links are watched, and files loaded from another folder.

  $ cd ..; new; mkdir d real; echo 'return 1' >d/m.lua; ln -s real/s.lua s.lua
  $ { echo "$begin"; cat; } >real/s.lua <<'END'
  > require("obs").every(60, function() end)
  > require("lfs").chdir "d"
  > print("value " .. require "m")
  > END
  $ start --watch s.lua; until_line 'value 1'
  value 1
  $ echo 'return 2' >d/m.lua; until_line 'value 2'
  value 2
  $ sed 's/value "/second value "/' real/s.lua >other; mv other real/s.lua; until_line 'second value 2'
  second value 2
  $ finish TERM
  [143]

Q4: a folder may be replaced, and a link may be switched, for each way to use `d/m.lua`.

  $ cd ..; new; echo "$begin" 'print("value " .. require "d.m")' >plain.lua
  $ { echo "$begin"; cat; } >reloading.lua <<'END'
  > require("obs").every(0.01, function()
  >   local value = require "d.m"
  >   if value ~= last then print("value " .. value) end
  >   last = value
  > end)
  > END
  $ echo 'case("value " .. require "d.m", function() expect(true) end)' >testing.lua
  $ { echo "$begin"; cat; } >watching.lua <<'END'
  > local function show()
  >   local file = io.open "d/m.lua"
  >   local text = file and file:read "a" or ""
  >   if text ~= "" then print("value " .. text:match "%d") end
  > end
  > require("obs.io").watch("d/m.lua", show)
  > show()
  > END
  $ replaced() {  # before: then
  >   for use in '--watch plain.lua' '--watch=reload reloading.lua' '--test --watch testing.lua' watching.lua; do
  >     rm -rf d old new 1 2; eval "${1%%: *}"; echo 'return 1' >d/m.lua
  >     { start $use && until_line 'value 1' && eval "${1#*: }" && until_line 'value 2' &&
  >       echo 'return 3' >d/m.lua && until_line 'value 3'; } >shown || { echo "$use, $1:"; cat shown; }
  >     finish TERM >/dev/null
  >   done
  > }
  $ each replaced <<'END'
  > mkdir d: mv d old; mkdir d; echo 'return 2' >d/m.lua
  > mkdir d: rm -r d; mkdir d; echo 'return 2' >d/m.lua
  > mkdir d: mkdir new; echo 'return 2' >new/m.lua; mv d old; mv new d
  > mkdir 1 2; ln -s 1 d: echo 'return 2' >2/m.lua; ln -sfn 2 d
  > mkdir 1 2; ln -s 1 d: echo 'return 2' >2/m.lua; rm d; ln -s 2 d
  > END
  5 of them

H1, H5: a module of another language is watched, too.

  $ cd ..; new; { echo "$begin"; cat; } >s.lua <<'END'
  > table.insert(package.searchers, function(name)
  >   local file = io.open(name .. ".txt")
  >   if not file then return "no text" end
  >   local text = file:read "a"
  >   file:close()
  >   return function() return { value = text } end, name .. ".txt"
  > end)
  > local m, last = require "m", nil
  > require("obs").every(0.01, function()
  >   if m.value ~= last then io.write("value " .. m.value) end
  >   last = m.value
  > end)
  > END
  $ for option in --watch --watch=reload; do
  >   echo 1 >m.txt; start $option s.lua; until_line 'value 1'; echo 2 >m.txt; until_line 'value 2'; finish TERM
  > done | grep value
  value 1
  value 2
  value 1
  value 2

H5: a module that is replaced while it is loaded is not missed.

  $ { echo "$begin"; cat; } >s.lua <<'END'
  > print("value " .. require("m").value)
  > require("obs").every(60, print)
  > END
  $ for option in --watch --watch=reload; do
  >   echo 'os.rename("new.lua", "m.lua") return { value = 1 }' >m.lua
  >   echo 'print "value 2" return { value = 3 }' >new.lua
  >   start $option s.lua; until_line 'value 2'; finish TERM
  > done | grep 'value 2'
  value 2
  value 2

A missing module may appear in a new folder.

  $ cd ..; new; echo 'print("value " .. require "lib.m")' >s.lua
  $ start --watch s.lua; until_line 'not found'
  obs-lua: s.lua:1: module 'lib.m' not found:
  $ mkdir lib; echo 'return 7' >lib/m.lua; until_line 'value 7' | tail -1
  value 7
  $ until_idle; finish INT
  [130]

A module that appears before the script fails is noticed.

  $ cd ..; new; { echo "$begin"; cat; } >s.lua <<'END'
  > local found, value = pcall(require, "lib.m")
  > print(found and "value " .. value or "not found")
  > if not found then
  >   os.execute "until [ -e go ]; do :; done"
  >   error "fails"
  > end
  > END
  $ start --watch s.lua; until_line 'not found'
  not found
  $ mkdir lib; echo 'return 7' >lib/m.lua; : >go; until_line 'value 7' | tail -1
  value 7
  $ until_idle; finish INT
  [130]

A script that writes a file of Lua and fails does not run for ever.

  $ cd ..; new; printf '%s\n' "$begin" 'io.open("made.lua", "w"):close() print "run" os.exit(1)' >s.lua
  $ start --watch s.lua; until_line run; until_line run; until_idle
  run
  run
  $ echo 'print "other"' >s.lua; until_line other
  other
  $ until_idle; finish INT
  [130]

A file of tests runs again when it changes, or a module that it requires.

  $ cd ..; new; mkdir d; echo 'return 1' >m.lua
  $ echo 'case("a", function() expect_equal(require "m", 1) end)' >d/a.lua
  $ echo 'case("b", function() expect(true) end)' >d/b.lua
  $ start --test --timeout=600 --watch d; until_line 1..2
  TAP version 13
  ok 1 - d/a.lua: a
  ok 2 - d/b.lua: b
  1..2
  $ echo 'return 2' >m.lua; until_line 1..1
  TAP version 13
  not ok 1 - d/a.lua: a
  # d/a.lua:1: a: 2, expected 1
  1..1
  $ echo 'case("c", function() expect(true) end)' >d/c.lua; until_line 1..1
  TAP version 13
  ok 1 - d/c.lua: c
  1..1
  $ echo 'case("b", function() expect(1) end)' >other; mv other d/b.lua; until_line 1..1
  TAP version 13
  ok 1 - d/b.lua: b
  1..1
  $ finish TERM
  [143]
