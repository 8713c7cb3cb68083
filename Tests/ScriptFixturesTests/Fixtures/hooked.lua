-- Blocks with hooks, skipped cases and spies, in the words of busted.
describe("a block", function()
  local list
  before_each(function() list = { 1 } end)
  it("has a new list", function() assert.are.same({ 1 }, list) end)
  it("spies", function()
    local s = spy(table, "insert")
    table.insert(list, 2)
    expect_equal(s.calls, { { { 1, 2 }, 2 } })
  end)
  pending("is skipped", function() error "never" end)
end)

expect(not spy.is_spy(table.insert), "the spy is gone")
