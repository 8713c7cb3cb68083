-- A script that runs beside an attacker. Both have `shared` and `document`.
local obs = require "obs"

local counts = {}
local function count(name)
  counts[name] = 0
  return function() counts[name] = counts[name] + 1 end
end

local function work()
  for _ = 1, 200 do end
end

local own, failures = { n = 0 }, {}
local made

local watchers = {
  obs.observe(shared, "v", count "pending", { name = "secret" }),
  obs.observe(shared, "v", function(_, _, change)
    assert(change.path == "v" and change.key == "v")
    counts.immediate = counts.immediate + 1
    work()
  end, { immediate = true, name = "secret" }),
  obs.observe(shared, "v", count "compared", {
    equals = function(a, b)
      work()
      return a == b
    end,
  }),
  obs.observe(document, "title", count "title"),
  obs.observe_edits(shared.list, count "edits"),
  obs.observe_edits(shared.list, count "eachEdit", { immediate = true }),
  obs.observe_keys(shared, "v", count "keys"),
  obs.changes(shared.sub, count "changes", { site = true }),
  obs.observe(shared, "z", count "z"),
}
counts.immediate = 0
obs.computed(shared, "double", { "v" }, function(s)
  work()
  return s.v * 2
end)
watchers[#watchers + 1] = obs.observe(shared, "double", count "double")
watchers[#watchers + 1] = obs.observe(shared, "w", function()
  made = made or obs.observe(own, "n", count "made")
end, { immediate = true })
obs.on_observed(shared, count "hook")
obs.every(1, count "tick")
obs.task(function()
  local nap = count "nap"
  while true do
    obs.sleep(1)
    nap()
    shared.beat = counts.nap
  end
end)
obs.on_error(function(message)
  message = tostring(message)
  -- Others can cause more calls than there is time for.
  local is_expected = message:find "not enough time for all events"
    or message:find "has no time left for it"
  if not is_expected then failures[#failures + 1] = message end
end)
obs.on_exit(function() exited = true end)
obs.log(count "event")
obs.record(true)
local history = obs.history(shared.sub)
local Account = obs.model("Account", {
  pin = 1234, check = function(self, pin) return pin == self.pin end,
})
local account = { path = { "account" }, kind = "set", new = { pin = 1 }, model = "Account" }

local function called(before, ...)
  for _, name in ipairs { ... } do
    assert(counts[name] > before[name], "not called: " .. name)
  end
end

local round = 0

--- Checks that everything in the script works.
function check()
  round = round + 1
  local before = {}
  for name, number in pairs(counts) do before[name] = number end
  shared.v = shared.v + 1
  document.title = document.title .. "."
  shared.list:append(round)
  local y = shared.sub.y
  shared.sub.y = y + 1
  own.n = own.n + 1
  obs.flush()
  called(before, "pending", "immediate", "compared", "title", "edits", "eachEdit", "keys",
    "changes", "double", "event")
  if made then called(before, "made") end
  for i, watcher in ipairs(watchers) do assert(watcher.active, "ended: " .. i) end
  assert(shared.double == shared.v * 2)
  assert(obs.is_valid(shared, "double"))
  assert(select(2, obs.why(watchers[1])):find "was called in turn")
  assert(history:undo() and shared.sub.y == y)
  local ok, value = obs.transaction({ shared }, function()
    shared.v = shared.v + 1
    return shared.v
  end)
  assert(ok and shared.v == value, "the transaction failed")
  local hooks = counts.hook
  obs.observe(shared, "fresh" .. round, print):stop()
  assert(counts.hook == hooks + 2, "the hook was not called")
  local copy = {}
  obs.apply(copy, { account })
  assert(getmetatable(copy.account) == Account and Account {}:check(1234))
  assert(copy.account:check(1) and not copy.account:check(2))
  assert(obs.limits().watchers == 10000 and obs.limits().timers == 1000)
  assert(#failures == 0, failures[1])
end

--- The runs of its timer and of its task.
function times() return counts.tick, counts.nap end
