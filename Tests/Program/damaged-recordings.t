D5, D8: damage to a recording does no harm: no crash, no hang, no secret, and no file is written.

  $ . "$TESTDIR/functions"
  $ skip_under thread

  $ obs --record=r -e 'print(os.remove "no", #io.open("/proc/self/stat"):read "a")' >out
  $ damaged() {  # edit
  >   sed "$1" r >r1; obs --replay=r1 >out; echo "[$?]"; grep '^!' out; ls stolen 2>/dev/null
  > }
  $ gives damaged <<'END'
  > s/"remove","no",-1,2/"remove","no",-1,4294967296/ => [0]
  > s/"read","#2",[0-9]*,/"read","#2",600000,/ => [0]
  > 1s/"command":\[/"command":["x","--record=stolen",/ => [1] | ! obs-lua: the command line in the first line of the recording is damaged: it has '--record'
  > 1s/"command":\[/"command":["x","--nothing",/ => [1] | ! obs-lua: the command line in the first line of the recording is damaged: unrecognized option '--nothing' (see --help)
  > 1s/"command":\[/"command":5,"x":[/ => [1] | ! obs-lua: 'r1' has no valid 'command' in its first line
  > 1s/"command":\[/"command":[[300],/ => [1] | ! obs-lua: 'r1' has no valid 'command' in its first line
  > 1s/"seed":"[0-9]*"/"seed":"x"/ => [1] | ! obs-lua: 'r1' cannot be replayed: it has no inputs (they are recorded by --record, without --record-last and --no-inputs)
  > 1s/"terminal":false/"terminal":0/ => [1] | ! obs-lua: 'r1' has no valid 'terminal' in its first line
  > END
  8 of them

Damage at random, from OBS_SEED, OBS_COUNT times.

  $ echo TOPSECRET-4711 >secret; mkfifo fifo
  $ printf 'x\ny\n' | obs --record=r "$TESTDIR/recordings/inputs.lua" >out
  [1]
  $ [ $(grep -c input r) -gt 50 ]
  $ obs "$TESTDIR/recordings/damage.lua" obs-lua r ${OBS_SEED:-1} ${OBS_COUNT:-25}
