-- A stack with a listener, the object under test.
local Stack = {}
Stack.__index = Stack

local function new_stack(listener)
  return setmetatable({ listener = listener, count = 0 }, Stack)
end

function Stack:push(value)
  if value == nil then error "nothing to push" end
  self.count = self.count + 1
  self[self.count] = value
  self:changed("push", value)
end

function Stack:pop()
  if self.count == 0 then return nil, "empty" end
  local value = self[self.count]
  self[self.count], self.count = nil, self.count - 1
  self:changed("pop", value)
  return value
end

function Stack:changed(what, value)
  if self.listener then self.listener.on_change(what, value) end
end

local order = {}

describe("a stack", function()
  local stack

  it("is made before each case, also by hooks declared later", function()
    assert.is_table(stack)
    assert.are.equal(0, stack.count)
  end)

  setup(function() order[#order + 1] = "setup" end)
  teardown(function() order[#order + 1] = "teardown" end)

  before_each(function() stack = new_stack() end)
  after_each(function() stack = nil end)

  describe("without values", function()
    it("pops nothing", function()
      local value, reason = stack:pop()
      assert.is_nil(value)
      assert.are.same("empty", reason)
    end)

    it("has no count #fast", function() assert.equals(0, stack.count) end)

    it("refuses nil", function()
      assert.has_error(function() stack:push(nil) end, "nothing to push")
      assert.has.errors(function() stack:push() end)
      assert.error_matches(function() stack:push() end, "nothing .* push")
    end)

    it("accepts false", function()
      assert.has_no.errors(function() stack:push(false) end)
      assert.is_false(stack:pop())
    end)
  end)

  describe("with values", function()
    before_each(function()
      stack:push "a"
      stack:push { 1, 2 }
    end)

    it("counts them #fast", function() assert.is.equal(2, stack.count) end)

    it("pops the last first", function()
      assert.are.same({ 1, 2 }, stack:pop())
      assert.are.equal("a", stack:pop())
      assert.is_nil((stack:pop()))
    end)

    it("compares deeply, but tables are not equal", function()
      assert.are_not.equal({ 1, 2 }, stack:pop())
      assert.is_not.same({ 1, 3 }, stack)
    end)

    it("keeps the case apart from others", function() assert.equal(2, stack.count) end)

    describe("and one more", function()
      before_each(function() stack:push(3.14) end)

      it("runs the outer hooks first", function() assert.are.equal(3, stack.count) end)
      it("keeps the number", function() assert.is.near(3.1, stack:pop(), 0.1) end)
      it("has a text at the bottom", function()
        assert.is_string(stack[1])
        assert.is_not_nil(stack[1])
      end)
    end)
  end)
end)

describe("spies", function()
  local listener, stack

  before_each(function()
    listener = { on_change = function(what) return what .. "ed" end }
    stack = new_stack(listener)
  end)

  it("see the calls of a method", function()
    local s = spy.on(listener, "on_change")
    stack:push(1)
    stack:push(2)
    assert.spy(s).was.called(2)
    assert.spy(s).was.called_with("push", 1)
    assert.spy(s).was_not.called_with("pop", 1)
    assert.spy(s).was_called_with("push", 2)
  end)

  it("call through", function()
    spy.on(listener, "on_change")
    assert.are.equal("pushed", listener.on_change "push")
    assert.spy(listener.on_change).was.returned_with "pushed"
  end)

  it("can be restored", function()
    local original = listener.on_change
    local s = spy.on(listener, "on_change")
    assert.are_not.equal(original, listener.on_change)
    s:revert()
    assert.are.equal(original, listener.on_change)
  end)

  it("forget the calls", function()
    local s = spy.new(function() end)
    s(1)
    s:clear()
    assert.spy(s).was_not.called()
  end)

  it("keep the arguments", function()
    local s = spy.new(function() end)
    s("a", nil, 3)
    assert.are.equal("a", s.calls[1].vals[1])
    assert.are.equal(3, s.calls[1].vals.n or #s.calls[1].vals)
  end)

  it("match arguments", function()
    local s = spy.new(function() end)
    s("push", { 7 })
    assert.spy(s).was.called_with("push", match.is_table())
    assert.spy(s).was.called_with(match._, { 7 })
    assert.spy(s).was_not.called_with(match.is_number(), match._)
  end)

  it("can be stubs", function()
    stub(listener, "on_change").returns(7)
    assert.are.equal(7, listener.on_change())
    assert.stub(listener.on_change).was.called(1)
  end)

  it("can be stubs with results", function()
    local s = stub(listener, "on_change", 1, 2)
    assert.are.same({ 1, 2 }, { s() })
  end)

  it("can be a whole mock", function()
    local m = mock({ a = function() return 1 end }, true)
    assert.is_nil(m.a())
    assert.spy(m.a).was.called()
  end)
end)

describe("a stubbed library", function()
  setup(function() stub(os, "getenv", "stubbed") end)
  it("is stubbed for one case", function() assert.are.equal("stubbed", os.getenv "HOME") end)
  it("and for the next", function() assert.is_true(os.getenv "X" == "stubbed") end)
end)

describe("a report", function()
  it("comes after the block", function()
    assert.are.same({ "setup", "teardown" }, order)
  end)

  pending("is written later", function() assert.is_true(false) end)

  it("waits for a printer", function() pending "there is no printer" end)

  it("cleans up", function()
    local name = "cleaned"
    finally(function() order.name = name end)
    assert.is_nil(order.name)
  end)

  it("has cleaned up #slow", function() assert.truthy(order.name) end)

  context("in a context", function()
    test("uses other words", function() assert.message("all fits").is_truthy(#order) end)
    spec("has types", function()
      assert.is_function(print)
      assert.is_boolean(not order)
      assert.is.number(#order)
      assert.is_falsy(nil)
      assert.matches("^a", "abc")
      assert.has_no_error(function() end)
    end)
  end)
end)
