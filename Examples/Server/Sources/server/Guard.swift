/// Runs in each host before its plugin.
///
/// `print` goes to the server. What a plugin has no use for is taken away. A count hook ends what takes too
/// long: it is set for the main coroutine and for each that is made, and once a plugin has used up the
/// instructions of its turn, each further instruction raises the error again, so that a `pcall` in a loop
/// doesn't help. This contains mistakes; it is no sandbox for those who mean harm.
let guardScript = """
  local say, turn, sethook, create = say, turn, debug.sethook, coroutine.create
  local tostring, error, concat, pack = tostring, error, table.concat, table.pack
  for _, name in ipairs { "say", "turn", "debug", "io" } do
    _G[name], package.loaded[name] = nil, nil
  end
  for _, name in ipairs { "execute", "exit", "remove", "rename", "tmpname" } do os[name] = nil end

  function print(...)
    local parts = pack(...)
    for i = 1, parts.n do parts[i] = tostring(parts[i]) end
    say(concat(parts, " "))
  end

  local STEP, MOST_STEPS = 100000, 50
  local last, steps = turn(), 0
  local function hook()
    local now = turn()
    if now ~= last then
      last, steps = now, 0
      sethook(hook, "", STEP)
    end
    steps = steps + 1
    if steps > MOST_STEPS then
      sethook(hook, "", 1)
      error("takes more than 5,000,000 instructions in one turn", 2)
    end
  end
  sethook(hook, "", STEP)

  function coroutine.create(body)
    local thread = create(body)
    sethook(thread, hook, "", STEP)
    return thread
  end
  """
