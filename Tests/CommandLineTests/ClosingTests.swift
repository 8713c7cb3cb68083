import Testing

/// L8: finalizers during the closing of a state.
struct ClosingTests {
  /// Finalizers call each function of the module, with arguments of several kinds.
  ///
  /// `early` finalizers are older than the module, and run after all objects of the module.
  private static let script = """
    local mode, finalizers, kept = arg[1], {}, {}
    function KEEP() return kept end
    local function at_close(f) kept[#kept + 1] = setmetatable({}, { __gc = f }) end
    if mode == "early" then
      for i = 1, 1000 do at_close(function() if finalizers[i] then finalizers[i]() end end) end
    end
    local obs = require "obs"
    local shared = { a = 1, list = { 1, 2 } }
    obs.computed(shared, "declared", { "a" }, function(self) return self.a end)
    obs.computed(shared, "tracked", function(self) return self.a end)
    obs.copy_of(shared, "copy", "list")
    local watcher = obs.observe(shared, { "a", "declared", "list.@count", "*" }, function() end)
    local array, set = obs.array { 1, 2 }, obs.set_of { 1 }
    obs.observe(array, "*", function() end)
    local Model = obs.model("Model", { a = 1, \
    b = obs.computed({ "a" }, function(self) return self.a end) })
    local model = Model {}
    obs.observe(model, "b", function() end)
    local calls = {
      function(f) f() end, function(f) f({}, "a", print) end,
      function(f) f(shared, "a", function() end) end, function(f) f(shared) end,
      function(f) f({}, "x", { "a" }, function() return 1 end) end, \
      function(f) f(function() end) end,
      function(f) f("M", { a = 1 }) end, function(f) f({ a = 1 }, "copy", "a") end,
    }
    for name, f in pairs(obs) do
      for _, call in ipairs(type(f) == "function" and calls or {}) do
        finalizers[#finalizers + 1] = function()
          local ok, message = pcall(call, f)
          if not ok and type(message) ~= "string" then os.exit(9) end
        end
      end
    end
    finalizers[#finalizers + 1] = function()
      pcall(function()
        watcher:run()
        array:append(1)
        set:add(2)
        shared.a, shared.list[3], model.a = 2, 1, 5
        local _ = shared.declared, shared.tracked, shared.copy, model.b
        watcher:stop()
      end)
    end
    if mode ~= "early" then for _, f in ipairs(finalizers) do at_close(f) end end
    if mode == "error" then error("the script fails", 0) end
    """

  @Test(arguments: [("late", Int32(0)), ("early", 0), ("error", 1)])
  func `finalizers may call any function of the module`(mode: String, status: Int32) throws {
    let outcome = try Command(
      "cat >f <<'END'\n\(Self.script)\nEND\n$L --virtual-time f \(mode)"
    ).run()
    #expect(outcome.status == status)
    #expect(outcome.errors.hasPrefix(mode == "error" ? "./lua: the script fails\n" : ""))
    #expect(mode == "error" || outcome.errors == "")
  }
}
