local zlib, show = require "zlib", require "show"

local text = ("some text to be packed "):rep(50)
local packed, ended, read, written = zlib.deflate()(text, "finish")
show("packed", ended, read, written == #packed, #packed < #text)
show("unpacked", zlib.inflate()(packed) == text)
show("checksums", zlib.crc32()(text), zlib.adler32()(text))
local options = O { level = 9, text = text }
show("level", zlib.inflate()(zlib.deflate(options.level)(options.text, "finish")) == text)
show("bad", pcall(zlib.inflate(), "nonsense"))
show("table", pcall(zlib.deflate(), O { "x" }))
