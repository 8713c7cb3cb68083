Each line does the same as with the installed lua5.4: output, errors, status and files.

  $ . "$TESTDIR/functions"
  $ command -v lua5.4 >/dev/null || exit 80

In the lines $L is the program, under the name ./lua.

  $ run_in() {  # folder, program, line
  >   rm -rf $1 && mkdir $1 && ln -s "$(command -v $2)" $1/lua
  >   (cd $1 && L=./lua sh -c "$3" >output 2>errors; echo $? >status; rm lua)
  > }
  $ same() {  # line
  >   run_in expected lua5.4 "$1"
  >   run_in found obs-lua "$1"
  >   diff -ra expected found || echo "^ $1"
  > }

Options and arguments.

  $ each same <<'END'
  > $L -e 'print(1)' -e 'print(2)'
  > $L "-eprint(1)" -ea=3 -e "print(a)"
  > $L -v -e'print(1)'
  > $L -v
  > $L -v -e 'print(...)' -
  > $L -e ''
  > $L -e 'return 1, 2'
  > $L -l s=string -l math -lio -e 'print(s.rep("a", 3), math.type(1), io.type(1))'
  > $L -l =string -e 'print(_G[""].rep("a", 3))'
  > $L -l s= -e ''
  > $L -l nomod
  > $L -x
  > $L -e
  > $L -l
  > $L -e -v
  > $L -vv
  > $L -Ex
  > $L -W1
  > $L -iv
  > $L ''
  > $L -- -
  > echo 'print(arg[0], ...)' | $L - a -b --c
  > echo 'print(#arg, arg[0], arg[-1])' | $L
  > echo 'print(arg[-4], arg[-3], arg[-2], arg[-1], arg[0], ...)' >f; $L -e 'x=1' -- f a b
  > echo 'print(arg[1])' >f; $L f "$(printf '\377')" | od -c
  > echo 'print(...)' | $L -e 'arg[1] = 100' - a
  > $L -e 'arg = nil' /dev/null
  > $L -e 'arg = setmetatable({}, {__len = function() return 1.5 end})' /dev/null
  > $L -e 'arg = setmetatable({}, {__len = function() return 10000000 end})' /dev/null
  > $L -W -e 'warn("x") warn("@off") warn("y")'
  > $L -e 'warn("x")' -W -e 'warn("y", "z") warn("@a", "@b")'
  > END
  31 of them

An end of options without a script; lua5.4 runs out of memory here if its release is 5.4.7.

  $ echo 'print(arg[0])' | obs --
  obs-lua

Environment variables.

  $ each same <<'END'
  > LUA_INIT='print("init", arg[0])' $L -e 'print(2)'
  > LUA_INIT='error("init")' $L -e 'print(2)'
  > LUA_INIT='error("init")' $L -E -e 'print(2)'
  > LUA_INIT='x(' $L
  > LUA_INIT= $L -e 'print(2)'
  > LUA_INIT=@nofile $L -e 'print(2)'
  > echo 'print(1)' >f; LUA_INIT=@f $L -e 'print(2)'
  > LUA_INIT_5_4='print(54)' LUA_INIT='print(5)' $L -e ''
  > $L -e 'print(package.path, package.cpath, package.config)'
  > LUA_PATH='a;;' LUA_CPATH='b;;' $L -e 'print(package.path, package.cpath)'
  > LUA_PATH='a;;' LUA_PATH_5_4='c;;' $L -e 'print(package.path)'
  > LUA_CPATH_5_4=c LUA_PATH='a;;' $L -E -e 'print(package.path, package.cpath)'
  > END
  12 of them

Errors.

  $ each same <<'END'
  > echo 'error("x")' | $L
  > echo 'error("x")' | $L -
  > echo 'syntax error' | $L
  > $L nofile
  > $L /
  > $L -- nofile
  > $L -e 'x ='
  > $L -e 'goto x'
  > $L -e 'error({})'
  > $L -e 'error()'
  > $L -e 'error(12)'
  > $L -e 'error(1.5)'
  > $L -e 'error("a\0b")'
  > $L -e 'error("no position", 0)'
  > $L -e 'error(setmetatable({}, {__tostring = function() return "text" end}))'
  > $L -e 'error(setmetatable({}, {__tostring = function() return 7 end}))'
  > $L -e 'error(setmetatable({}, {__tostring = function() error({}) end}))'
  > $L -e 'local function f() return 1 + f() end f()'
  > $L -e 'for i = 1, 20000 do _G["x" .. i] = i end error("no")'
  > $L -e 'coroutine.wrap(function() error("in a coroutine") end)()'
  > $L -e 'local c <close> = setmetatable({}, {__close = print}) error("x", 0)' | wc -l
  > $L -e 'print(("x"):bad())'
  > $L -e 'print(debug.traceback("here"))'
  > $L -e 'setmetatable(_G, {__index = error}) require = nil' -l string
  > $L -e 'setmetatable(_G, {__newindex = function(_, k) error("no " .. k) end})' -l x=string
  > printf '#!shebang\nprint(1)\nerror("line 3")' >f; $L f
  > printf '\357\273\277# BOM\nprint(1)\nx = y.z' >f; $L f
  > printf '\033Lua' >f; $L f
  > printf 'local t = ...\nlocal function f() error({code = t}) end\nf()' >f; $L f x
  > END
  29 of them

The end of the process.

  $ each same <<'END'
  > $L -e 'os.exit(3)'
  > $L -e 'os.exit(true, true)'
  > $L -e 'os.exit(false)'
  > $L -e 'setmetatable({}, {__gc = function() print("gc") end}) os.exit(3, true)'
  > $L -e 'setmetatable({}, {__gc = function() print("gc") end}) os.exit(3)'
  > $L -e 'setmetatable({}, {__gc = function() print("gc") end})'
  > $L -e 'local c <close> = setmetatable({}, {__close = function() print(1) end}) os.exit(4, true)'
  > $L -W -e 'setmetatable({}, {__gc = function() error("gc") end})'
  > $L -e 'io.write("no line break")'
  > $L -e 'io.stdout:setvbuf("full") io.write("a") io.stderr:write("b") print("c")' 2>&1
  > $L -e 'print(1)' >/dev/full
  > $L -e 'print(io.stdout:write("x"):flush())' >/dev/full
  > $L -e 'print(1)' >&-
  > $L <&-
  > $L - <&-
  > $L -i <&-
  > $L -e 'io.stdout:close() print(1)'
  > echo 'while true do print(1) end' >f; $L f | head -n 1
  > $L -e 'io.popen("kill -TERM $PPID"):close() while true do end'
  > $L -e 'pcall(function() io.popen("kill -INT $PPID"):close() while true do end end) print(1)'
  > END
  20 of them

The prompt on a pipe.

  $ each same <<'END'
  > $L -i
  > printf '1,2,nil\nfoo(\n)\nerror({})\nerror(12)\n=5\nlocal x = 3\nx\n' | $L -i
  > printf '\n  \nfor i=1,2 do\nprint(i)\nend\nreturn 1,2\nx = = 2\n1' | $L -i
  > printf 'a = [[b\n\nc]]\n=a\n' | $L -i
  > printf 'io.read()\nhello\n2\n' | $L -i
  > printf 'os.exit(5)\n' | $L -i
  > printf '1\nx\n' | $L -e '_PROMPT, _PROMPT2 = "p ", 7' -i
  > printf '1\n2\n' | $L -e '_PROMPT = setmetatable({}, {__tostring = function() return "t" end})' -i
  > $L -e '_PROMPT = setmetatable({}, {__tostring = function() error(12) end})' -i
  > $L -e '_PROMPT = setmetatable({}, {__tostring = function() return 1 end})' -i
  > printf '1\n2\n' | $L -e 'print = nil' -i
  > printf '1\n2\n' | $L -e 'print = function() error({}) end' -i
  > printf '1\n' | $L -e 'print = function() io.write(debug.traceback()) end' -i
  > printf 'table.unpack({}, 1, 999980)\n1\n' | $L -i
  > $L -i -e 'error("not reached")'
  > printf 'obs\n"text"\nhelp\nexit\n.help\n#{}\nerror("x")\n' | $L -i
  > echo 'print(1)' >f; echo 2 | $L -i f
  > END
  17 of them
