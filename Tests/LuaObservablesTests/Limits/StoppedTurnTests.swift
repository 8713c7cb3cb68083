import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S8: `ScriptLimits.undoStoppedTurns`.
@Suite struct StoppedTurnTests {
  /// A host whose scripts exceed a limit by starting a second timer.
  private func counted(
    on roots: [any ObservableReference] = []
  ) throws -> ContainedHost {
    let test = try ContainedHost {
      $0.turnTime = nil
      $0.timers = 1
      $0.undoStoppedTurns = roots
    }
    try test.host.run(
      """
      obs = require 'obs'
      function meet_limit() obs.after(1, print) obs.after(1, print) end
      """)
    return test
  }

  @Test func `a turn whose script exceeds a limit leaves the roots unchanged`() throws {
    let pet = Pet("Rex", toys: ["ball"])
    let test = try counted(on: [pet])
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      calls, others, other = 0, 0, { n = 1 }
      obs.observe(pet, { 'name', 'toys.*' }, function() calls = calls + 1 end)
      obs.observe(other, 'n', function() others = others + 1 end)
      """)
    let error = test.failure(
      "pet.name = 'Tim' pet.toys:insert(1, 'bone') other.n = 2 meet_limit()")
    #expect(error?.code == .quota)
    #expect(pet.name == "Rex" && Array(pet.toys) == ["ball"])
    #expect(test.host["calls"] == 0)
    #expect(test.host["others"] == 1)
    // The next turn is an ordinary one, and another turn can be undone.
    try test.host.run("pet.name = 'Tim'")
    #expect(pet.name == "Tim")
    #expect(test.host["calls"] == 1)
    _ = test.failure("pet.name = 'Tom' meet_limit()")
    #expect(pet.name == "Tim")
    #expect(test.host["calls"] == 1)
  }

  @Test(.enabled(if: !ContainedHost.delaysSignals))
  func `a turn that takes too long is undone, with Swift's writes in it`() throws {
    let pet = Pet("Rex")
    let test = try ContainedHost {
      $0.turnTime = .milliseconds(200)
      $0.undoStoppedTurns = [pet]
    }
    try test.host.set("pet", to: pet)
    test.loop.turn {
      pet.name = "Tim"
      #expect(test.failure("pet.mate = pet while true do end")?.code == .timeLimit)
      // The stop of the script counts as the end of the turn: later writes stay.
      #expect(pet.name == "Rex" && pet.mate == nil)
      pet.toys.append("bone")
    }
    #expect(pet.name == "Rex" && Array(pet.toys) == ["bone"])
    // A turn without scripts is not undone.
    test.loop.turn { pet.name = "Tim" }
    #expect(pet.name == "Tim")
  }

  @Test func `a turn that needs too much memory is undone`() throws {
    let pet = Pet("Rex")
    let test = try ContainedHost {
      $0.turnTime = nil
      $0.memory = 4 << 20
      $0.undoStoppedTurns = [pet]
    }
    try test.host.set("pet", to: pet)
    let error = test.failure(
      "pet.name = 'Tim' local all = {} for i = 1, 1e6 do all[i] = { i } end")
    #expect(error?.code == .memory)
    #expect(pet.name == "Rex")
  }

  @Test func `only watchers that were called are called again when the turn is undone`() throws {
    let pet = Pet("Rex")
    let test = try counted(on: [pet])
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      names, late = {}, 0
      obs.observe(pet, 'name', function(pet) names[#names + 1] = pet.name end)
      obs.observe(pet, 'name', function(pet)
        if pet.name ~= 'Tim' then return end
        pet.mate = pet
        meet_limit()
      end)
      obs.observe(pet, 'mate', function() late = late + 1 end)
      """)
    test.loop.turn { pet.name = "Tim" }
    #expect(test.codes == [.quota])
    #expect(pet.name == "Rex" && pet.mate == nil)
    try test.host.run("text = table.concat(names, ' ')")
    #expect(test.host["text"] == "Tim Rex")
    let late: Int = try #require(test.host["late"])
    #expect(late == 0 || late == 2, "Both ways or none")
  }

  @Test(arguments: ["other.n = 2 pet.name = 'Tim'", "pet.name = 'Tim' other.n = 2"])
  func `a watcher that other writes made due, too, is called when the turn is undone`(
    writes: String
  ) throws {
    let pet = Pet("Rex")
    let test = try counted(on: [pet])
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      names, other = {}, { n = 1, pet = pet }
      obs.observe(other, { 'n', 'pet.name' }, function(other)
        names[#names + 1] = other.pet.name
      end)
      """)
    let error = test.failure("\(writes) obs.flush() meet_limit()")
    #expect(error?.code == .quota)
    #expect(pet.name == "Rex")
    try test.host.run("text = table.concat(names, ' ')")
    #expect(test.host["text"] == "Tim Rex")
  }

  @Test func `a watcher that was called before ignores writes it has not seen`() throws {
    let pet = Pet("Rex")
    let test = try counted(on: [pet])
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      calls, other = 0, { n = 1, pet = pet }
      obs.observe(other, { 'n', 'pet.name' }, function() calls = calls + 1 end)
      """)
    _ = test.failure("other.n = 2 obs.flush() pet.name = 'Tim' meet_limit()")
    #expect(pet.name == "Rex")
    #expect(test.host["calls"] == 1)
  }

  @Test(.enabled(if: !ContainedHost.delaysSignals))
  func `Swift's writes after the stop of scripts are undone, too`() throws {
    let pet = Pet("Rex")
    let test = try ContainedHost {
      $0.turnTime = .milliseconds(200)
      $0.undoStoppedTurns = [pet]
    }
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      require('obs').observe(pet, 'name', function(pet)
        if pet.name ~= 'Tim' then return end
        pet.mate = pet
        while true do end
      end)
      """)
    var names: [String] = []
    try pet.observe("mate", in: test.loop) { [weak pet] _ in
      names.append(pet?.mate?.name ?? "none")
      if pet?.mate != nil { pet?.toys.append("bone") }
    }
    test.loop.turn { pet.name = "Tim" }
    #expect(test.codes == [.timeLimit])
    #expect(pet.name == "Rex" && pet.mate == nil && pet.toys.first == nil)
    #expect(names == ["Tim", "none"])
    test.loop.turn { pet.toys.append("ball") }
    #expect(Array(pet.toys) == ["ball"])
  }

  @Test func `a watcher that always exceeds its limit does not prolong the turn`() throws {
    let pet = Pet("Rex")
    let test = try counted(on: [pet])
    try test.host.set("pet", to: pet)
    try test.host.run(
      """
      obs.observe(pet, 'name', function(pet)
        if pet.name == 'Tom' then return end
        pet.name = 'Tom'
        meet_limit()
      end)
      """)
    test.loop.turn { pet.name = "Tim" }
    #expect(pet.name == "Rex")
    #expect(test.codes.allSatisfy { $0 == .quota } && 1...10 ~= test.codes.count)
  }

  @Test func `tables of scripts can be roots, and objects added below them are covered`() throws {
    let test = try counted()
    try test.host.run("t = { list = {}, n = 1 } guest = { n = 1 }")
    guard case .table(let table) = test.host["t"] else {
      Issue.record("t is no table")
      return
    }
    try test.host.undoStoppedTurns(on: [table])
    _ = test.failure(
      """
      t.n, t.new, t.guest = 2, true, guest
      guest.n = 2
      local a, b = { x = 1 }, { x = 1 }
      table.insert(t.list, a)
      a.x = 2
      meet_limit()
      """)
    try test.host.run("text = ('%d %s %s %d %d'):format(t.n, t.new, t.guest, guest.n, #t.list)")
    #expect(test.host["text"] == "1 nil nil 1 0")
    // In later turns the added object is covered, the removed one is not.
    try test.host.run("t.guest, gone = guest, t.list t.list = nil")
    _ = test.failure("guest.n, gone.n = 5, 5 meet_limit()")
    try test.host.run("text = ('%d %d'):format(guest.n, gone.n)")
    #expect(test.host["text"] == "1 5")
    // Scripts do not see the watchers that record the writes.
    try test.host.run("count = obs.observer_count(t, '*') + obs.observer_count(guest, '*')")
    #expect(test.host["count"] == 0)
    try test.host.undoStoppedTurns(on: [])
    _ = test.failure("t.n = 7 meet_limit()")
    try test.host.run("n = t.n")
    #expect(test.host["n"] == 7)
  }

  @Test func `assigned values of computed properties are restored`() throws {
    let test = try counted()
    try test.host.run(
      """
      t = { n = 1 }
      for _, name in ipairs { 'a', 'b' } do
        obs.computed(t, name, { 'n' }, function(self) return self.n * 10 end)
      end
      assert(t.a == 10 and t.b == 10)
      """)
    guard case .table(let table) = test.host["t"] else {
      Issue.record("t is no table")
      return
    }
    try test.host.undoStoppedTurns(on: [table])
    try test.host.run("t.a = 7")
    _ = test.failure("t.b = 8 meet_limit()")
    try test.host.run("text = t.a .. ' ' .. t.b")
    #expect(test.host["text"] == "7 10")
  }

  @Test func `each sandbox has its own roots, or the host's`() throws {
    let (mine, hosts) = (Pet("mine"), Pet("host's"))
    let test = try counted(on: [hosts])
    var limits = ScriptLimits()
    limits.timers = 1
    limits.undoStoppedTurns = [mine]
    let plugins = [
      try test.host.sandbox(named: "own", limits: limits), try test.host.sandbox(named: "shared"),
    ]
    for plugin in plugins {
      try plugin.set("mine", to: mine)
      try plugin.set("hosts", to: hosts)
    }
    func fail(_ plugin: LuaSandbox) {
      #expect(throws: LuaError.self) {
        try plugin.run(
          """
          local obs = require 'obs'
          mine.name, hosts.name = 'new', 'new'
          obs.after(1, print) obs.after(1, print)
          """)
      }
    }
    fail(plugins[0])
    #expect(mine.name == "mine" && hosts.name == "new")
    hosts.name = "host's"
    fail(plugins[1])
    #expect(mine.name == "new" && hosts.name == "host's")
    // A closed sandbox removes its own roots, but not roots that the others need.
    plugins[0].close()
    plugins[1].close()
    _ = test.failure("meet_limit()")
    try test.host.set("hosts", to: hosts)
    _ = test.failure("hosts.name = 'new' meet_limit()")
    #expect(hosts.name == "host's")
  }

  @Test func `quotas of scripts exclude the watchers that cover the roots`() throws {
    let pets = ObservableArray((1...50).map { Pet("\($0)") })
    let test = try ContainedHost {
      $0.turnTime = nil
      $0.watchers = 1
      $0.undoStoppedTurns = [pets]
    }
    try test.host.set("pets", to: pets)
    try test.host.run("obs = require 'obs' obs.observe(pets, 'count', print)")
    let error = test.failure("pets:remove(1) obs.observe(pets, 'count', print)")
    #expect(error?.code == .quota)
    #expect(pets.count == 50)
  }

  @Test func `a property without a setter is an error at the start`() throws {
    var limits = ScriptLimits()
    limits.undoStoppedTurns = [Fixed()]
    let error = #expect(throws: LuaError.self) {
      try LuaHost(loop: Loop(clock: .virtual), limits: limits)
    }
    #expect(error?.message.contains("'legs' of Fixed: it has no setter") == true)
  }

  @Test func `nothing of a closed host is kept alive`() throws {
    weak var dropped: Pet?
    let loop = Loop(clock: .virtual)
    do {
      let pet = Pet("Rex")
      dropped = pet
      var limits = ScriptLimits()
      limits.undoStoppedTurns = [pet]
      let host = try LuaHost(loop: loop, limits: limits)
      try host.set("pet", to: pet)
      try host.run("pet.name = 'Tim'")
      host.close()
      loop.turn { pet.name = "Tom" }
    }
    loop.turn {}
    #expect(dropped == nil)
    #expect(loop.statistics.watchers == 0)
  }

  @Test func `limits with the same roots are equal`() {
    let (pet, other) = (Pet("a"), Pet("a"))
    func limits(_ root: Pet?) -> ScriptLimits {
      var limits = ScriptLimits()
      limits.undoStoppedTurns = root.map { [$0] } ?? []
      return limits
    }
    #expect(limits(pet) == limits(pet) && limits(pet).hashValue == limits(pet).hashValue)
    #expect(limits(pet) != limits(other) && limits(pet) != limits(nil))
  }

  @Test func `random turns leave the state before or after them`() throws {
    let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Scripts/Model/Trees/objects.lua").path
    var limits = ScriptLimits()
    limits.timers = 1
    let count = ProcessInfo.processInfo.environment["OBS_LIGHT"] == nil ? 60 : 6
    for seed in 1...count {
      let host = try LuaHost(loop: Loop(clock: .virtual), limits: limits)
      host.onError = { Issue.record("seed \(seed): \($0)") }
      try host.set("seed", to: seed)
      try host.set("path", to: scripts)
      try host.run(
        """
        obs = require 'obs'
        Objects = dofile(path)
        contents = Objects.contents
        world = Objects.new(false, {}, Objects.COMMON)
        writes = 0
        function write(count)
          writes = writes + 1
          local program = Objects.program(seed * 100 + writes, count)
          for _, step in ipairs(program) do world:write(step) end
        end
        write(10)
        root, calls, changes = world.root, 0, 0
        obs.changes(root, function() changes = changes + 1 end)
        function turn(fails)
          before = contents.copy(root)
          write(8)
          after = contents.copy(root)
          calls = changes
          if fails then obs.after(1, print) obs.after(1, print) end
        end
        """)
      guard case .table(let root) = host["root"] else {
        Issue.record("the root is no table")
        return
      }
      try host.undoStoppedTurns(on: [root])
      for turn in 1...12 {
        let fails = (seed &* 31 &+ turn &* turn) % 3 == 0
        #expect((try? host.run("turn(\(fails))")) == nil || !fails)
        try host.run("wrong = contents.difference(root, \(fails ? "before" : "after"))")
        #expect(host["wrong"] == LuaValue.nil, "seed \(seed), turn \(turn)")
        if fails { #expect(host["calls"] == host["changes"], "seed \(seed), turn \(turn)") }
      }
      host.close()
    }
  }

  @Test func `a host may be dropped whose sandboxes undo their own turns`() throws {
    let (loop, pet) = (Loop(clock: .virtual), Pet("Rex"))
    weak var dropped: LuaHost?
    do {
      let host = try LuaHost(loop: loop, libraries: .safe)
      var limits = ScriptLimits()
      limits.undoStoppedTurns = [pet]
      _ = try host.sandbox(named: "undone", limits: limits)
      dropped = host
    }
    #expect(dropped == nil)
    loop.turn { pet.name = "Tim" }
    #expect(pet.name == "Tim" && loop.statistics.observedObjects == 0)
  }
}

private final class Pet: ObservableModel {
  static let properties = ModelProperties(for: Pet.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("mate", get: { $0.mate }, set: { $0.mate = $1 })
    Property("toys", get: { $0.toys })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var mate: Pet? { didSet { observation.didSet(1, from: oldValue, to: mate) } }
  let toys: ObservableArray<String>

  init(_ name: String, toys: [String] = []) {
    self.name = name
    self.toys = ObservableArray(toys)
  }
}

private final class Fixed: ObservableModel {
  static let properties = ModelProperties(for: Fixed.self) {
    Property("legs", get: { $0.legs })
  }
  let observation = ModelObservation()
  let legs = 4
}
