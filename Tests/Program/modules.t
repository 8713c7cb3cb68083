C modules see observed tables as scripts do (M1), and stay loaded (M3).

  $ . "$TESTDIR/functions"
  $ export LUA_PATH="$TESTDIR/modules/Support/?.lua;;" LUA_CPATH="$(dirname "$(command -v obs-lua)")/?.so;;"

Runs a script in a new folder, `work`, where it may make files.

  $ run() { rm -rf work; mkdir work; (cd work; "$@" </dev/null 2>&1); }

M1: a module gives the same results as with lua5.4, whatever is observed.

  $ for script in "$TESTDIR"/modules/*.lua; do
  >   run lua5.4 $TESTDIR/modules/Support/run.lua plain $script . >expected || cat expected
  >   for how in plain whole keys; do
  >     run obs-lua $TESTDIR/modules/Support/run.lua $how $script . | diff -a expected - || echo "$script $how"
  >   done
  >   basename $script
  > done
  Compression.lua
  Databases.lua
  Files.lua
  Json.lua
  Markup.lua
  Names.lua
  Patterns.lua
  Processes.lua
  Random.lua
  RawAccess.lua
  Sockets.lua

M1: writes of C modules are reported.

  $ for script in "$TESTDIR"/modules/Heard/*.lua; do
  >   run obs-lua $script | sed 's/^ok [1-9][0-9]*$/ok/'; basename $script
  > done
  ok
  Computed.lua
  ok
  Lists.lua
  ok
  Maps.lua
  ok
  Native.lua
  ok
  Shapes.lua
  ok
  Writes.lua

M3: a thread of a module continues after the state is closed.

  $ for option in '' '-l obs'; do run obs-lua $option -e "require('rawaccess').start() print 'end'"; done
  end
  end
