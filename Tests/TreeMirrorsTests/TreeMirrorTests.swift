import Foundation
import Lua
import LuaObservables
import Observables
import TestSupport
import Testing
@testable import TreeMirrors
@testable import mirror_simulation

/// A copy of a document that Swift code writes.
private final class Copy {
  let document = Document()
  let network: SimulatedNetwork
  let mirror: TreeMirror
  private(set) var errors: [String] = []

  init(
    on loop: Loop, through network: SimulatedNetwork, _ options: TreeMirror.Options = .init(),
    with body: (Document) -> Void = { _ in }
  ) throws {
    body(document)
    self.network = network
    var inner = MirrorOptions()
    inner.network = network
    mirror = try TreeMirror(of: document, named: "tree", at: network.url, options, inner, in: loop)
    mirror.onError = { [unowned self] in errors.append("\($0)") }
    mirror.onWarning = { _ in }
  }

  var hasEverything: Bool { mirror.state == .live && mirror.pending == 0 }
}

extension ObjectTree {
  /// Where the tree and its document differ; nil if they don't.
  fileprivate var mismatch: String? {
    for (entry, contents) in follower.all {
      guard let handle = handles[entry] else { return "an object without a name: \(contents)" }
      guard let node = session.document.node(ofHandle: handle), node.isInTree else {
        return "an object that the document does not have: \(contents)"
      }
      func child(_ value: TreeValue?) -> Int? {
        guard case .object(let entry)? = value else { return nil }
        return handles[entry]
      }
      for (index, value) in contents.list.enumerated() {
        if node.list.count != contents.list.count { return "a list of another length" }
        if child(value) != node.list[index].node?.handle { return "another element" }
      }
      for (key, value) in contents.fields {
        guard let stored = node.fields[MirrorKey(key)] else { return "'\(key)' is not stored" }
        if let child = child(value), child != stored.node?.handle { return "another '\(key)'" }
      }
      for key in node.fields.keys where node.kind == .plain {
        if contents.fields[DeepChange.Key(key)] == nil { return "'\(key)' is not there" }
      }
    }
    return nil
  }
}

private func settle(_ copies: [Copy]) throws {
  try copies[0].network.run {
    let version = try copies[0].network.server.version
    return copies.allSatisfy { $0.hasEverything && $0.mirror.version == version }
  }
}

@Suite(.serialized) struct `Mirrors of Swift objects` {
  // A1, A2, A5
  @Test func `objects arrive as objects, and keep their identity`() throws {
    defer { Item.endAll() }
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let one = try Copy(on: loop, through: network) {
      $0.items.append(Item("a", tags: ["x"], parts: [Item("b")]))
    }
    try settle([one])
    let two = try Copy(on: loop, through: network) { $0.items.append(Item("old")) }
    let kept = two.document.items[0]
    try settle([one, two])
    #expect(two.document.dump == one.document.dump)
    #expect(two.document.items[0] === kept)

    var calls = 0
    let watcher = try two.document.changes(in: loop) { _, _ in calls += 1 }
    loop.turn {
      one.document.title = "new"
      one.document.best = one.document.items[0].parts[0]
      one.document.items[0].link = one.document.items[0]
      one.document.items[0].tags.append("y")
      one.document.byName["k"] = Item("c", parts: [Item("d"), one.document.items[0]])
      one.document.numbers.insert(3)
    }
    try settle([one, two])
    #expect(two.document.dump == one.document.dump)
    #expect(two.document.best === two.document.items[0].parts[0])
    #expect(two.document.items[0].link === kept)
    #expect(calls == 1)
    watcher.stop()
    #expect(one.errors + two.errors == [])
    one.mirror.stop()
    two.mirror.stop()
    #expect(one.mirror.state == .stopped)
  }

  // A8, A9
  @Test func `writes that are not allowed are taken back`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let one = try Copy(on: loop, through: network) { $0.items.append(Item("a")) }
    try settle([one])
    var options = TreeMirror.Options()
    options.writes = false
    let two = try Copy(on: loop, through: network, options)
    try settle([one, two])
    loop.turn {
      two.document.title = "mine"
      two.document.items.append(Item("b"))
    }
    #expect(two.document.dump == one.document.dump)
    #expect(two.errors == ["the mirror 'tree' is read-only here; the write was taken back"])
    one.mirror.stop()
    two.mirror.stop()
  }

  // A9, X5
  @Test func `undo leaves what others have written since`() throws {
    defer { Item.endAll() }
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let copies = try (1...2).map { _ in try Copy(on: loop, through: network) }
    let (one, two) = (copies[0].document, copies[1].document)
    try settle(copies)
    let history = try ChangeHistory(of: one, in: loop)
    var misfits: [String] = []
    history.onMisfit = { misfits.append($0) }
    loop.turn {
      one.title = "mine"
      one.count = 5
      one.items.append(Item("mine"))
    }
    try settle(copies)
    loop.turn {
      two.title = "theirs"
      two.items.insert(Item("theirs"), at: 0)
    }
    try settle(copies)
    #expect(history.undo())
    #expect(!history.canUndo)
    try settle(copies)
    #expect(
      misfits == ["another process has written 'title' of Document since, so its value stays"])
    #expect(one.dump == two.dump)
    #expect((one.title, one.count) == ("theirs", 0))
    #expect(one.items.map(\.name) == ["theirs"])
    #expect(history.redo())
    #expect((one.title, one.count) == ("theirs", 5))
    #expect(Set(one.items.map(\.name)) == ["theirs", "mine"])
    for copy in copies { copy.mirror.stop() }
  }

  // A4
  @Test func `what all processes add to a number is added`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let copies = try (1...2).map { _ in try Copy(on: loop, through: network) }
    try settle(copies)
    for _ in 1...20 {
      for copy in copies {
        loop.turn {
          #expect(throws: Never.self) {
            try copy.mirror.add(2, to: "count", of: copy.document)
            try copy.mirror.add(1, to: "count", of: copy.document)
          }
        }
      }
      try network.deliver(way: 0, bytes: .max)
    }
    try settle(copies)
    for copy in copies { #expect(copy.document.count == 120) }
    let error = #expect(throws: MirrorError.self) {
      try copies[0].mirror.add(1, to: "title", of: copies[0].document)
    }
    #expect(error?.description == "'title' of Document is no number")
    for copy in copies { copy.mirror.stop() }
  }

  // A5
  @Test func `a tree with two mirrors passes on what it receives`() throws {
    defer { Item.endAll() }
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let middle = try Copy(on: loop, through: network)
    try settle([middle])
    var inner = MirrorOptions()
    inner.network = network
    func other(_ document: Document) throws -> TreeMirror {
      try TreeMirror(of: document, named: "other", at: network.url, .init(), inner, in: loop)
    }
    let second = try other(middle.document)
    let first = try Copy(on: loop, through: network)
    let last = Document()
    try network.run { second.state == .live }
    let third = try other(last)
    try network.run { third.state == .live && first.hasEverything }
    loop.turn { first.document.items.append(Item("a", parts: [Item("b")])) }
    try network.run { last.items.first?.parts.first?.name == "b" }
    loop.turn { last.items[0].parts[0].name = "c" }
    try network.run { first.document.items[0].parts[0].name == "c" }
    #expect(middle.document.dump == last.dump)
    for mirror in [middle.mirror, first.mirror, second, third] { mirror.stop() }
  }

  // S8
  @Test func `scripts in sandboxes change mirrored objects`() throws {
    defer { Item.endAll() }
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let copies = try (1...2).map { _ in
      try Copy(on: loop, through: network) { $0.items.append(Item("a")) }
    }
    try settle(copies)
    let host = try LuaHost(loop: loop, libraries: .safe)
    let plugin = try host.sandbox(named: "plugin")
    try plugin.set("document", to: copies[0].document)
    try plugin.run(
      """
      local obs = require "obs"
      history = obs.history(document)
      obs.observe(document, "items.*.name", function() calls = (calls or 0) + 1 end)
      document.title, document.items[1].name = "new", "b"
      """)
    try settle(copies)
    #expect(copies[1].document.dump == copies[0].document.dump)
    loop.turn { copies[1].document.items[0].name = "theirs" }
    try settle(copies)
    try plugin.run("history:undo()")
    try settle(copies)
    #expect(copies[1].document.dump == copies[0].document.dump)
    #expect(copies[0].document.items[0].name == "theirs")
    #expect(copies[0].document.title == "")
    #expect(try plugin.run("return calls")[0].description == "2")
    for copy in copies { copy.mirror.stop() }
  }

  // A6, A7
  @Test func `synced waits, and fails when the mirror ends`() async throws {
    let error = await #expect(throws: MirrorError.self) {
      let loop = Loop()
      let one = try Copy(on: loop, through: try SimulatedNetwork(on: loop))
      loop.nextTurn { one.mirror.stop() }
      loop.step()
      try await one.mirror.synced()
    }
    #expect(error?.description == "the mirror was stopped")
  }

  @Test(arguments: [
    ("", "redis://127.0.0.1", "a mirror has a name of 1 to 200 letters"),
    ("a b", "redis://127.0.0.1", "not 'a b'"),
    ("a", "http://127.0.0.1", "'http' is neither redis, rediss nor unix"),
    ("a", "redis://u:secret@h:0", "'redis://u:…@h:0' is no address of a server: a part of it is"),
    ("a", "redis://h:0", "'redis://h:0' is no address of a server: '0' is no port"),
    ("a", "redis://127.0.0.1/x", "'x' is no number of a database"),
    ("a", "rediss://127.0.0.1", "TLS needs hiredis 1.0 or later"),
  ])
  func `bad names and addresses are errors`(name: String, url: String, text: String) throws {
    let loop = Loop()
    let error = #expect(throws: MirrorError.self) {
      try TreeMirror(of: Document(), named: name, at: url, in: loop)
    }
    #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
  }

  // A2
  @Test func `random programs make all copies equal`() throws {
    for seed in Size.seeds(30, light: 10) { try makeRandomProgram(seed) }
  }

  private func makeRandomProgram(_ seed: Int) throws {
    defer { Item.endAll() }
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop, seed: seed)
    var random = SeededGenerator(seed: seed)
    var options = TreeMirror.Options()
    if seed % 2 == 0 { (options.snapshot, options.keep) = (5, 3) }
    var copies = try (1...3).map { _ in try Copy(on: loop, through: network, options) }
    func items(_ document: Document) -> [Item] {
      var found: [Item] = []
      func visit(_ item: Item?) {
        guard let item, !found.contains(where: { $0 === item }) else { return }
        found.append(item)
        visit(item.link)
        for part in item.parts { visit(part) }
      }
      for item in document.items { visit(item) }
      for key in document.byName.keys.sorted() { visit(document.byName[key]) }
      visit(document.best)
      return found
    }
    // An object that no copy has removed from the lists is in them, once (A4).
    var (made, removed): ([String], Set<String>) = ([], [])
    func changeLists(_ document: Document) {
      let lists = [document.left, document.right].shuffled(using: &random)
      let (list, other) = (lists[0], lists[1])
      func index(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      switch list.isEmpty ? 1 : Int.random(in: 1...7, using: &random) {
      case 1:
        made.append("e\(made.count)")
        list.insert(Item(made.last!), at: index(list.count + 1))
      case 2: removed.insert(list.remove(at: index(list.count)).name)
      case 3: list.swapAt(index(list.count), index(list.count))
      case 4: list.sort { $0.name < $1.name }
      case 5: list.replaceSubrange(0..<list.count, with: list.reversed())
      case 6 where !other.isEmpty:
        let (i, j) = (index(list.count), index(other.count))
        let item = list[i]
        list[i] = other[j]
        other[j] = item
      default:
        let item = list.remove(at: index(list.count))
        other.insert(item, at: index(other.count + 1))
      }
    }
    func change(_ document: Document) {
      let all = items(document)
      func item() -> Item {
        if Int.random(in: 1...3, using: &random) == 1, let known = all.randomElement(using: &random)
        {
          return known
        }
        let name = "n\(Int.random(in: 1...9, using: &random))"
        return Bool.random(using: &random)
          ? Item(name, tags: [name]) : Item(name, parts: [Item("p")])
      }
      let list = all.randomElement(using: &random)?.parts ?? document.items
      let array = Bool.random(using: &random) ? document.items : list
      switch Int.random(in: 1...11, using: &random) {
      case 1: document.title = "t\(Int.random(in: 1...9, using: &random))"
      case 2: document.count += 1
      case 3: document.best = Bool.random(using: &random) ? item() : nil
      case 4: document.byName["k\(Int.random(in: 1...3, using: &random))"] = item()
      case 5: document.byName["k\(Int.random(in: 1...3, using: &random))"] = nil
      case 6: document.numbers.insert(Int.random(in: 1...5, using: &random))
      case 7: document.numbers.remove(Int.random(in: 1...5, using: &random))
      case 8: array.insert(item(), at: Int.random(in: 0...array.count, using: &random))
      case 9 where !array.isEmpty: array.remove(at: Int.random(in: 0..<array.count, using: &random))
      case 10 where !array.isEmpty:
        array.move(
          from: Int.random(in: 0..<array.count, using: &random),
          to: Int.random(in: 0..<array.count, using: &random))
      default:
        guard let item = all.randomElement(using: &random) else { return }
        item.name += "x"
        item.tags = ["\(item.name.count)"]
        item.link = all.randomElement(using: &random)
      }
    }
    for _ in 1...60 {
      let copy = copies.randomElement(using: &random)!
      let ofLists = copy.mirror.state == .live && Int.random(in: 1...3, using: &random) == 1
      loop.turn {
        for _ in 1...Int.random(in: 1...3, using: &random) {
          if ofLists { changeLists(copy.document) } else { change(copy.document) }
        }
      }
      if let mismatch = copy.mirror.tree.mismatch {
        Issue.record("after a write: \(mismatch)")
        return
      }
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        try network.deliver(way: .random(in: 0...99, using: &random), bytes: .max)
      }
      for copy in copies {
        if let mismatch = copy.mirror.tree.mismatch {
          Issue.record("after a step: \(mismatch)")
          return
        }
      }
      if Int.random(in: 1...15, using: &random) == 1 { try settle(copies) }
    }
    try settle(copies)
    let names = (Array(copies[0].document.left) + copies[0].document.right).map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(made).subtracting(removed).subtracting(names) == [])
    copies.append(try Copy(on: loop, through: network))
    try settle(copies)
    for copy in copies {
      expectSame(copy.document.dump, copies[0].document.dump)
      #expect(copy.errors == [])
      copy.mirror.stop()
    }
  }
}
