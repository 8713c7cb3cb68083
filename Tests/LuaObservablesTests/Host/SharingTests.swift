import Lua
import LuaObservables
import Observables
import Testing

/// B4: several hosts on one loop that share one model.
struct SharingTests {
  private let loop = Loop(clock: .virtual)
  private let creature = Creature(name: "Ada")
  private let hosts: [TestHost]

  init() throws {
    let loop = loop
    hosts = try (0..<3).map { _ in try TestHost { _ in try LuaHost(loop: loop) } }
    for (index, test) in hosts.enumerated() {
      test.host["creature"] = creature
      test.host["index"] = .integer(Int64(index))
      try test.host.run("obs, log = require 'obs', {}")
    }
  }

  private func observe() throws {
    for test in hosts {
      try test.host.run(
        "obs.observe(creature, 'name', function(c) log[#log + 1] = index .. c.name end)")
    }
  }

  // T1
  @Test func `each host receives each write once per turn, whoever made it`() throws {
    try observe()
    try hosts[0].host.run("creature.name = 'Bea'; creature.name = 'Cid'")
    loop.turn { creature.name = "Dee" }
    for (index, test) in hosts.enumerated() {
      #expect(try test.log() == ["\(index)Cid", "\(index)Dee"])
    }
  }

  // T3
  @Test func `the earliest registered watcher is called first, whatever its host`() throws {
    var order: [Int] = []
    for (index, test) in hosts.enumerated() {
      try test.host.set("note") { () in order.append(index) }
    }
    for index in [2, 0, 1, 2] {
      try hosts[index].host.run("obs.observe(creature, 'age', function() note() end)")
    }
    loop.turn { creature.age = 1 }
    #expect(order == [2, 0, 1, 2])
  }

  // T10
  @Test func `an error of one host is reported only there`() throws {
    try hosts[1].host.run("obs.observe(creature, 'name', function() error 'bad script' end)")
    try observe()
    loop.turn { creature.name = "Bea" }
    #expect(hosts.map(\.reports.count) == [0, 1, 0])
    #expect(try hosts[2].log() == ["2Bea"])
  }

  @Test func `hosts come and go, and the others keep their watchers`() throws {
    try observe()
    hosts[1].host.close()
    loop.turn { creature.name = "Bea" }
    let late = try TestHost { [loop] _ in try LuaHost(loop: loop) }
    late.host["creature"] = creature
    try late.host.run(
      "log = {} require('obs').observe(creature, 'name', function(c) log[1] = c.name end)")
    try hosts[0].host.run("creature.name = 'Cid'")
    #expect(try hosts[0].log() == ["0Bea", "0Cid"] && hosts[2].log() == ["2Bea", "2Cid"])
    #expect(try late.log() == ["Cid"])
  }

  @Test func `a script of one host stops only its own watchers`() throws {
    try observe()
    #expect(try hosts[0].host.run("return obs.stop(creature)") == [1])
    loop.turn { creature.name = "Bea" }
    #expect(try hosts[0].log() == [] && hosts[1].log() == ["1Bea"])
  }

  // T1
  @Test func `a frame loop steps one host, and thereby its whole loop`() throws {
    try observe()
    for test in hosts { try test.host.run("obs.every(1, function() log[#log + 1] = 'tick' end)") }
    var frames = 0
    while frames < 3 {
      frames += 1
      creature.name = "frame \(frames)"
      _ = hosts[0].host.step()
    }
    for (index, test) in hosts.enumerated() {
      #expect(try test.log() == (1...3).map { "\(index)frame \($0)" })
    }
    loop.advance(by: 1)
    #expect(try hosts[2].log().last == "tick")
  }
}
