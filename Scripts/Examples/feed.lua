-- A server that gives each new client the state, and then every change, as lines of JSON.
--
-- This program starts itself again as two clients: obs-lua feed.lua client PORT

local obs, uv, cjson = require "obs", require "luv", require "cjson"
local obsio = require "obs.io"

-- Calls `receive` with each line that arrives, and `finish` at the end.
local function read_lines(socket, receive, finish)
  local rest = ""
  socket:read_start(function(_, text)
    if not text then return finish() end
    rest = (rest .. text):gsub("(.-)\n", function(line)
      receive(line)
      return ""
    end)
  end)
end

-- The client -------------------------------------------------------------------------------------

local function follow(port)
  local socket, market = uv.new_tcp(), nil
  local function show(what)
    print(("  %s: %d clients, tea %d, %s"):format(what, market.clients, market.prices.tea,
      market.is_open and "open" or "closed"))
  end
  socket:connect("127.0.0.1", port, function(failure)
    assert(not failure, failure)
    read_lines(socket, function(line)
      if not market then
        market = cjson.decode(line)
        show "state"
      else
        local changes = cjson.decode(line)
        obs.apply(market, changes)
        show(#changes .. " changes")
      end
    end, function() socket:close() end)
  end)
end

-- The server -------------------------------------------------------------------------------------

-- Returns the port, and a function that ends the server.
local function serve(market)
  local server, sockets = uv.new_tcp(), {}
  local watcher = obs.changes(market, function(_, changes)
    local line = cjson.encode(changes) .. "\n"
    for socket in pairs(sockets) do socket:write(line) end
  end)
  assert(server:bind("127.0.0.1", 0))  -- The system chooses a free port.
  assert(server:listen(16, function(failure)
    assert(not failure, failure)
    local socket = uv.new_tcp()
    assert(server:accept(socket))
    -- This write is delivered after the snapshot, which does not contain it yet.
    market.clients = market.clients + 1
    socket:write(cjson.encode(watcher:snapshot()) .. "\n")
    sockets[socket] = true
    read_lines(socket, function() end, function()
      sockets[socket] = nil
      market.clients = market.clients - 1
      socket:close()
    end)
  end))
  return server:getsockname().port, function()
    server:close()
    for socket in pairs(sockets) do socket:shutdown() end
  end
end

if arg[1] == "client" then return follow(tonumber(arg[2])) end

local market = { clients = 0, prices = { tea = 4 }, is_open = true }
local port, close = serve(market)

local function client()
  return obs.task(obsio.run, { arg[-1], arg[0], "client", tostring(port) })
end

obs.task(function()
  local first = client()
  obs.next_change(market, "clients")
  market.prices.tea = 5
  local second = client()
  obs.next_change(market, "clients")
  market.prices.tea = 6
  market.is_open = false
  obs.sleep(0)
  close()
  for i, task in ipairs { first, second } do
    local _, output = task:await()
    io.write("client ", i, "\n", output)
  end
end)
