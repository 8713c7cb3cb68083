S5, S6: what the options for limits and sandboxes give a script. `Tests/Attacks/run` tries to break them.

  $ . "$TESTDIR/functions"
  $ skip_under thread

A sandbox has little memory and no access to the outside.

  $ fails() { obs --sandbox --max-memory=16M --turn-time=20s -e "$1" | head -1; }
  $ each fails <<'END'
  > local l = {} for i = 1, 1e9 do l[i] = {} end
  > return ('x'):rep(1 << 30)
  > io.write('x')
  > os.exit(3)
  > require 'io'
  > END
  ! obs-lua: not enough memory
  ! obs-lua: not enough memory
  ! obs-lua: (command line):1: attempt to index a nil value (global 'io')
  ! obs-lua: (command line):1: attempt to call a nil value (field 'exit')
  ! obs-lua: (command line):1: module 'io' not found: the host program offers no module of that name
  5 of them

Each limit works alone, and a sandbox without them.

  $ obs --max-memory=1G -e 'print(io ~= nil)'
  true
  $ obs --turn-time=1s -e 'print(io ~= nil)'
  true
  $ obs --sandbox -e 'print(io)'
  nil
  $ obs --turn-time=0.05s -e 'while true do end' | head -1
  ! obs-lua: (command line):1: the turn took longer than its limit (50 ms)

An invalid limit is a usage error.

  $ invalid() { ends_with 2 "$1 -e 'print(1)'" | head -1; }
  $ each invalid <<'END'
  > --max-memory
  > --max-memory=
  > --max-memory=x
  > --max-memory=0
  > --max-memory=-1
  > --turn-time=5
  > --turn-time=0ms
  > --turn-time=
  > --turn-time=xms
  > --sandbox=
  > END
  '--max-memory' is written '--max-memory=BYTES', with a number of bytes, as 65536, 64M or 1G
  '--max-memory' is written '--max-memory=BYTES', with a number of bytes, as 65536, 64M or 1G
  '--max-memory' is written '--max-memory=BYTES', with a number of bytes, as 65536, 64M or 1G
  '--max-memory' is written '--max-memory=BYTES', with a number of bytes, as 65536, 64M or 1G
  '--max-memory' is written '--max-memory=BYTES', with a number of bytes, as 65536, 64M or 1G
  '--turn-time' is written '--turn-time=TIME', with a number and its unit, as 50ms or 2s
  '--turn-time' is written '--turn-time=TIME', with a number and its unit, as 50ms or 2s
  '--turn-time' is written '--turn-time=TIME', with a number and its unit, as 50ms or 2s
  '--turn-time' is written '--turn-time=TIME', with a number and its unit, as 50ms or 2s
  '--sandbox' is written '--sandbox[=FOLDER|strict]'
  10 of them

The script of a sandbox is text, and no longer than a chunk may be: Lua 5.4.4 overflows the C stack if such a chunk
names the variable of an error.

  $ lua5.4 -e 'io.open("code", "wb"):write(string.dump(load "print(1)"))
  > io.open("deep.lua", "w"):write("local t = {} t.a = t return t", (".a"):rep(200000), ".y.z")
  > io.open("first.lua", "w"):write("#!x\nprint(...) error([[no]])")'
  $ obs --sandbox code | head -1
  ! obs-lua: attempt to load a binary chunk (mode is 't')
  $ obs --sandbox deep.lua | head -1
  ! obs-lua: deep.lua: the chunk is larger than 65536 bytes
  $ obs --sandbox - <deep.lua | head -1
  ! obs-lua: stdin: the chunk is larger than 65536 bytes
  $ obs --sandbox first.lua 7 | head -2
  7
  ! obs-lua: first.lua:2: no

A sandbox loads modules from a folder, and none from outside.

  $ mkdir -p modules/sub && echo 'return ...' >modules/sub/name.lua && ln -s /etc modules/out
  $ obs --sandbox=modules -e 'print(require "sub.name")
  > print(pcall(require, "out.passwd")) print(pcall(require, "..input"))'
  sub.name
  false\tmodule 'out.passwd' not found: the host program offers no module of that name (esc)
  false\tmodule '..input' not found: the host program offers no module of that name (esc)

The error of closing a coroutine in `xpcall` is that of the coroutine: Lua 5.4.4 calls the message handler after the
coroutine has left it.

  $ cat >closing.lua <<'END'
  > local function deep(n, h)
  >   if n == 0 then return xpcall(coroutine.yield, h) end
  >   return (deep(n - 1, h))
  > end
  > for r = 1, 5 do
  >   local c = coroutine.create(function()
  >     local x <close> = setmetatable({}, { __close = function()
  >       local t
  >       for i = 1, 100000 do t = { i } end
  >       error(134)
  >     end })
  >     deep(20000, function() return "XXX" end)
  >   end)
  >   coroutine.resume(c)
  >   print(coroutine.close(c))
  > end
  > END
  $ for options in '' '--sandbox --turn-time=20s'; do obs $options closing.lua | uniq -c; done
        5 false\t134 (esc)
        5 false\t134 (esc)
