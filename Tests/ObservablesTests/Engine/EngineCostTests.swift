import Testing

@testable import Observables

/// The engine queries kinds and observers only about changes.
struct EngineCostTests {
  /// A list with one element, `element`, that logs the queries of the engine.
  private final class Kind: NodeKind {
    var element: NodeRef?
    private var end = 0
    private var log: [String] = []

    override func slot(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) -> SlotRef { node.everySlot }
    override func element(
      _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
    ) -> Element { .object(node.everySlot, anchor: 1) }
    override func child(of anchor: Int, in node: NodeRef) -> Child {
      element.map { .node($0) } ?? .none
    }
    override func holds(_ anchor: Int, in node: NodeRef) -> Bool {
      log.append("holds \(anchor)")
      return true
    }
    override func beginJournal(of node: NodeRef) -> Bool { true }
    override func journalEnd(of node: NodeRef) -> Int { end }
    override func hasEdits(_ node: NodeRef, since position: Int) -> Bool { position < end }
    override func trimJournal(of node: NodeRef, before position: Int) {
      log.append("trim \(position)")
    }
    override func compactJournal(of node: NodeRef, for readers: [Int]) {
      log.append("compact for \(readers)")
    }

    func write(_ node: NodeRef) {
      end += 1
      node.engine.writes.report(
        Change(
          node: node, slot: nil, every: node.pointee.every, isSame: false,
          values: UnsafeRawPointer(node)))
    }

    func takeLog() -> [String] {
      defer { log = [] }
      return log
    }
  }

  private final class Reader: Receiver {
    private(set) var questions = 0
    private(set) var calls = 0

    override func isObserverAlive(_ watcher: WatcherRef) -> Bool {
      questions += 1
      return true
    }
    override func deliver(_ watcher: WatcherRef) {
      calls += 1
      watcher.pointee.root?.engine.members.takeEdits(of: watcher) { _, _ in }
    }
  }

  private let loop = Loop(clock: .virtual)
  private let kind = Kind()
  private let reader = Reader()

  private func makeNode() -> NodeRef {
    loop.engine.nodes.make(kind: kind, object: Unmanaged.passUnretained(kind).toOpaque())
  }

  // C10
  @Test func `flushes leave a journal alone while nobody writes or reads it`() throws {
    let engine = loop.engine
    try withExtendedLifetime(self) {
      let node = makeNode()
      let watchers = try (1...2).map { _ in
        let watcher = engine.watchers.make(root: node, receiver: reader, traits: [])
        try engine.members.addEdits(to: watcher)
        return watcher
      }
      engine.watchers.pause(watchers[0])
      kind.write(node)
      loop.endTurn()
      #expect(kind.takeLog() == ["trim 0", "compact for [0, 1]"])
      for _ in 1...3 { loop.endTurn() }
      #expect(kind.takeLog() == [])
      engine.watchers.resume(watchers[0])
      loop.endTurn()
      #expect(kind.takeLog() == ["trim 1"])
      engine.watchers.pause(watchers[0])
      kind.write(node)
      loop.endTurn()
      #expect(kind.takeLog() == ["trim 1", "compact for [1, 2]"])
      engine.watchers.stop(watchers[0])
      loop.endTurn()
      #expect(kind.takeLog() == ["trim 2"])
      engine.nodes.end(node)
    }
  }

  // C4
  @Test func `a list is asked for the element that digits follow only after a write`() throws {
    let engine = loop.engine
    try withExtendedLifetime(self) {
      let (list, element) = (makeNode(), makeNode())
      kind.element = element
      let watcher = engine.watchers.make(root: list, receiver: reader, traits: [])
      try engine.wiring.add([Path("0.x")], to: watcher)
      for _ in 1...3 {
        kind.write(element)
        loop.endTurn()
      }
      #expect(reader.calls == 3)
      #expect(kind.takeLog() == [])
      kind.write(list)
      loop.endTurn()
      #expect(reader.calls == 3)
      #expect(kind.takeLog() == ["holds 1"])
      for node in [list, element] { engine.nodes.end(node) }
    }
  }

  // L3
  @Test func `only watchers with an observer are asked whether the observer is alive`() {
    let engine = loop.engine
    withExtendedLifetime(self) {
      let node = makeNode()
      for _ in 1...200 { _ = engine.watchers.make(root: node, receiver: reader, traits: []) }
      let watcher = engine.watchers.make(root: node, receiver: reader, traits: .observing)
      engine.watchers.stopOrphans()
      #expect(reader.questions == 1)
      engine.watchers.stop(watcher)
      engine.watchers.stopOrphans()
      #expect(reader.questions == 1)
      engine.nodes.end(node)
    }
  }
}
