local lxp, show = require "lxp", require "show"
local lom = require "lxp.lom"

local events = {}
local function note(...) events[#events + 1] = { select(2, ...) } end
local callbacks = O {
  StartElement = function(_, name, attributes)
    events[#events + 1] = { "start", name, attributes.id, #attributes }
  end,
  EndElement = note,
  CharacterData = note,
  Comment = note,
}
local parser = lxp.new(callbacks)
assert(parser:parse '<a id="1"><!-- remark --><b>text</b></a>')
assert(parser:parse())
show("events", events)
show("callbacks", parser:getcallbacks() == callbacks)
-- Each call looks up the functions.
events = {}
callbacks.Comment = nil
callbacks.EndElement = function(_, name) events[#events + 1] = { "end", name } end
parser:close()
parser = lxp.new(callbacks)
assert(parser:parse '<a><!-- remark --><b/></a>')
show("changed", events)
parser:close()
show("unknown", pcall(lxp.new, O { Nonsense = note }))
show("tree", O(lom.parse '<list kind="x"><item>1</item><item>2</item></list>'))
