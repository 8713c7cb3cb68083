import Dispatch
import ObservableModels
import Synchronization
import Testing

/// Records where the object that holds it is deallocated.
private final class Probe {
  static let key = DispatchSpecificKey<Bool>()
  private let end: End

  init(_ end: End) { self.end = end }
  deinit { end.queue.withLock { $0 = DispatchQueue.getSpecific(key: Probe.key) ?? false } }
}

private final class End: Sendable {
  /// Whether that was the main queue; nil before.
  let queue = Mutex<Bool?>(nil)
}

@MainActor @ObservableModel private class Panel {
  var text = ""
  var child: Panel?
  weak var parent: Panel?
  @Computed("text") var loud: String
  private func makeLoud() -> String { text.uppercased() }
  @Computed var tracked: String
  private func makeTracked() -> String { loud + "!" }
  @LazyProperty(configure: "fill") var card: Panel?
  private static func makeCard() -> Panel { Panel() }
  private func fill(_ card: Panel) { card.text = "card" }
  @LazyProperty(loader: "load") var size: Int
  private func load(_ name: String) { size = name.count }
  @Ignored var probe: Probe?
}

@MainActor @ObservableModel private final class Window<Content>: Panel {
  var content: Content?
  isolated deinit { content = nil }
}

/// A model without an actor: the compiler knows which actor uses it.
@ObservableModel private final class Desk {
  var panel: Panel?
}

/// Models of the main actor.
@MainActor struct IsolationTests {
  private let window = Window<Panel>()

  // P5, Z2, Z10
  @Test func `a model of the main actor is observed and computes like any other`() throws {
    // Not of the suite: the main queue may take another thread between its parts.
    let loop = Loop(clock: .virtual)
    var log: [String] = []
    window.observe(#path(\.child?.text), in: loop) {
      log.append("child \($0.child?.text ?? "-")")
    }
    try window.observe("content.text", in: loop) { log.append("content \($0.content!.text)") }
    try window.observe("loud", in: loop) { log.append("loud \($0.loud)") }
    try window.observe("tracked", in: loop) { log.append("tracked \($0.tracked)") }
    let panel = Panel()
    loop.turn { (window.text, window.child, window.content) = ("a", panel, panel) }
    loop.turn { panel.text = "b" }
    #expect(
      log == [
        "child ", "content ", "loud A", "tracked A!", "child b", "content b",
      ])
    #expect(window.card?.text == "card" && window.size == 4)
  }

  @Test func `a model of the main actor may be part of other models' paths`() throws {
    let (loop, desk) = (Loop(clock: .virtual), Desk())
    var texts: [String?] = []
    try desk.observe("panel.text", in: loop) { texts.append($0.panel?.text) }
    loop.turn { desk.panel = window }
    loop.turn { window.text = "a" }
    #expect(texts == ["", "a"])
  }

  // L1
  @Test func `a model whose last reference goes on another thread ends on the main queue`()
    async throws
  {
    DispatchQueue.main.setSpecific(key: Probe.key, value: true)
    let end = End()
    var panel: Panel? = Panel()
    panel!.probe = Probe(end)
    try panel!.observe("text", in: .main) { _ in }
    let task = Task.detached { [panel] in await panel!.text }
    panel = nil
    #expect(await task.value == "")
    while end.queue.withLock({ $0 == nil }) { await Task.yield() }
    #expect(end.queue.withLock { $0 } == true)
  }
}
