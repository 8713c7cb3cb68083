local socket, show = require "socket", require "show"
local ltn12, mime, url = require "ltn12", require "mime", require "socket.url"

local server = assert(socket.bind("127.0.0.1", 0))
local _, port = server:getsockname()
local client = assert(socket.connect("127.0.0.1", port))
local peer = assert(server:accept())
local readable, writable, problem = socket.select(O { server }, O { client }, 0)
show("select", #readable, #writable, writable[1] == client, problem)
client:send("a line\nrest")
readable = socket.select(O { peer, server }, nil, 5)
show("readable", #readable, readable[1] == peer, readable[peer] ~= nil, readable[server] == nil)
show("received", peer:receive("*l"))
client:close()
show("rest", peer:receive("*a"))
show("nothing", #socket.select(O {}, O {}, 0))
peer:close()
server:close()

local parts = O {}
local source = ltn12.source.chain(ltn12.source.string("some text"), mime.encode("base64"))
ltn12.pump.all(source, (ltn12.sink.table(parts)))
show("pumped", table.concat(parts), parts)
show("url", url.parse("http://user@host:80/a/b?c=d#e", O { scheme = "none" }))
show("built", url.build(O { scheme = "http", host = "host", path = "/x" }))
show("path", url.build_path(O { "a", "b c", is_absolute = 1 }))
show("protected", pcall(socket.protect(function() socket.try(nil, O { "why" }) end)))
show("family", socket.dns.toip("127.0.0.1"))
