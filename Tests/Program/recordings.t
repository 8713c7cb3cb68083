D1–D4, D7, D8: recordings made and shown by the program. The thread sanitizer reserves the addresses that a replay
needs, so each recording would warn.

  $ . "$TESTDIR/functions"
  $ skip_under thread

The program has several turns, and prints everything that recording could change. The collector would shrink Lua's
stack, by its use at that moment.

  $ cat >a.lua <<'END'
  > collectgarbage "stop" local obs = require "obs"
  > local t = { a = 0, list = obs.array {}, child = { n = 1 } }
  > local function copy() t.b = t.a end
  > obs.observe(t, "a", copy, { name = "copier" })
  > obs.observe(t, "**", function() end)
  > obs.computed(t, "double", { "a" }, function(self) return self.a * 2 end)
  > obs.observe(t, "double", function() end)
  > for i = 1, 100 do obs.after(i / 1000, function()
  >   t.a = i
  >   t.a = i
  >   t.list:append({ n = i })
  >   if i % 10 == 0 then t.child = { n = i } end
  > end) end
  > obs.task(function() obs.sleep(0.05) t.slept = true end)
  > obs.on_exit(function()
  >   local counts = obs.stats()
  >   print(counts.turns, counts.calls, counts.watchers, collectgarbage "count", #arg, arg[-1])
  > end)
  > END

D1: recording changes neither turns nor calls nor memory nor output.

  $ obs --virtual-time a.lua >plain
  $ obs --virtual-time --record=r a.lua | diff plain -
  $ cut -f 1-3,5- plain
  103\t301\t3\t0\t--virtual-time (esc)

D2, D3: each line is JSON, and turns and calls name their causes.

  $ stat -c %a r
  600
  $ cat >read.lua <<'END'
  > local json, kinds, places, writes = require "cjson", {}, {}, {}
  > local header
  > local turns, calls, last = {}, 0, nil
  > for line in io.lines "r" do
  >   local event = json.decode(line)
  >   if not header then
  >     header = event
  >   else
  >     local kind = event[1]
  >     kinds[kind], last = (kinds[kind] or 0) + 1, kind
  >     if kind == "text" then places[event[2]] = event[3] end
  >     if kind == "write" or kind == "edit" then writes[event[2]] = true end
  >     if kind == "turn" then turns[#turns + 1] = event end
  >     if kind == "call" then
  >       assert(#event[3] > 0)
  >       for _, write in ipairs(event[3]) do assert(writes[write]) end
  >     end
  >   end
  > end
  > print(header["obs-lua"], header.version, header.script)
  > print(turns[1][3], turns[2][3], places[turns[2][4]])
  > print(#turns, kinds.call, last)
  > END
  $ obs read.lua
  recording\t1.0\ta.lua (esc)
  chunk\ttimer\ta.lua:8 (esc)
  103\t301\tstopped (esc)

D7: a trace is JSON with turns, calls and writes.

  $ obs --trace=t r
  $ obs - <<'END'
  > local counts, names = {}, {}
  > for _, event in ipairs(require "cjson".decode(io.open "t":read "a")) do
  >   local cat = event.cat or event.name
  >   counts[cat] = (counts[cat] or 0) + 1
  >   if event.ph == "X" then names[event.name] = true end
  > end
  > print(counts.turn, counts.write, names.copier)
  > END
  103\t211\ttrue (esc)

D3: a program that is killed leaves whole lines.

  $ cat >killed.lua <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() end)
  > obs.every(0.001, function()
  >   t.n = t.n + 1
  >   if t.n == 20 then os.execute("kill -9 $PPID") end
  > end)
  > END
  $ obs --record=r killed.lua
  [137]
  $ obs -e 'for line in io.lines "r" do require "cjson".decode(line) end'
  $ grep -c '^\["write"' r
  19

D3: os.exit and errors end a recording as the end of the script does.

  $ ending() {  # last statement
  >   printf 'local obs = require "obs"\nlocal t = {}\nobs.observe(t, "a", print)\nt.a = 1\n%s\n' "$1" >b.lua
  >   obs --record=r b.lua >out; tail -1 r | cut -d , -f 1; grep -c '"error"' r
  > }
  $ gives ending <<'END'
  > os.exit(3) => ["stopped" | 0
  > os.exit(3, true) => ["stopped" | 0
  > error 'no' => ["stopped" | 1
  > END
  3 of them

D3: an error of the loop has one line, and is reported once.

  $ obs --record=r - <<'END'
  > local obs = require "obs"
  > local t = { a = 0, b = 0 }
  > obs.limits { retrigger_turns = 3 }
  > obs.observe(t, "a", function() t.b = t.b + 1 end)
  > obs.observe(t, "b", function() t.a = t.a + 1 end)
  > t.a = 1
  > END
  ! obs-lua: after 3 turns in which watchers did nothing but trigger themselves or each other, these calls were dropped: stdin:4
  [1]
  $ grep -c '^."error"' r
  1

D4: --record-last keeps between one and two times as many turns, after a checkpoint.

  $ obs --virtual-time --record=r --record-last=50 - <<'END'
  > local obs = require "obs"
  > local t = { n = 0, big = {} }
  > for i = 1, 50 do t.big[i] = { i } end
  > obs.observe(t, "**", function() end)
  > for i = 1, 1000 do obs.after(i, function() t.n = i end) end
  > END
  $ kept=$(grep -c '"turn"' r); [ $kept -ge 50 ] && [ $kept -le 102 ] || echo $kept
  $ sed -n 2p r | cut -d , -f 1; ls r*
  ["checkpoint"
  r
  read.lua

D4: a recording without inputs has none of them.

  $ A=secret obs --record=r --no-inputs -e 'print(os.getenv [[A]])'; grep -c 'input\|secret' r
  secret
  0
  [1]

A file that cannot be recorded to is an error before the script runs.

  $ echo precious >p; mkdir d
  $ gives ends_with 1 <<'END'
  > --record=p a.lua => cannot record to 'p': the file exists, and is not a recording
  > --record=d a.lua => cannot record to 'd': Is a directory
  > --record=no/r a.lua => cannot record to 'no/r': No such file or directory
  > END
  3 of them
  $ cat p
  precious

Without space the program continues, and says so once.

  $ obs --error=continue --record=/dev/full - <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() end)
  > for i = 1, 3 do obs.after(i / 1000, function() t.n = i print(i) end) end
  > END
  1
  2
  3
  ! obs-lua: cannot record to '/dev/full': No space left on device

D3: closed standard streams stay closed while a run is recorded.

  $ obs-lua --record=r -e 'print(1) io.stderr:write(1) print(io.read())' >&- 2>&- <&-
  $ obs --replay=r; echo; head -c 10 r; echo
  1
  nil\tBad file descriptor\t9 (esc)
  ! 1
  {"obs-lua"

D7: a page or trace replaces only files of its kind.

  $ obs --record=r -e 'x = 1'; cp r former
  $ for o in --report --trace; do
  >   for f in r p; do obs $o=$f r; done
  >   obs $o=made$o r && obs $o=made$o r
  >   obs $o=/dev/full r
  > done
  ! obs-lua: 'r' exists, and was not made by --report
  ! obs-lua: 'p' exists, and was not made by --report
  ! obs-lua: cannot write '/dev/full': No space left on device
  ! obs-lua: 'r' exists, and was not made by --trace
  ! obs-lua: 'p' exists, and was not made by --trace
  ! obs-lua: cannot write '/dev/full': No space left on device
  [1]
  $ cmp r former; cat p
  precious

D7: a file that is not a recording is refused.

  $ : >empty; echo hello >text; echo '{"obs-lua":"recording","version":99}' >newer
  $ gives ends_with 1 <<'END'
  > --report=out empty => 'empty' is empty: it is not a recording
  > --report=out text => 'text' is not a recording
  > --report=out newer => 'newer' is a recording of version 99; this program reads version 1
  > --report=out none => cannot open 'none': No such file or directory
  > --trace=out empty => 'empty' is empty: it is not a recording
  > --trace=out text => 'text' is not a recording
  > --trace=out newer => 'newer' is a recording of version 99; this program reads version 1
  > --trace=out none => cannot open 'none': No such file or directory
  > END
  8 of them

D7: a page has the lines and the source, also of a recording that was cut, and no text of the program is HTML.

  $ cat >html.lua <<'END'
  > local obs = require "obs"
  > local t = {}
  > obs.observe(t, "*", function() end, { name = "</script><img src=x onerror=alert(1)>" })
  > t["<!--"] = "</script><script>alert(1)</script>"
  > END
  $ obs --record=r html.lua; head -c -20 r >cut
  $ obs --report=cut.html cut; obs --report=r.html r
  $ for page in cut.html r.html; do
  >   head -c 15 $page; echo; grep -c "default-src 'none'" $page
  >   grep -o '<img\|alert(1)</script>\|src="http[^"]*\|\\u003c/script>\\u003cimg src=x onerror=alert(1)>' $page | sort -u
  >   grep -o 'obs.observe(t, \\u0022\*\\u0022' $page
  > done
  <!doctype html>
  1
  \u003c/script>\u003cimg src=x onerror=alert(1)>
  obs.observe(t, \u0022*\u0022
  <!doctype html>
  1
  \u003c/script>\u003cimg src=x onerror=alert(1)>
  obs.observe(t, \u0022*\u0022

D8: a page has the sources that the run has read, and no other files. The sandboxed script calls its chunks like
files that it cannot read. Two bytes of a character come from two reads.

  $ mkfifo fifo; echo TOPSECRET-4711 >secret
  $ cat >a.lua <<'END'
  > local obs = require "obs"
  > local t = { n = 0 }
  > obs.observe(t, "n", function() end)
  > local chunk = "local obs, t = ... obs.observe(t, 'n', function() end) t.n = t.n + 1"
  > for _, name in ipairs { "secret", "/etc/hostname", "fifo", "/dev/tty" } do
  >   load(chunk, "@" .. name)(obs, t)
  > end
  > END
  $ printf 'local t = { n = 0 } -- %s\nrequire "obs".observe(t, "n", function() end)\n' \
  >   "$(printf '\303\251%.0s' $(seq 5001))" >m.lua
  $ obs --sandbox --record=r a.lua; obs --record=r2 -e 'require "m"'
  $ for file in a.lua m.lua; do echo TOPSECRET-4711 >$file; done
  $ grep -c '"fifo:1"' r
  1
  $ for r in r r2; do obs --report=$r.html $r; done
  $ cat r2 | obs --report=r3.html /dev/stdin
  $ cat *.html | grep -c TOPSECRET
  0
  [1]
  $ grep -o 'id="files">{"[^"]*"' r.html r2.html r3.html
  r.html:id="files">{"a.lua"
  r2.html:id="files">{"./m.lua"
  $ LC_ALL=C.UTF-8 grep -c 'é\\u000arequire' r2.html
  1
