-- Joins luv's loop to the host's loop, once the module luv is loaded.
local core, obs = ...

local assert, pcall, setmetatable, type = assert, pcall, setmetatable, type
local pack, unpack = table.pack, table.unpack
local bad_argument, count_calls, join_host, leave_host, run_host, silence =
  core.bad_argument, core.luv.calls, core.luv.join, core.luv.leave, core.luv.run, core.luv.silence
local wake_host = core.luv.wake

--- Runs the loop of `uv`, the module luv, inside the host's loop.
function core.join_luv_loop(uv)
  local run, loop_alive, backend_timeout = uv.run, uv.loop_alive, uv.backend_timeout
  local loop_close, walk, new_async, loop_mode = uv.loop_close, uv.walk, uv.new_async, uv.loop_mode
  -- An active handle: luv serves `unref`ed handles only beside a referenced one.
  local keeper
  local is_closed, is_stopped = false, false

  local function is_alive() return not is_closed and not is_stopped and loop_alive() end

  local function has_handles()
    local found = false
    walk(function(handle)
      if handle ~= keeper and handle:is_active() and not handle:is_closing() then found = true end
    end)
    return found
  end

  local function keep(body, ...)
    if not keeper or keeper:is_closing() then keeper = assert(new_async(function() end)) end
    keeper:ref()
    local result = body(...)
    if not keeper:is_closing() then keeper:unref() end
    return result
  end

  local functions = { alive = is_alive, fd = uv.backend_fd(), update_time = uv.update_time }

  -- Returns whether there was something to do. If not, all requested work has begun.
  local function iterate()
    local is_due, calls = backend_timeout() == 0, count_calls()
    run("nowait")
    return is_due or count_calls() ~= calls
  end

  -- Set if only `unref`ed handles are left while the host's loop goes on.
  local is_kept = false

  -- Also serves `unref`ed handles if the host needs them.
  function functions.iterate(is_needed)
    is_kept = false
    if is_closed or is_stopped then return false end
    if loop_alive() then return iterate() end
    if not is_needed or not has_handles() then return false end
    is_kept = true
    return keep(iterate)
  end

  -- Milliseconds until the next timer; -1 without a timer.
  function functions.timeout()
    if is_closed or is_stopped then return -1 end
    return is_kept and keep(backend_timeout) or loop_alive() and backend_timeout() or -1
  end

  local function close(handle)
    if not handle:is_closing() then handle:close() end
  end

  -- Closes all handles, and serves luv until they are closed and its threads have finished their
  -- work. This work cannot be cancelled, and unfinished work would use the state after it was
  -- freed. Luv itself would wait as long. No callback is called, so nothing new begins.
  function functions.finish()
    if is_closed then return end
    walk(close)
    while loop_alive() do
      silence(true)
      pcall(run, "once")
      silence(false)
    end
  end

  join_host(functions, run)

  -- The mode of the `uv.run` that is under way.
  local mode_of_run

  -- Nil outside callbacks of luv. Without `uv.run`, the host serves luv in the default mode.
  if loop_mode then
    function uv.loop_mode() return loop_mode() and (mode_of_run or "default") end
  end

  function uv.run(mode)
    local wanted = mode or "default"
    if wanted ~= "default" and wanted ~= "once" and wanted ~= "nowait" then
      bad_argument(1, "run", "'default', 'once' or 'nowait' expected, got "
        .. (type(mode) == "string" and "'" .. mode .. "'" or type(mode)))
    end
    is_stopped = false
    local outer = mode_of_run
    local run_end <close> = setmetatable({}, { __close = function() mode_of_run = outer end })
    mode_of_run = wanted
    run_host(wanted)
    local goes_on = not is_closed and loop_alive()
    is_stopped = false
    return goes_on
  end

  function uv.stop()
    is_stopped = true
    wake_host()
  end

  function uv.loop_close()
    local results = pack(loop_close())
    if results[1] then
      is_closed = true
      leave_host()
    end
    return unpack(results, 1, results.n)
  end
end

return obs
