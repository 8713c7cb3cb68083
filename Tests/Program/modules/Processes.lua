local uv, show = require "luv", require "show"

local output, status = uv.new_pipe(false), nil
local chunks, environment = {}, O { "GREETING=hello", "PATH=" .. os.getenv("PATH") }
local handle
handle = assert(uv.spawn("/bin/sh", O {
  args = { "-c", "echo $GREETING $0 $1", "one", "two" },
  env = environment,
  stdio = { nil, output },
}, function(code, signal)
  status = { code = code, signal = signal }
  handle:close()
end))
output:read_start(function(problem, data)
  assert(not problem, problem)
  if data then chunks[#chunks + 1] = data else output:close() end
end)
uv.run()
show("process", table.concat(chunks), status)

local file = assert(uv.fs_open(arg[1] .. "/file", "w", 384))
show("written", uv.fs_write(file, O { "several ", "parts ", "at once" }, 0))
uv.fs_close(file)
show("stat", uv.fs_stat(arg[1] .. "/file").size)
show("interfaces", type(uv.interface_addresses()), next(O(uv.os_uname())) ~= nil)

local work = uv.new_work(function(a, b) return a + b end, function(sum) show("work", sum) end)
work:queue(2, 3)
uv.run()

local server, client, received = uv.new_tcp(), uv.new_tcp(), {}
server:bind("127.0.0.1", 0)
server:listen(1, function()
  local peer = uv.new_tcp()
  server:accept(peer)
  peer:read_start(function(_, data)
    if data then received[#received + 1] = data else
      peer:close()
      server:close()
    end
  end)
end)
client:connect("127.0.0.1", server:getsockname().port, function()
  client:write(O { "a", "b", "c" }, function() client:shutdown(function() client:close() end) end)
end)
uv.run()
show("received", table.concat(received))
local hints = O { family = "inet", socktype = "stream" }
show("address", uv.getaddrinfo("127.0.0.1", nil, hints)[1].addr)
