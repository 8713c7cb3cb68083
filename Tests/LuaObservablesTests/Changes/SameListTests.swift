import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// X2: a tree of Swift objects has one list of changes, for Swift and for scripts.
@Suite struct `Changes of one tree on both sides` {
  private let loop = Loop(clock: .virtual)
  private let root = Crate("root")

  @Test(arguments: 1...150)
  func `are the same list`(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let host = try LuaHost(loop: loop)
    host.onError = { Issue.record("\($0)") }
    try host.set("root", to: root)
    try host.run("require 'obs'.changes(root, function(_, changes) list = changes end)")
    var list: [DeepChange] = []
    try root.changes(in: loop) { list = $1 }
    var crates = [root]
    func write() {
      let (one, other) = (
        crates.randomElement(using: &random)!, crates.randomElement(using: &random)!
      )
      let count = one.crates.count
      switch Int.random(in: 0..<12, using: &random) {
      case 0: one.name = ["a", "b", "c"].randomElement(using: &random)!
      case 1: one.first = Bool.random(using: &random) ? other : nil
      case 2: one.second = Bool.random(using: &random) ? other : nil
      case 3: (one.first, one.second) = (one.second, one.first)
      case 4:
        crates.append(Crate("new"))
        one.crates.insert(crates.last!, at: Int.random(in: 0...count, using: &random))
      case 5: one.crates.insert(other, at: Int.random(in: 0...count, using: &random))
      case 6 where count > 0: one.crates.remove(at: Int.random(in: 0..<count, using: &random))
      case 7 where count > 0: one.crates[Int.random(in: 0..<count, using: &random)] = other
      case 8 where count > 1:
        one.crates.move(from: 0, to: Int.random(in: 0..<count, using: &random))
      case 9: one.byName[["x", "y"].randomElement(using: &random)!] = other
      case 10: one.byName[["x", "y"].randomElement(using: &random)!] = nil
      default: if one.tags.contains("t") { one.tags.remove("t") } else { one.tags.insert("t") }
      }
    }
    for turn in 1...12 {
      list = []
      try host.run("list = {}")
      for _ in 0..<Int.random(in: 1..<5, using: &random) { write() }
      loop.flush()
      let scripts: [DeepChange] = try host["list"].decode()
      #expect(scripts == list, "seed \(seed), turn \(turn)")
      if scripts != list { return }
    }
  }
}

/// An object of a tree with sharing and cycles.
private final class Crate: ObservableModel {
  static let properties = ModelProperties(for: Crate.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("first", get: { $0.first }, set: { $0.first = $1 })
    Property("second", get: { $0.second }, set: { $0.second = $1 })
    Property("crates", get: { $0.crates })
    Property("byName", get: { $0.byName })
    Property("tags", get: { $0.tags })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var first: Crate? { didSet { observation.didSet(1, from: oldValue, to: first) } }
  var second: Crate? { didSet { observation.didSet(2, from: oldValue, to: second) } }
  let crates = ObservableArray<Crate>()
  let byName = ObservableDictionary<String, Crate>()
  let tags = ObservableSet<String>()

  init(_ name: String) { self.name = name }
}
