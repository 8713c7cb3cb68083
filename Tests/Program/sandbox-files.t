S5: a sandbox accepts the files that the program accepts without it, except bytecode.

  $ . "$TESTDIR/functions"
  $ cat >files <<'END'
  > print(1)
  > \357\273\277print(1) error("line 1")
  > #!/usr/bin/env obs-lua\nprint(1) error("line 2")
  > \357\273\277#!/usr/bin/env obs-lua\nprint(1) error("line 2")
  > \357\273\277#!/usr/bin/env obs-lua\r\nprint(1)\r\nerror("line 3")\r\n
  > # only a comment
  > \357\273\277# only a comment
  > #\n#print(1)
  > \357\273print(1)
  > \357\273\277\357\273\277print(1)
  > \n#print(1)
  > \357\273\277
  > #
  > \c
  > print((...))\r\nerror "line 2"
  > print("\344\000")
  > return = 1
  > END

A sandbox loads the files that the program loads: scripts, the standard input, and files of LUA_INIT.

  $ both_ways() {  # line with OPTION, folder of the sandbox
  >   (eval "${1/OPTION/}") >plain 2>&1; echo $? >>plain
  >   (eval "${1/OPTION/--sandbox$2}") >sandboxed 2>&1; echo $? >>sandboxed
  > }
  $ loads() {  # contents in the notation of printf
  >   local line
  >   printf "$1" >s.lua
  >   for line in 'obs-lua OPTION s.lua 7' 'obs-lua OPTION - 7 <s.lua' "LUA_INIT=@s.lua obs-lua OPTION -e ''"; do
  >     both_ways "$line"
  >     diff -a plain sandboxed || echo "$1: $line"
  >   done
  > }
  $ each loads <files
  17 of them

A module in the folder of a sandbox may be any such file. Only one of them says where it found the module.

  $ loads_module() {  # contents
  >   printf "$1" >m.lua
  >   both_ways "LUA_PATH='./?.lua' obs-lua OPTION -e 'print((select(2, pcall(require, \"m\"))))'" =.
  >   sed -zEi "s/(error loading module 'm' from file '[^']*':\s*)?(\/?[^[:space:]:']*\/)?m.lua/m.lua/" plain sandboxed
  >   diff -a plain sandboxed || echo "$1"
  > }
  $ each loads_module <files
  17 of them

A file that cannot be read is reported as without a sandbox.

  $ mkdir folder
  $ for option in '' --sandbox; do obs $option none.lua; obs $option folder; done
  ! obs-lua: cannot open none.lua: No such file or directory
  ! obs-lua: cannot read folder: Is a directory
  ! obs-lua: cannot open none.lua: No such file or directory
  ! obs-lua: cannot read folder: Is a directory
  [1]

Bytecode is refused, with any text before it.

  $ for heading in '' '\357\273\277' '#!x\n' '\357\273\277#!x\n'; do
  >   printf "$heading" >code; printf '\033LuaT' >>code; cp code m.lua
  >   obs --sandbox code; obs --sandbox - <code; obs --sandbox=. -l m
  > done | uniq -c
        3 ! obs-lua: attempt to load a binary chunk (mode is 't')
        1 ! stack traceback:
        1 ! \t[C]: in function 'require' (esc)
        1 ! \t[C]: in ? (esc)
        3 ! obs-lua: attempt to load a binary chunk (mode is 't')
        1 ! stack traceback:
        1 ! \t[C]: in function 'require' (esc)
        1 ! \t[C]: in ? (esc)
        3 ! obs-lua: attempt to load a binary chunk (mode is 't')
        1 ! stack traceback:
        1 ! \t[C]: in function 'require' (esc)
        1 ! \t[C]: in ? (esc)
        3 ! obs-lua: attempt to load a binary chunk (mode is 't')
        1 ! stack traceback:
        1 ! \t[C]: in function 'require' (esc)
        1 ! \t[C]: in ? (esc)
