obs-lua --test: scripts that test themselves.

  $ . "$TESTDIR/functions"

Cases that pass, fail, end the process or cannot be loaded are in these files. A busy machine must not make a file
time out.

  $ new() { rm -rf d && mkdir d; }
  $ good() { echo 'case("adds", function() expect(1 + 1 == 2) end)' >d/good.lua; }
  $ bad() { echo 'case("fails", function() expect(false, "no") end)' >d/bad.lua; }
  $ tests() { obs --test --timeout=600 "$@"; }

On a pipe the results are TAP, and output of scripts is a comment.

  $ new; good; bad; echo 'case("prints", function() print("ok 7") expect(1) end)' >d/print.lua
  $ tests d
  TAP version 13
  not ok 1 - d/bad.lua: fails
  # d/bad.lua:1: fails: no: false
  ok 2 - d/good.lua: adds
  # ok 7
  ok 3 - d/print.lua: prints
  1..3
  [3]

The exit status reflects the results of the files.

  $ new; good; tests d >out
  $ echo 'error "oh"' >d/raising.lua; tests d >out
  [3]
  $ new; echo 'x = = 1' >d/broken.lua; tests d
  TAP version 13
  not ok 1 - d/broken.lua: the file
  # d/broken.lua:1: unexpected symbol near '='
  1..1
  [1]
  $ bad; tests d >out
  [1]
  $ new; tests d
  ! obs-lua: there is no *.lua in 'd'
  [2]

os.exit is an error at its line.

  $ new; echo 'case("ends", function() os.exit(0) end)' >d/exit.lua; tests d
  TAP version 13
  not ok 1 - d/exit.lua: ends
  # d/exit.lua:1: ends: d/exit.lua:1: os.exit would end all tests
  # stack traceback:
  # \t[C]: in function 'os.exit' (esc)
  # \td/exit.lua:1: in function <d/exit.lua:1> (esc)
  # \t[C]: in function 'case' (esc)
  # \td/exit.lua:1: in main chunk (esc)
  1..1
  [3]

A file that hangs is a failed case, and the others run.

  $ new; good; echo 'case("loops", function() while true do end end)' >d/hang.lua
  $ obs --test --timeout=0.5 d
  TAP version 13
  ok 1 - d/good.lua: adds
  not ok 2 - d/hang.lua: loops
  # d/hang.lua: hung: no end within 0.5 s (--timeout=0.5)
  1..2
  [3]

A process that a signal ends is a failed case.

  $ new; good; echo 'case("dies", function() io.popen("kill -9 $PPID"):read("a") end)' >d/dies.lua; tests d
  TAP version 13
  not ok 1 - d/dies.lua: dies
  # d/dies.lua: the process was ended by signal 9 (Killed)
  ok 2 - d/good.lua: adds
  1..2
  [3]

Tracebacks show checks, not their code, and a case fails with its inner one.

  $ new; echo 'case("a", function() case("b", function() error("oh") end) end)' >d/a.lua; tests d
  TAP version 13
  not ok 1 - d/a.lua: a
  # d/a.lua:1: a: an inner case failed
  not ok 2 - d/a.lua: a: b
  # d/a.lua:1: a: b: d/a.lua:1: oh
  # stack traceback:
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:1: in function <d/a.lua:1> (esc)
  # \t[C]: in function 'case' (esc)
  # \td/a.lua:1: in function <d/a.lua:1> (esc)
  # \t[C]: in function 'case' (esc)
  # \td/a.lua:1: in main chunk (esc)
  1..2
  [3]

A file without a check fails, and one with checks but no case is a case.

  $ new; : >d/empty.lua; echo 'expect(true)' >d/plain.lua; tests d
  TAP version 13
  not ok 1 - d/empty.lua: the file
  # d/empty.lua:1: the script ended without a check, such as expect(value, "what")
  ok 2 - d/plain.lua: the file
  1..2
  [3]

The filter looks at names of files and sentences.

  $ new; good; bad; : >d/empty.lua
  $ tests --filter=good d
  TAP version 13
  ok 1 - d/good.lua: adds
  1..1
  $ tests --filter=add d
  TAP version 13
  ok 1 - d/good.lua: adds
  1..1
  $ tests --filter=zzz d
  TAP version 13
  1..0
  ! obs-lua: no file or case has 'zzz' in its name
  [2]

With --fail-fast the first failure ends the run.

  $ new; good
  $ echo 'case("one", function() expect(nil) end) case("two", function() expect(1) end)' >d/a.lua
  $ tests --fail-fast d
  TAP version 13
  not ok 1 - d/a.lua: one
  # d/a.lua:1: one: expected a value that is true: nil
  1..1
  [3]

The output is in the order of the files, with any number of processes. With four the first file ends after the start
of the last one.

  $ new; mkfifo fifo; for name in a b c d; do echo 'expect(1)' >d/$name.lua; done
  $ for jobs in 1 2 3; do tests --jobs=$jobs d >out$jobs && cmp out1 out$jobs; done; cat out1
  TAP version 13
  ok 1 - d/a.lua: the file
  ok 2 - d/b.lua: the file
  ok 3 - d/c.lua: the file
  ok 4 - d/d.lua: the file
  1..4
  $ echo 'io.open("fifo"):read "a" expect(1)' >d/a.lua
  $ echo 'io.open("fifo", "w"):close() expect(1)' >d/d.lua
  $ tests --jobs=4 d | cmp out1 -

The process of a file has one thread: after `fork`, locks of Swift's runtime hang if several threads wait for one.
The thread sanitizer starts one of its own.

  $ new; cat >d/threads.lua <<'END'
  > local status = io.open "/proc/self/status":read "a"
  > local sanitizer = io.open "/proc/self/maps":read "a":find "tsan" and 1 or 0
  > case("threads", function() expect_equal(tonumber(status:match "Threads:%s*(%d+)"), 1 + sanitizer) end)
  > END
  $ tests d
  TAP version 13
  ok 1 - d/threads.lua: threads
  1..1

Names are escaped in TAP and in XML, which counts failures and has their texts.

  $ new; bad
  $ printf '%s' 'case("<a> & # TODO\n\27[2J\u{9B}1m", function() print("]]>") expect(1) end)' >'d/we"ird #&.lua'
  $ tests --junit=out.xml d
  TAP version 13
  not ok 1 - d/bad.lua: fails
  # d/bad.lua:1: fails: no: false
  # ]]>
  ok 2 - d/we"ird \\#&.lua: <a> & \\# TODO\xe2\x90\x8a\xe2\x90\x9b[2J\xef\xbf\xbd1m (esc)
  1..2
  [3]
  $ sed -E 's/ time="[^"]*"//' out.xml
  <?xml version="1.0" encoding="UTF-8"?>
  <testsuites tests="2" failures="1" skipped="0">
    <testsuite name="d/bad.lua" tests="1" failures="1" skipped="0">
      <testcase classname="d/bad.lua" name="fails">
        <failure message="d/bad.lua:1: fails: no: false">d/bad.lua:1: fails: no: false</failure>
      </testcase>
    </testsuite>
    <testsuite name="d/we&quot;ird #&amp;.lua" tests="1" failures="0" skipped="0">
      <testcase classname="d/we&quot;ird #&amp;.lua" name="&lt;a&gt; &amp; # TODO&#10;\xe2\x90\x9b[2J\xef\xbf\xbd1m"/> (esc)
      <system-out>]]&gt;&#10;</system-out>
    </testsuite>
  </testsuites>

Zeros in printed text or messages hide nothing.

  $ new; good
  $ printf '%s' 'case("a\0b", function() print("c\0d") expect(false, "e\0f") end)' >d/a.lua
  $ tests --junit=out.xml d
  TAP version 13
  # c\xe2\x90\x80d (esc)
  not ok 1 - d/a.lua: a\xe2\x90\x80b (esc)
  # d/a.lua:1: a\xe2\x90\x80b: e\xe2\x90\x80f: false (esc)
  ok 2 - d/good.lua: adds
  1..2
  [3]

A case that waits for ever is a failure.

  $ new; cat >d/a.lua <<'END'
  > local obs = require "obs"
  > obs.task(function()
  >   case("waits", function()
  >     obs.await(function() end)
  >   end)
  > end)
  > obs.task(function() case("ends", function() obs.sleep(5) expect(true) end) end)
  > END
  $ tests d
  TAP version 13
  not ok 1 - d/a.lua: waits
  # d/a.lua:3: waits: it did not finish: it waits for an event that never comes
  ok 2 - d/a.lua: ends
  1..2
  [3]

Time is virtual, and errors in callbacks belong to the case.

  $ new; cat >d/a.lua <<'END'
  > local obs = require "obs"
  > case("waits", function() obs.after(3600, function() error "late" end) advance(3600) end)
  > END
  $ tests d
  TAP version 13
  not ok 1 - d/a.lua: waits
  # d/a.lua:2: late
  # stack traceback:
  # \t[C]: in function 'error' (esc)
  # \td/a.lua:2: in function <d/a.lua:2> (esc)
  # \t[C]: in function 'advance' (esc)
  # \td/a.lua:2: in function <d/a.lua:2> (esc)
  # \t[C]: in function 'case' (esc)
  # \td/a.lua:2: in main chunk (esc)
  # in timer after (registered at d/a.lua:2)
  1..1
  [3]

Objects that a case leaves behind are a failure with --leaks.

  $ new; cat >d/leaks.lua <<'END'
  > local obs = require "obs"
  > local kept = { n = 1 }
  > obs.observe(kept, "n", function() end, { name = "outside of cases" })
  > case("leaves nothing", function()
  >   obs.observe({ n = 1 }, "n", function() end)
  >   obs.after(1, function() expect(true) end)
  >   obs.task(function() obs.sleep(1) end)
  >   advance(2)
  >   obs.scope(function() obs.every(1, function() end) end):stop()
  >   case("in it", function() expect(obs.every(1, function() end)):stop() end)
  >   obs.observe(kept, "n", function() end, { once = true })
  >   obs.observe(kept, "n", function() end, { observer = {} })
  >   kept.n = kept.n + 1
  >   return kept
  > end)
  > case("returns what it has observed", function()
  >   local t = { n = 1 }
  >   expect(obs.observe(t, "n", function() end))
  >   return t
  > end)
  > case("leaves all", function()
  >   obs.observe(kept, "n", function() end, { name = "named" })
  >   for _ = 1, 3 do obs.every(1, function() end):unref() end
  >   case("in it", function() expect(obs.observe(kept, "n", function() end)) end)
  >   obs.task(function() obs.sleep(1000) end)
  >   obs.on_writable(1, function() end):unref()
  >   expect(true)
  > end)
  > END
  $ tests --leaks d
  TAP version 13
  ok 1 - d/leaks.lua: leaves nothing
  ok 2 - d/leaks.lua: leaves nothing: in it
  ok 3 - d/leaks.lua: returns what it has observed
  not ok 4 - d/leaks.lua: leaves all
  # d/leaks.lua:22: left behind: watcher named at d/leaks.lua:22
  # d/leaks.lua:24: left behind: watcher at d/leaks.lua:24
  # d/leaks.lua:23: left behind: timer every at d/leaks.lua:23 (3 times)
  # d/leaks.lua:26: left behind: handler on_writable at d/leaks.lua:26
  # d/leaks.lua:25: left behind: task at d/leaks.lua:25
  ok 5 - d/leaks.lua: leaves all: in it
  1..5
  [3]
  $ tests d | grep '^not'
  [1]

Parallel cases report their own leaks.

  $ new; cat >d/tasks.lua <<'END'
  > local obs = require "obs"
  > obs.task(function()
  >   case("first", function()
  >     obs.sleep(2)
  >     obs.after(50, print)
  >     expect(true)
  >   end)
  > end)
  > obs.task(function()
  >   case("second", function()
  >     kept = { n = 1 }
  >     obs.observe(kept, "n", print)
  >     obs.sleep(3)
  >     expect(true)
  >   end)
  > end)
  > case("third", function()
  >   obs.task(function() obs.next_change({ n = 1 }, "n") end)
  >   local t = { n = 1 }
  >   held = t
  >   obs.task(function() obs.next_change(t, "n") end)
  >   expect(true)
  > end)
  > END
  $ tests --leaks d
  TAP version 13
  # 
  not ok 1 - d/tasks.lua: first
  # d/tasks.lua:5: left behind: timer after at d/tasks.lua:5
  not ok 2 - d/tasks.lua: second
  # d/tasks.lua:12: left behind: watcher at d/tasks.lua:12
  not ok 3 - d/tasks.lua: third
  # d/tasks.lua:21: left behind: task at d/tasks.lua:21
  1..3
  [3]

On a terminal each case has a line, skipped ones too, and TAP is an option.

  $ new; good; bad
  $ cat >d/skip.lua <<'END'
  > describe("a", function()
  >   pending("later", function() error "never" end)
  >   it("has no function")
  >   it("stops", function() skip "no printer" error "never" end)
  > end)
  > END
  $ script -qec 'obs-lua --test d' /dev/null </dev/null | tr -d '\r'
  d/bad.lua
    \xe2\x9c\x97 fails (esc)
        d/bad.lua:1: fails: no: false
  d/good.lua
    \xe2\x9c\x93 adds (esc)
  d/skip.lua
    \xe2\x97\x8b a: later (esc)
    \xe2\x97\x8b a: has no function (it has no function) (esc)
    \xe2\x97\x8b a: stops (no printer) (esc)
  1 passed, 1 failed, 3 skipped
  $ script -qec 'obs-lua --test --tap d' /dev/null </dev/null | tr -d '\r' | head -1
  TAP version 13
