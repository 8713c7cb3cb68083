L6: a turn may last as long as the program. Objects that it creates and drops are freed during it.

  $ . "$TESTDIR/functions"
  $ skip_under address thread
  $ cat >f <<'END'
  > local obs = require "obs"
  > function nop() end
  > list = { 0 }
  > obs.observe_edits(list, nop)
  > local once = assert(load("local obs, i = ... " .. arg[1]))
  > local function resident()
  >   obs.flush()
  >   collectgarbage()
  >   collectgarbage()
  >   local file <close> = io.open "/proc/self/statm"
  >   return file:read("a"):match "%d+ (%d+)" * 4
  > end
  > -- The collector leaves more after some waves than after others.
  > local before, after = 0, math.huge
  > for wave = 1, 12 do
  >   for i = 1, 3000 do once(obs, i) end
  >   local now = resident()
  >   if wave <= 4 then before = math.max(before, now) end
  >   if wave > 8 then after = math.min(after, now) end
  > end
  > print(after - before < 600 and "same" or after - before .. " KB")
  > END

Memory stays the same while objects come and go in one turn.

  $ each obs f <<'END'
  > local t = { v = 1 } obs.observe(t, 'v', nop)
  > local t = { list = { 1 } } obs.observe_edits(t.list, nop) t.list[2] = 2
  > local t = { list = { { x = 1 } } } obs.observe(t, 'list.*.x', nop) t.list[2] = { x = 2 }
  > local t = { v = 1 } obs.computed(t, 'w', { 'v' }, function(t) return t.v end) local _ = t.w
  > list[1] = i obs.flush()
  > END
  same
  same
  same
  same
  same
  5 of them
