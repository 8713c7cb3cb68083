What suites written for busted use, in scripts that the program tests.

  $ . "$TESTDIR/functions"
  $ mkdir d
  $ tests() { obs --test --timeout=600 "$@"; }

A suite of 30 cases for busted runs as it is.

  $ cp "$TESTDIR/busted/stack_spec.lua" d; tests d | cmp - "$TESTDIR/busted/stack_spec.tap"; rm d/*

Hooks run around each case, and once around each block.

  $ cat >d/a.lua <<'END'
  > before_each(function() log "file before" end)
  > describe("outer", function()
  >   it("first", function() log "first" expect(true) end)
  >   setup(function() log "outer setup" end)
  >   before_each(function() log "outer before" end)
  >   after_each(function() log "outer after" end)
  >   teardown(function() log "outer teardown" end)
  >   describe("inner", function()
  >     setup(function() log "inner setup" end)
  >     before_each(function() log "inner before" end)
  >     after_each(function() log "inner after" end)
  >     it("second", function()
  >       finally(function() log "finally" end)
  >       log "second"
  >       error "no"
  >     end)
  >     teardown(function() log "inner teardown" end)
  >   end)
  > end)
  > expect_log {
  >   "outer setup", "file before", "outer before", "first", "outer after", "inner setup",
  >   "file before", "outer before", "inner before", "second", "finally", "inner after",
  >   "outer after", "inner teardown", "outer teardown",
  > }
  > END
  $ tests d | grep ok
  ok 1 - d/a.lua: outer: first
  not ok 2 - d/a.lua: outer: inner: second

Errors of hooks are failures at their lines.

  $ cat >d/a.lua <<'END'
  > describe("a", function()
  >   before_each(function() error "before" end)
  >   it("does not run", function() print "runs" end)
  > end)
  > describe("b", function()
  >   setup(function() error "setup" end)
  >   it("does not run", function() print "runs" end)
  > end)
  > describe("c", function()
  >   teardown(function() error "teardown" end)
  >   it("runs", function() expect(true) end)
  > end)
  > describe("d", function() error "block" end)
  > END
  $ tests d | grep -v '^# \(\t\|stack\)'
  TAP version 13
  not ok 1 - d/a.lua: a: does not run
  # d/a.lua:2: a: does not run: d/a.lua:2: before
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:2: in function <d/a.lua:2> (esc)
  # \t[C]: in function 'describe' (esc)
  # \td/a.lua:1: in main chunk (esc)
  not ok 2 - d/a.lua: b
  # d/a.lua:6: b: d/a.lua:6: setup
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:6: in function <d/a.lua:6> (esc)
  # \t[C]: in function 'describe' (esc)
  # \td/a.lua:5: in main chunk (esc)
  ok 3 - d/a.lua: c: runs
  not ok 4 - d/a.lua: c
  # d/a.lua:10: c: d/a.lua:10: teardown
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:10: in function <d/a.lua:10> (esc)
  # \t[C]: in function 'describe' (esc)
  # \td/a.lua:9: in main chunk (esc)
  not ok 5 - d/a.lua: d
  # d/a.lua:13: d: d/a.lua:13: block
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:13: in function <d/a.lua:13> (esc)
  # \t[C]: in function 'describe' (esc)
  # \td/a.lua:13: in main chunk (esc)
  1..5

Skipped cases are not failures, and reports show their reasons.

  $ cat >d/a.lua <<'END'
  > describe("a", function()
  >   pending("later", function() error "never" end)
  >   it("has no function")
  >   it("stops", function() skip "no printer" error "never" end)
  > end)
  > case("checks", function() expect(1) end)
  > END
  $ tests --junit=out.xml d
  TAP version 13
  ok 1 - d/a.lua: a: later # SKIP
  ok 2 - d/a.lua: a: has no function # SKIP it has no function
  ok 3 - d/a.lua: a: stops # SKIP no printer
  ok 4 - d/a.lua: checks
  1..4
  $ grep -o '<testsuites [^>]*skipped="3"\|<skipped[^>]*>' out.xml
  <testsuites tests="4" failures="0" skipped="3"
  <skipped message=""/>
  <skipped message="it has no function"/>
  <skipped message="no printer"/>

A case without a check is marked, unless it has inner cases or is skipped.

  $ cat >d/a.lua <<'END'
  > case("nothing", function() end)
  > case("inner cases", function() case("checks", function() expect(1) end) end)
  > case("time passes", function() advance(1) end)
  > case("skipped", function() pending "later" end)
  > END
  $ tests d
  TAP version 13
  ok 1 - d/a.lua: nothing
  # the case made no check, such as expect(value, "what")
  ok 2 - d/a.lua: inner cases
  ok 3 - d/a.lua: inner cases: checks
  ok 4 - d/a.lua: time passes
  ok 5 - d/a.lua: skipped # SKIP later
  1..5

Spies see calls, and are gone after the case or block.

  $ cat >d/a.lua <<'END'
  > local obs = require "obs"
  > local t = { f = function(n) return n + 1 end, n = 1 }
  > local f = t.f
  > obs.observe(t, "n", function() t.f(t.n) end)
  > case("a spy", function()
  >   local s = spy(t, "f")
  >   t.n = 2
  >   advance(0)
  >   expect_equal(s.calls, { { 2 } })
  >   expect_equal(s.calls[1].vals, { 2 })
  >   expect_equal(t.f(4), 5)
  >   s:clear()
  >   assert.spy(s).was_not.called()
  > end)
  > expect(t.f == f, "restored")
  > case("a stub", function()
  >   stub(t, "f", 7, 8)
  >   expect_equal({ t.f(1) }, { 7, 8 })
  >   t.f.on_call_with(2).returns("two")
  >   expect_equal(t.f(2), "two")
  >   assert.spy(t.f).was.called(2)
  >   error "leaves"
  > end)
  > expect(t.f == f, "restored after an error")
  > describe("a block", function()
  >   setup(function() stub(t, "f", "in the block") end)
  >   it("has it", function() expect_equal(t.f(), "in the block") end)
  >   it("keeps it", function() expect_equal(t.f(), "in the block") end)
  > end)
  > expect(t.f == f, "restored after the block")
  > END
  $ tests d | grep 'ok '
  ok 1 - d/a.lua: a spy
  not ok 2 - d/a.lua: a stub
  ok 3 - d/a.lua: a block: has it
  ok 4 - d/a.lua: a block: keeps it

Failures end the case, and say what was expected.

  $ fails() { echo "case('a', function() $1 print 'goes on' end)" >d/a.lua; tests d | sed -n 's/^# d.a.lua:1: a: d.a.lua:1: //p; /goes on/p'; }
  $ gives fails <<'END'
  > assert.are.equal(1, 2, 'sum') => sum: 2, expected 1
  > assert.are.same({ a = 1 }, { a = 2 }) => a: 2, expected 1
  > assert.is_not.equal(1, 1) => not expected: equal(1, 1)
  > assert.is_not_nil(nil) => nil, expected not nil
  > assert.is.True(1) => 1, expected true
  > assert.has_error(function() error 'a' end, 'b') => the error "a", expected "b"
  > assert.has_no.errors(function() error('a', 0) end) => the error "a"
  > assert.near(1, 2, 0.5) => 2, expected 1 ± 0.5
  > assert.matches('^b', 'ab') => "ab" does not match "^b"
  > local s = spy.new() s(1) assert.spy(s).was.called_with(2) => calls: (1), expected (2)
  > assert.spy(spy.new()).was.called(2) => called 0 times, expected called 2 times
  > assert.is_tabel {} => assert has no "tabel" (did you mean 'table'?)
  > assert.was.called(1) => 'called' needs a spy: assert.spy(s).was.called(…)
  > assert.spy(print) => bad argument #1 to 'assert.spy' (spy expected, got function)
  > assert.has_error(1) => bad argument #1 to 'has_error' (function expected, got number)
  > spy({ push = print }, 'psuh') => bad argument #2 to 'spy' ("psuh" is nil, function expected; did you mean 'push'?)
  > require('busted').publish() => busted has no "publish" (it has after_each, before_each, case, context, describe, expose, insulate, it, lazy_setup, lazy_teardown, pending, setup, skip, spec, strict_setup, strict_teardown, teardown, test)
  > stub.nwe() => stub has no "nwe" (did you mean 'new'?)
  > randomize() => 'randomize' is not available: obs-lua --test --shuffle runs cases in random order
  > setup(print) => 'setup' belongs in a describe, outside of its cases and hooks
  > assert(nil, 'told') => told
  > assert(false) => assertion failed!
  > END
  22 of them

Tags and filters choose cases, and --list runs none.

  $ cat >d/a.lua <<'END'
  > describe("a #db", function()
  >   setup(function() print "setup" end)
  >   it("one #fast", function() expect(1) end)
  >   it("two #slow", function() expect(1) end)
  > end)
  > describe("b", function()
  >   it("three #faster", function() expect(1) end)
  >   it("four", function() expect(1) end)
  > end)
  > END
  $ tagged() { eval "tests $1 d" | sed 's/^ok [0-9] - //; s/d.a.lua: //; /^TAP\|^1../d'; }
  $ gives tagged <<'END'
  > --tags=fast => # setup | a \#db: one \#fast
  > --tags=fast,slow --exclude-tags=slow => # setup | a \#db: one \#fast
  > --exclude-tags=db => b: three \#faster | b: four
  > --tags=db => # setup | a \#db: one \#fast | a \#db: two \#slow
  > --tags=zzz => ! obs-lua: no case is left by the tags
  > --list => a #db: one #fast | a #db: two #slow | b: three #faster | b: four
  > --list --filter=three => b: three #faster
  > END
  7 of them

A printed seed repeats a random order, of the files and of the cases in them.

  $ { echo 'describe("a", function()'; for i in $(seq 12); do echo "it('$i', function() expect(1) end)"; done
  >   echo 'end)'; } >d/a.lua
  $ for n in 1 2 3 4 5 6 7 8; do cp d/a.lua d/$n.lua; done
  $ cases() { sed -n 's/^ok [0-9]* - //p' $1; }
  $ tests --shuffle d >first; seed=$(sed -n 's/^# shuffled with --shuffle=//p' first)
  $ tests --shuffle=$seed d | cmp first -
  $ tests --shuffle=$((seed + 1)) d >next; tests d >plain
  $ for file in first next; do
  >   cmp -s <(cases $file) <(cases plain) && echo "$file is not shuffled"
  >   cmp <(cases $file | sort) <(cases plain | sort)
  > done
  $ cmp -s <(cases first) <(cases next); cmp -s <(cases first | grep d/a) <(cases plain | grep d/a)
  [1]
  $ rm d/?.lua

--repeat runs everything several times.

  $ echo "case('a', function() expect(1) end)" >d/a.lua; tests --repeat=3 d
  TAP version 13
  ok 1 - d/a.lua: a
  ok 2 - d/a.lua: a
  ok 3 - d/a.lua: a
  1..3

Coverage counts the lines of modules, in coroutines too.

  $ mkdir d/lib; cat >d/lib/m.lua <<'END'
  > local m = {}
  > function m.sign(n)
  >   if n < 0 then
  >     return "-"
  >   end
  >   return "+"
  > end
  > function m.never()
  >   return m
  > end
  > return m
  > END
  $ cat >d/a.lua <<'END'
  > local m = require "lib.m"
  > case("a", function()
  >   expect_equal(m.sign(1), "+")
  >   expect_equal(coroutine.wrap(m.sign)(2), "+")
  > end)
  > END
  $ tests --coverage --repeat=2 d; cat lcov.info
  TAP version 13
  ok 1 - d/a.lua: a
  ok 2 - d/a.lua: a
  1..2
  # covered 80.0 %, 8 of 10 lines: d/lib/m.lua
  # covered 80.0 %, 8 of 10 lines: all files
  TN:
  SF:d/lib/m.lua
  DA:1,2
  DA:2,2
  DA:3,4
  DA:4,0
  DA:6,4
  DA:7,2
  DA:8,2
  DA:9,0
  DA:10,2
  DA:11,2
  LF:10
  LH:8
  end_of_record

Files in subfolders are tests if their names say so; others are modules.

  $ rm -r d; mkdir -p d/in/deep d/.git; ln -s .. d/in/up
  $ for name in a in/a_test in/b_spec in/test_c in/module in/deep/d_spec .git/e_spec; do
  >   echo 'expect(1)' >d/$name.lua
  > done
  $ tests d
  TAP version 13
  ok 1 - d/a.lua: the file
  ok 2 - d/in/a_test.lua: the file
  ok 3 - d/in/b_spec.lua: the file
  ok 4 - d/in/test_c.lua: the file
  ok 5 - d/in/deep/d_spec.lua: the file
  1..5
