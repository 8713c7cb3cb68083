Errors of callbacks, and the ways the program ends during the loop and while the state is closed.

  $ . "$TESTDIR/functions"

An error in a watcher is reported with its cause, and ends the loop.

  $ cat >failing <<'END'
  > local obs = require "obs"
  > local t = {}
  > obs.observe(t, "a", function() error("bad") end, {name = "first"})
  > obs.observe(t, "a", function() print("second") end)
  > obs.on_exit(function() print("exit") end)
  > obs.after(0, function() print("later") end)
  > t.a = 1
  > END
  $ obs failing
  second
  exit
  ! obs-lua: failing:3: bad
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tfailing:3: in function <failing:3> (esc)
  ! \t[C]: in ? (esc)
  ! in watcher first (registered at failing:3)
  ! caused by the write at failing:7
  [1]

With --error=continue an error is reported, and the loop continues.

  $ obs --error=continue failing
  second
  later
  exit
  ! obs-lua: failing:3: bad
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tfailing:3: in function <failing:3> (esc)
  ! \t[C]: in ? (esc)
  ! in watcher first (registered at failing:3)
  ! caused by the write at failing:7

An error that the script handles does not end the loop.

  $ { echo 'require("obs").on_error(function(e) print(e) end)'; cat failing; } >f; obs f
  f:4: bad
  second
  later
  exit

Tracebacks show functions of the module, not its code.

  $ cat >begin <<'END'
  > local obs = require "obs"
  > END
  $ traceback() { { cat begin; echo "$1"; } >f; obs f; echo "[$?]"; }
  $ each traceback <<'END'
  > obs.batch(function() error 'bad' end)
  > obs.apply({}, 5)
  > obs.task(function()\
  > obs.await(function() error 'bad' end) end)
  > END
  ! obs-lua: f:2: bad
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:2: in function <f:2> (esc)
  ! \t[C]: in function 'obs.batch' (esc)
  ! \tf:2: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]
  ! obs-lua: f:2: bad argument #2 to 'apply' (list of changes expected, got number)
  ! stack traceback:
  ! \t[C]: in function 'obs.apply' (esc)
  ! \tf:2: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]
  ! obs-lua: f:3: bad
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:3: in function (esc)
  ! \t[C]: in function 'obs.await' (esc)
  ! \tf:3: in function <f:2> (esc)
  ! in task task (registered at f:2)
  [1]
  3 of them

With three lines from the guide, the error of a callback fails the test that caused it, in any test runner.

  $ sed '1,/^## In other test runners/d' "$TESTDIR/../../Documentation/Fixtures.md" \
  >   | sed -n '/^```lua/,/^```/{/^```/d;p}' >shown; wc -l <shown
  3
  $ cat >f - shown <<'END'
  > local checks = {}
  > function after_each(check) checks[#checks + 1] = check end
  > function it(name, test)
  >   local ok, message = pcall(test)
  >   for _, check in ipairs(checks) do
  >     local passed, failure = pcall(check)
  >     if ok and not passed then ok, message = false, failure end
  >   end
  >   print(name, ok, message)
  > end
  > END
  $ cat >>f <<'END'
  > local t = {}
  > it("writes nothing", function() end)
  > obs.observe(t, "a", function() error("bad") end, { name = "first" })
  > it("writes", function() t.a = 1 end)
  > it("writes nothing again", function() end)
  > END
  $ obs f
  writes nothing\ttrue\tnil (esc)
  writes\tfalse\tf:16: bad (esc)
  in watcher first
  writes nothing again\ttrue\tnil (esc)

os.exit in a watcher ends the program; only on_exit is still called.

  $ obs - <<'END'
  > local obs = require "obs"
  > local t = {}
  > obs.on_exit(function() print("exit") end)
  > obs.observe(t, "a", function() os.exit(7) end)
  > obs.observe(t, "a", function() print("not called") end)
  > obs.next_turn(function() print("not called") end)
  > t.a = 1
  > END
  exit
  [7]

Memory of operators stays reachable when os.exit ends the program: the address sanitizer would report it.

  $ obs - <<'END'
  > local obs = require "obs"
  > local operators = { "sum", "avg", "min", "max", "any", "all", "unionOfObjects",
  >   "distinctUnionOfObjects" }
  > local t = { items = {} }
  > for i = 1, 9 do t.items[i] = { a = i % 3 == 0 and {} or i % 3 == 1 and "text" or i } end
  > obs.on_error(function() end)
  > for _, name in ipairs(operators) do obs.observe(t, "items.@" .. name .. ".a", function() end) end
  > for i = 1, 9 do t.items[i].a = { i } obs.flush() end
  > os.exit(3)
  > END
  [3]

A signal ends a waiting loop, after on_exit. The child waits until the loop does.

  $ for signal in INT TERM; do
  >   obs - $signal <<'END'; echo "[$?]"
  > local obs = require "obs"
  > obs.on_exit(function() print("exit") end)
  > obs.every(3600, function() print("not called") end)
  > local wait = [[until [ "$(cut -d " " -f 3 /proc/$PPID/stat)" = S ]; do :; done; ]]
  > obs.next_turn(function() child = io.popen(wait .. "kill -" .. arg[1] .. " $PPID") end)
  > END
  > done
  exit
  [130]
  exit
  [143]

With --virtual-time timers come in order, without waiting.

  $ obs --virtual-time - <<'END'
  > local obs = require "obs"
  > local hours, timer = 0, nil
  > timer = obs.every(3600, function()
  >   hours = hours + 1
  >   print(hours, obs.now())
  >   if hours == 3 then timer:stop() end
  > end)
  > obs.after(5400, function() print("half past one", obs.now()) end)
  > END
  1\t3600.0 (esc)
  half past one\t5400.0 (esc)
  2\t7200.0 (esc)
  3\t10800.0 (esc)

A callback that captures its observer causes a warning.

  $ obs - <<'END'
  > local obs = require "obs"
  > local view, model = {}, {}
  > obs.observe(model, "a", function() return view end, {observer = view})
  > END
  ! obs-lua: stdin:3: warning: the callback captures its observer 'view', which keeps it alive for ever; use the observer that the callback receives instead

L8: finalizers may call any function of the module while the state is closed. `early` finalizers are older than
the module, and run after all its objects.

  $ cat >f <<'END'
  > local mode, finalizers, kept = arg[1], {}, {}
  > function KEEP() return kept end
  > local function at_close(f) kept[#kept + 1] = setmetatable({}, { __gc = f }) end
  > if mode == "early" then
  >   for i = 1, 1000 do at_close(function() if finalizers[i] then finalizers[i]() end end) end
  > end
  > local obs = require "obs"
  > local shared = { a = 1, list = { 1, 2 } }
  > obs.computed(shared, "declared", { "a" }, function(self) return self.a end)
  > obs.computed(shared, "tracked", function(self) return self.a end)
  > obs.copy_of(shared, "copy", "list")
  > local watcher = obs.observe(shared, { "a", "declared", "list.@count", "*" }, function() end)
  > local array, set = obs.array { 1, 2 }, obs.set_of { 1 }
  > obs.observe(array, "*", function() end)
  > local Model = obs.model("Model", { a = 1,
  >   b = obs.computed({ "a" }, function(self) return self.a end) })
  > local model = Model {}
  > obs.observe(model, "b", function() end)
  > local calls = {
  >   function(f) f() end, function(f) f({}, "a", print) end,
  >   function(f) f(shared, "a", function() end) end, function(f) f(shared) end,
  >   function(f) f({}, "x", { "a" }, function() return 1 end) end,
  >   function(f) f(function() end) end,
  >   function(f) f("M", { a = 1 }) end, function(f) f({ a = 1 }, "copy", "a") end,
  > }
  > for name, f in pairs(obs) do
  >   for _, call in ipairs(type(f) == "function" and calls or {}) do
  >     finalizers[#finalizers + 1] = function()
  >       local ok, message = pcall(call, f)
  >       if not ok and type(message) ~= "string" then os.exit(9) end
  >     end
  >   end
  > end
  > finalizers[#finalizers + 1] = function()
  >   pcall(function()
  >     watcher:run()
  >     array:append(1)
  >     set:add(2)
  >     shared.a, shared.list[3], model.a = 2, 1, 5
  >     local _ = shared.declared, shared.tracked, shared.copy, model.b
  >     watcher:stop()
  >   end)
  > end
  > if mode ~= "early" then for _, f in ipairs(finalizers) do at_close(f) end end
  > if mode == "error" then error("the script fails", 0) end
  > END
  $ for mode in late early error; do obs --virtual-time f $mode | grep '^!'; echo "[${PIPESTATUS[0]}]"; done
  [0]
  [0]
  ! obs-lua: the script fails
  ! stack traceback:
  ! \t[C]: in function 'error' (esc)
  ! \tf:45: in main chunk (esc)
  ! \t[C]: in ? (esc)
  [1]
