D5: a replay prints the same in each environment and with each limit of the stack: these make the C library and the
system place memory elsewhere.

  $ . "$TESTDIR/functions"
  $ skip_under thread
  $ long=$(printf 'x%.0s' $(seq 5000))

The program prints everything that follows from addresses, seeds and the memory in use.

  $ obs --record=r "$TESTDIR/recordings/everything.lua" >out
  $ [ $(wc -l <out) -gt 20 ]
  $ for stack in 8192 1024; do
  >   for variable in A=1 'A=1 B=2 C=3' A=$long LC_ALL=C.UTF-8 TZ=Asia/Tokyo HOME=/nowhere LD_BIND_NOW=1 \
  >     MALLOC_ARENA_MAX=1 MALLOC_PERTURB_=85 MALLOC_MMAP_THRESHOLD_=4096 MALLOC_TOP_PAD_=1000000 \
  >     GLIBC_TUNABLES=glibc.malloc.check=0; do
  >     (ulimit -s $stack; export $variable; obs --replay=r --trust) | cmp - out || echo "${variable:0:40} $stack"
  >   done
  > done

The examples of the guide are replayed, except those that use luv or `obs.io`, which a replay refuses, and one in
which a process also prints.

  $ cp "$TESTDIR"/../../Scripts/Examples/*.lua .
  $ for example in $(grep -LE 'obs\.io|"luv"|"socket"' *.lua); do
  >   [ $example = twocopies.lua ] ||
  >     replays "obs-lua --record=r $example" "mv $example gone" '' A=1 'TZ=Asia/Tokyo MALLOC_PERTURB_=85' A=$long
  >   mv gone $example 2>/dev/null; echo $example
  > done | wc -l
  15
