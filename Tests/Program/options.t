Options, the command line and what a script sees of it. same-as-lua.t has what lua5.4 also does.

  $ . "$TESTDIR/functions"

--help shows every option on the standard output.

  $ obs --help
  usage: obs-lua [options] [script [args]]
  Available options are:
    -e stat   execute string 'stat'
    -i        enter interactive mode after executing 'script'
    -l mod    require library 'mod' into global 'mod'
    -l g=mod  require library 'mod' into global 'g'
    -v        show version information
    -E        ignore environment variables
    -W        turn warnings on
    --        stop handling options
    -         stop handling options and execute stdin
  and options that lua doesn't have:
    --help                     show this text
    --version                  show the versions of obs-lua and Lua
    --error=stop|continue      after an error: end the loop with status 1 (stop), or go on
    --virtual-time             timers don't wait: time passes when nothing else is left to do
    --timeout=SECONDS          end with status 124 after this time; with --test a limit for each file (10)
    --max-memory=BYTES         let scripts use this much memory, as 64M or 1G; more is an error
    --turn-time=TIME           stop scripts that take longer in a turn, as 50ms or 2s
    --sandbox[=FOLDER|strict]  safe libraries, modules of FOLDER, a locked process (strict: or end)
    --test                     run the self-checking scripts at the paths that follow
    --tap                      with --test: write TAP on a terminal, too
    --junit=FILE               with --test: write the results to FILE, too, as XML
    --filter=TEXT              with --test: only files and cases with TEXT in their names
    --tags=NAMES               with --test: only cases with one of these #tags in their sentences
    --exclude-tags=NAMES       with --test: no cases with one of these #tags in their sentences
    --list                     with --test: print the sentences of the cases, and run none
    --shuffle[=SEED]           with --test: random order of files, and of the cases in a describe
    --repeat=N                 with --test: run everything N times
    --coverage[=FILE]          with --test: count the lines that run; details in FILE (lcov.info)
    --jobs=N                   with --test: run up to N files at once; otherwise as many as cores
    --fail-fast                with --test: end after the first failure
    --leaks                    with --test: watchers, timers and tasks that a case leaves are failures
    --watch[=reload]           run changed scripts or tests again; reload: load only changed modules again
    --record=FILE              record the run to FILE, for --report and --replay
    --record-last=TURNS        with --record: keep the newest turns, between TURNS and twice as many
    --no-inputs                with --record: no inputs such as files and the time, and no replay
    --replay=FILE              repeat the run that FILE has recorded, with the same inputs and output
    --until=TURN               with --replay: stop after this turn, at a prompt
    --bisect=EXPRESSION        with --replay: find the first turn after which this is false
    --trust                    with --replay: the recording is yours; C modules and bytecode may run
    --report=FILE              make FILE, a page that shows the recording that follows
    --trace=FILE               make FILE from the recording that follows: trace events for Chrome
    --inspect[=PORT]           show the running program in a browser, at an address of this machine

--version shows our version and that of Lua.

  $ obs --version
  obs-lua \d+\.\d+\.\d+ \(Lua 5\.4\.\d+\) (re)

Failed output is a failure of the program.

  $ echo 'expect(true)' >c.lua
  $ failed_output() { obs-lua $1 >/dev/full; echo $?; }
  $ gives failed_output <<'END'
  > --help => obs-lua: cannot write to the standard output | 1
  > --version => obs-lua: cannot write to the standard output | 1
  > --test c.lua => obs-lua: cannot write to the standard output | 2
  > END
  3 of them

The program does not load Foundation, which takes longer than most scripts take to run.

  $ grep -ao 'liblua5.4\|libFoundation' "$(command -v obs-lua)" | sort -u
  liblua5.4

Chunks and libraries run in the order written, then the script.

  $ echo 'print(s, ...)' >f
  $ obs -e 's = 1 print(s)' -l s=string '-es = 2' f a
  1
  2\ta (esc)

Arguments before the script have negative indices.

  $ echo 'print(arg[-3], arg[-1], arg[0], arg[1])' >f
  $ obs -e '' f x
  obs-lua\t\tf\tx (esc)

Our own options come before the script, and appear in arg.

  $ echo 'print(arg[-1], arg[1])' >f
  $ obs --virtual-time f --help
  --virtual-time\t--help (esc)

They change nothing for a script that ends by itself.

  $ obs --timeout=60 --error=continue --virtual-time -e 'print(1)'
  1

An error shows the program, the place, the message and the traceback.

  $ printf 'local x\nerror("bad")' >f
  $ obs f
  ! obs-lua: f:2: bad
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:2: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]

W2: a task that a tail call starts has the place of its function.

  $ printf 'local obs = require "obs"\n\nreturn obs.task(function()\nerror("x") end)' >f
  $ obs f 2>&1 | grep registered
  ! in task task (registered at f:3)

The prompt says why the last line is incomplete.

  $ printf 'print(1' | obs -i | grep '^!'
  ! stdin:1: ')' expected near <eof>

The collector is incremental.

  $ obs -e 'print(collectgarbage("incremental"))'
  incremental
