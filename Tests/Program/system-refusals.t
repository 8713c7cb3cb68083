Calls that the system refuses are errors of the script that say so; nothing ends the process.

  $ . "$TESTDIR/functions"

Without a descriptor for the loop 'require' raises. The script takes a descriptor, too, while it is loaded.

  $ cat >f.lua <<'END'
  > print(1)
  > print(pcall(require, "obs"))
  > local obs = require "obs"
  > obs.after(0.01, print)
  > END
  $ (exec </dev/null; ulimit -n 4; exec obs-lua f.lua)
  1
  false\tthe system refused a pipe for the loop: Too many open files (EMFILE) (esc)
  obs-lua: the system refused a pipe for the loop: Too many open files (EMFILE)
  stack traceback:
  \t[C]: in ? (esc)
  \t[C]: in function 'require' (esc)
  \tf.lua:3: in main chunk (esc)
  \t[C]: in ? (esc)
  [1]

Without a descriptor for the loop a sandbox reports it.

  $ (exec </dev/null; ulimit -n 4; exec obs-lua --sandbox -e 'print(1)')
  obs-lua: the system refused a pipe for the loop: Too many open files (EMFILE)
  [1]

No script ends the process, even with few descriptors.

  $ cat >f.lua <<'END'
  > local obs = require "obs"
  > obs.after(0.01, print)
  > local files = {}
  > pcall(function() while true do files[#files + 1] = assert(io.open("/dev/null")) end end)
  > for _, file in ipairs(files) do
  >   local handler
  >   handler = select(2, pcall(obs.on_readable, file, function() handler:stop() end))
  > end
  > print(pcall(require, "obs.io"))
  > obs.after(0.02, function() os.exit(1) end)
  > END
  $ for count in 4 5 6 7 8 10 14 20; do
  >   (exec </dev/null >out 2>errors; ulimit -n $count; exec obs-lua f.lua)
  >   echo "$count descriptors: $?"; grep 'Fatal error' errors
  > done
  4 descriptors: 1
  5 descriptors: 1
  6 descriptors: 1
  7 descriptors: 1
  8 descriptors: 1
  10 descriptors: 1
  14 descriptors: 1
  20 descriptors: 1
  [1]

More handlers than descriptors are possible.

  $ cat >f.lua <<'END'
  > local obs = require "obs"
  > local reads, writes = 0, 0
  > for _ = 1, 20 do
  >   local reader, writer
  >   reader = obs.on_readable(io.stdin, function() reads = reads + 1 reader:stop() end)
  >   writer = obs.on_writable(io.stdout, function() writes = writes + 1 writer:stop() end)
  > end
  > obs.on_exit(function() print(reads, writes) end)
  > END
  $ (ulimit -n 8; ulimit -t 20; echo text | obs-lua f.lua)
  20\t20 (esc)

S3, S8: changes to a transaction's objects are covered even without free memory.

  $ obs --max-memory=6M - <<'END'
  > local obs = require "obs"
  > local c, r, big = { v = 1 }, {}, {}
  > for i = 1, 3000 do big[i] = 0 end
  > local p, hold = { x = c }, {}
  > obs.transaction({ r }, function()
  >   obs.transaction({ p, big }, function()
  >     p.x = nil
  >     r.o = p
  >     while true do hold[#hold + 1] = {} end
  >   end)
  >   c.v = 2
  >   error "fails"
  > end)
  > hold = nil
  > print(c.v)
  > local t = {}
  > print(obs.transaction({ t }, function() for i = 1, math.huge do t[i] = {} end end))
  > print(#t)
  > END
  1
  false\tnot enough memory (esc)
  0

S8: a transaction whose function uses up all memory is rolled back and ends.

  $ obs --max-memory=4M - <<'END'
  > local obs = require "obs"
  > print(pcall(function()
  >   local set = obs.set_of()
  >   return obs.transaction({ set }, function()
  >     for i = 1, math.huge do set:add(i) end
  >   end)
  > end))
  > obs.flush()
  > print "flushed"
  > END
  true\tfalse\tnot enough memory (esc)
  flushed

S3: a getter that runs out of memory does not report a stack overflow.

  $ obs --max-memory=4M - <<'END' | tr '\t' '\n' | sort -u
  > local obs = require "obs"
  > local t, list = {a = 1}, obs.array()
  > obs.computed(t, "b", {"a"}, function(self) return self.a end)
  > local function later(body)
  >   local resume = coroutine.wrap(function()
  >     coroutine.yield()
  >     return select(2, pcall(body))
  >   end)
  >   resume()
  >   return resume
  > end
  > local read = later(function() return t.b end)
  > local append = later(function() list:append(1) end)
  > local hog, n, messages = {}, 0, {"", ""}
  > for _, size in ipairs {100000, 1000, 10} do
  >   pcall(function() while true do n = n + 1 hog[n] = ("x"):rep(size) .. n end end)
  > end
  > messages[1], messages[2] = read(), append()
  > hog = nil
  > print(table.unpack(messages))
  > END
  not enough memory

T10: a watcher survives a write at the end of the stack. The overflow is an error of the script.

  $ obs - <<'END' | grep -v '^!'
  > local obs = require "obs"
  > local t = { list = { { v = 1 } }, o = { p = 1 } }
  > local watchers = {}
  > for i, path in ipairs { "list.@sum.v", "o.p", "**" } do
  >   watchers[i] = obs.observe(t, path, function() end, { immediate = true })
  > end
  > local depth, first = 0, math.huge
  > local function deeper(n)
  >   depth = n
  >   if n >= first then t.o, t.list = { p = n }, { { v = n } } end
  >   return 1 + deeper(n + 1)
  > end
  > pcall(deeper, 1)
  > first = depth - 1000
  > print(pcall(deeper, 1) or watchers[1].active, watchers[2].active, watchers[3].active)
  > END
  true\ttrue\ttrue (esc)
