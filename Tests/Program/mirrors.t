A3, A6: programs that share a tree, of which some are killed, or whose network is down.

  $ . "$TESTDIR/functions"
  $ command -v redis-server >/dev/null || exit 80
  $ trap 'kill -9 $server 2>/dev/null' EXIT

Each program counts to a number, and keeps the numbers of all programs in one list.

  $ cat >common.lua <<'END'
  > local obs = require "obs"
  > local name, url, last, journal = arg[1], arg[2], tonumber(arg[3]), arg[4]
  > local t = { counts = {}, log = {} }
  > local m = obs.mirror(t, "tree", { url = url, journal = journal })
  > local function count()
  >   t.counts[name] = (t.counts[name] or 0) + 1
  >   t.log[#t.log + 1] = name .. t.counts[name]
  > end
  > local function wait(condition)
  >   while not condition() do obs.next_change(m, { "state", "pending", "version" }) end
  > end
  > END

A writer that is killed again and again loses nothing that it has counted. The writes of its last turns may or may not
have been sent and acknowledged.

  $ cat common.lua - >writer.lua <<'END'
  > local turns = tonumber(arg[5])
  > obs.task(function()
  >   m:synced()
  >   local timer
  >   timer = obs.every(0.001, function()
  >     turns = turns - 1
  >     if turns == 0 then os.execute "kill -9 $PPID" end
  >     if (t.counts[name] or 0) < last then count() else timer:stop() end
  >   end)
  >   wait(function() return t.counts[name] == last and m:synced() end)
  >   m:stop()
  > end)
  > END
  $ cat common.lua - >reader.lua <<'END'
  > obs.task(function()
  >   m:synced()
  >   print(table.concat(t.log, " "))
  >   m:stop()
  > end)
  > END
  $ redis-server --save '' --appendonly yes --daemonize no --logfile log --port 0 --unixsocket ./socket </dev/null &
  $ server=$!
  $ for turns in 1 2 3 4 5 6 7 8 9 10 11 12 0; do
  >   obs writer.lua w unix://$PWD/socket 90 journal $turns; echo "[$?]"
  > done | uniq -c
       12 [137]
        1 [0]
  $ obs reader.lua r unix://$PWD/socket 0 | tr ' ' '\n' | cmp - <(for i in $(seq 90); do echo w$i; done)
  $ { kill -9 $server; wait $server; } 2>/dev/null
  [137]

Programs whose network is down for ten seconds have the same tree afterwards. A separate network needs `ip`, and rights
that a user may not have.

  $ cat common.lua - >counter.lua <<'END'
  > obs.task(function()
  >   m:synced()
  >   while (t.counts[name] or 0) < last do
  >     count()
  >     if name == "a" and t.counts.a == 20 then os.execute "ip link set lo down" end
  >     if name == "a" and t.counts.a == last then
  >       wait(function() return m.state == "offline" end)
  >       os.execute "ip link set lo up"
  >     end
  >     obs.sleep(0.01)
  >   end
  >   wait(function() return t.counts.a == last and t.counts.b == last and m:synced() end)
  >   print(table.concat(t.log, " "))
  >   m:stop()
  > end)
  > END
  $ cat >programs <<'END'
  > ip link set lo up
  > redis-server --save '' --appendonly yes --daemonize no --logfile log --port 6379 &
  > trap "kill -9 $!" EXIT
  > obs-lua counter.lua b redis://127.0.0.1 100 >b &
  > b=$!
  > obs-lua counter.lua a redis://127.0.0.1 100 >a
  > wait $b
  > END
  $ rm -rf appendonlydir
  $ if unshare --map-root-user --net sh -c 'ip link set lo up' 2>/dev/null; then
  >   unshare --map-root-user --net sh programs </dev/null 2>/dev/null
  >   cmp a b
  >   for name in a b; do
  >     tr ' ' '\n' <a | grep "^$name" | cmp - <(for i in $(seq 100); do echo $name$i; done)
  >   done
  > fi
