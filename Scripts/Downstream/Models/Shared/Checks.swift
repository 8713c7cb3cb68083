import Dispatch
import Lua
import LuaObservables
import ObservableModels
import ProtocolObservers

// Uses of models and observers of the main actor in an app: each target with this file declares the
// actor of `Panel` and `Screen` in another way.

nonisolated protocol TextObserver: AnyObject {
  func heard(_ text: String)
}

nonisolated final class Source: SharedProtocolObservable {
  let observers = SharedObserverRegistry<Never>()
  func send(_ text: String) {
    withObservers { (observer: any TextObserver) in observer.heard(text) }
  }
}

nonisolated final class LocalSource: ProtocolObservable {
  let observers = ObserverRegistry<Never>()
  func send(_ text: String) {
    withObservers { (observer: any TextObserver) in observer.heard(text) }
  }
}

extension Panel: @MainActor Hashable {
  static func == (a: Panel, b: Panel) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Panel: @MainActor ScriptModel {
  static let methods = ModelMethods(for: Panel.self) {
    Method("say") { (panel, text: String) in panel.text = text }
  }
}

/// The received events, in order.
@MainActor final class Log {
  private(set) var events: [String] = []
  func add(_ event: String) { events.append(event) }
}

/// One way to receive a change.
@MainActor struct Check {
  let name: String
  let expected: [String]
  /// Registers, and returns a closure that makes the change.
  let begin: @MainActor (Log) throws -> @MainActor () throws -> Void

  init(
    _ name: String, _ expected: String...,
    begin: @escaping @MainActor (Log) throws -> @MainActor () throws -> Void
  ) {
    (self.name, self.expected, self.begin) = (name, expected, begin)
  }
}

/// The place where code of the main actor runs.
@MainActor enum Place: String, CaseIterable {
  case task, turn

  func run(_ body: @escaping @MainActor () throws -> Void) async throws {
    if self == .task { return try body() }
    try await withCheckedThrowingContinuation { done in
      later { done.resume(with: Result { try body() }) }
    }
  }
}

@MainActor func runChecks() async throws {
  // The main queue leaves the first thread here.
  await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
  var failures = 0
  for place in Place.allCases {
    for check in checks() {
      let log = Log()
      Loop.main.onError = { error in MainActor.assumeIsolated { log.add("error: \(error)") } }
      do {
        var change: @MainActor () throws -> Void = {}
        try await place.run { change = try check.begin(log) }
        await turns(2)
        try await place.run { try change() }
        for _ in 0..<5000 where log.events.count < check.expected.count { await turns(1) }
      } catch { log.add("thrown: \(error)") }
      await turns(2)
      if log.events == check.expected { continue }
      failures += 1
      print("\(place.rawValue): \(check.name): \(log.events) instead of \(check.expected)")
    }
  }
  print(failures == 0 ? "\(checks().count) checks, in a task and in a turn" : "\(failures) fail")
}

@MainActor func turns(_ count: Int) async {
  for _ in 0..<count {
    await withCheckedContinuation { done in Loop.main.inbox.post { done.resume() } }
    await Task.yield()
  }
}

@MainActor private func made(_ text: String) -> Panel {
  let panel = Panel()
  panel.text = text
  return panel
}

/// Runs `body` in a separate turn, after the turn of current writes.
@MainActor private func later(_ body: @escaping @MainActor () -> Void) {
  Loop.main.inbox.post { MainActor.assumeIsolated(body) }
}

@MainActor private let host = try! LuaHost(loop: .main)
/// Objects that a check needs until it ends.
@MainActor private var kept: [AnyObject] = []

@MainActor func checks() -> [Check] {
  [
    // MARK: Watchers
    Check("observe", "a", "b") { log in
      let panel = Panel()
      try panel.observe("child.text") { log.add($0.child?.text ?? "-") }
      return {
        kept = [panel]
        panel.child = made("a")
        later { panel.child?.text = "b" }
      }
    },
    Check("observe, typed", "a") { log in
      let panel = Panel()
      panel.observe(#path(\.child?.text)) { log.add($0.child?.text ?? "-") }
      return { panel.child = made("a") }
    },
    Check("observe immediately", "child", "text a") { log in
      let panel = Panel()
      try panel.observeImmediately("child.text") { panel, change in
        log.add(change.key == "text" ? "text \(panel.child!.text)" : change.key)
      }
      return {
        panel.child = Panel()
        panel.child!.text = "a"
      }
    },
    Check("observe immediately, with an observer", "a") { log in
      let (panel, screen) = (made("-"), Screen(log))
      panel.child = Panel()
      let options = WatcherOptions(observer: screen)
      panel.observeImmediately(#path(\.child?.text), options: options) {
        [unowned screen] panel, _ in
        screen.heard(panel.child!.text)
      }
      return {
        kept = [screen]
        panel.child!.text = "a"
      }
    },
    Check("observe with an observer", "a") { log in
      let (panel, screen) = (Panel(), Screen(log))
      let options = WatcherOptions(observer: screen)
      try panel.observe("parts.text", options: options) { [unowned screen] in
        screen.heard($0.parts[0].text)
      }
      return {
        kept = [screen]
        panel.parts = [made("a")]
      }
    },
    Check("observe by a task", "a") { log in
      let panel = Panel()
      try panel.observe("child.text") { panel in
        await Task.yield()
        log.add(panel.child?.text ?? "-")
      }
      return {
        kept = [panel]
        panel.child = made("a")
      }
    },
    Check("observe everything below", "a", "b") { log in
      let panel = Panel()
      try panel.observe("**.text") { log.add($0.child?.text ?? "-") }
      return {
        kept = [panel]
        panel.child = made("a")
        later { panel.child?.text = "b" }
      }
    },
    Check("a model by hand", "a", "b") { log in
      let plain = Plain()
      try plain.observe("panel.text") { log.add($0.panel?.text ?? "-") }
      return {
        kept = [plain]
        plain.panel = made("a")
        later { plain.panel?.text = "b" }
      }
    },
    Check("stop observing, describe", "0 paths") { log in
      let panel = made("-")
      panel.child = Panel()
      try panel.observe("child.text") { _ in log.add("called") }
      panel.stopObserving("child.text")
      return {
        panel.child?.text = "a"
        log.add("\(panel.child!.observerCount(of: "text")) paths")
      }
    },
    Check("on observed", "text true", "text false") { log in
      let (panel, child) = (Panel(), made("-"))
      child.onObserved { log.add("\($0) \($1)") }
      try panel.observe("child.text") { _ in }
      return {
        kept = [panel]
        panel.child = child
        later { panel.child = nil }
      }
    },

    // MARK: Values
    Check("values", "", "b") { log in
      let panel = Panel()
      let values = try panel.values("text", as: String.self)
      Task { for await text in values { log.add(text) } }
      return {
        kept = [panel]
        panel.text = "b"
      }
    },
    Check("values, typed", "none", "b") { log in
      let panel = Panel()
      let values = panel.values(#path(\.child?.text))
      Task { for await text in values { log.add(text ?? "none") } }
      return {
        kept = [panel]
        panel.child = made("b")
      }
    },
    Check("value at a path", "a", "a", "3") { log in
      let panel = Panel()
      return {
        panel.child = made("a")
        panel.list.append(contentsOf: [made("b"), made("c")])
        for (index, part) in panel.list.enumerated() { part.number = index + 1 }
        log.add(try panel.value(at: "child.text", as: String.self))
        log.add(try panel.value(at: #path(\.child?.text)) ?? "-")
        log.add("\(try panel.value(at: "list.@sum.number", as: Int.self))")
      }
    },

    // MARK: Changes
    Check("changes", "child.text", "list.1") { log in
      let panel = made("-")
      panel.child = Panel()
      try panel.changes {
        log.add($1.map { "\($0.path.map(\.description).joined(separator: "."))" }[0])
      }
      return {
        kept = [panel]
        panel.child!.text = "a"
        later { panel.list.append(made("b")) }
      }
    },
    Check("changes as a sequence", "1") { log in
      let panel = made("-")
      panel.child = Panel()
      let changes = try panel.changes()
      Task { for await step in changes { log.add("\(step.count)") } }
      return {
        kept = [panel]
        panel.child!.text = "a"
      }
    },
    Check("apply", "a", "") { log in
      let panel = made("-")
      panel.child = Panel()
      let change = DeepChange(path: ["child", "text"], kind: .set, old: "", new: "a")
      return {
        try panel.apply([change])
        log.add(panel.child!.text)
        try panel.apply([change].inverted)
        log.add(panel.child!.text)
      }
    },
    Check("history", "true", "", "a") { log in
      let panel = made("-")
      panel.child = Panel()
      let history = try ChangeHistory(of: panel)
      return {
        kept = [panel, history]
        panel.child!.text = "a"
        later {
          log.add("\(history.undo())")
          log.add(panel.child!.text)
          _ = history.redo()
          log.add(panel.child!.text)
        }
      }
    },
    Check("transaction", "-") { log in
      let panel = Panel()
      panel.child = made("-")
      return {
        try? host.transaction(on: [panel]) {
          panel.child!.text = "a"
          throw CancellationError()
        }
        log.add(panel.child!.text)
      }
    },
    Check("bind", "a", "b") { log in
      let (source, target) = (made("a"), Panel())
      try target.bind(["text"], to: source)
      log.add(target.text)
      return {
        kept = [source, target]
        source.text = "b"
        later { log.add(target.text) }
      }
    },

    // MARK: Collections
    Check("an array", "1", "a") { log in
      let list = ObservableArray<Panel>()
      try list.observe("count") { log.add("\($0.count)") }
      try list.observe("*.text") { log.add($0[0].text) }
      return {
        kept = [list]
        list.append(made("a"))
      }
    },
    Check("edits of an array", "1") { log in
      let list = ObservableArray<Panel>()
      try list.observeEdits { log.add("\($1.count)") }
      return {
        kept = [list]
        list.append(made("a"))
      }
    },
    Check("a dictionary", "a", "b") { log in
      let entries = ObservableDictionary<String, Panel>()
      try entries.observe("k.text") { log.add($0["k"]?.text ?? "-") }
      return {
        kept = [entries]
        entries["k"] = made("a")
        later { entries["k"]!.text = "b" }
      }
    },
    Check("keys of a dictionary", "k a") { log in
      let entries = ObservableDictionary<String, Panel>()
      try entries.observeKeys(["k"]) { key, _, new, _ in log.add("\(key) \(new?.text ?? "-")") }
      return {
        kept = [entries]
        entries["k"] = made("a")
      }
    },
    Check("a dictionary whose values are loaded", "a", "b") { log in
      let stored = made("a")
      let model = DictionaryModel<Panel>(load: { _ in stored }, store: { _, _ in })
      try model.observe("k.text") { log.add($0["k"]?.text ?? "-") }
      log.add(model["k"]?.text ?? "-")
      return {
        kept = [model]
        stored.text = "b"
      }
    },
    Check("a set", "1", "2") { log in
      let set = ObservableSet<Panel>()
      try set.observe("@sum.number") {
        log.add("\(try! $0.value(at: "@sum.number", as: Int.self))")
      }
      return {
        kept = [set]
        let panel = Panel()
        panel.number = 1
        set.insert(panel)
        later { panel.number = 2 }
      }
    },
    Check("operators", "3") { log in
      let panel = Panel()
      panel.list.append(Panel())
      panel.observe(#path(\.list.sum.number)) { _ in log.add("3") }
      return {
        kept = [panel]
        panel.list[0].number = 3
      }
    },

    // MARK: Lazies
    Check("computed properties", "", "a", "a!", "a?") { log in
      let panel = Panel()
      log.add(panel.title)
      return {
        panel.child = made("a")
        log.add(panel.title)
        log.add(panel.tracked)
        log.add(panel.declared)
      }
    },
    Check("watched computed properties", "a", "a!", "a?") { log in
      let panel = Panel()
      try panel.observe("title") { log.add($0.title) }
      try panel.observe("tracked") { log.add($0.tracked) }
      try panel.observe("declared") { log.add($0.declared) }
      return {
        kept = [panel]
        panel.child = made("a")
      }
    },
    Check("created and loaded properties", "card", "4") { log in
      let panel = Panel()
      try panel.observe("card.text") { _ in }
      return {
        log.add(panel.card?.text ?? "-")
        log.add("\(panel.size)")
      }
    },

    // MARK: Protocol observers
    Check("an observer of a source for several threads", "a") { log in
      let (source, screen) = (Source(), Screen(log))
      source.addObserver(screen)
      return {
        kept = [screen]
        Task.detached { source.send("a") }
      }
    },
    Check("an observer in the loop", "a") { log in
      let (source, screen) = (Source(), Screen(log))
      source.addObserver(screen, in: .loop(Loop.main.inbox))
      return {
        kept = [screen]
        Task.detached { source.send("a") }
      }
    },
    Check("an observer in the actor", "a") { log in
      let (source, screen) = (Source(), Screen(log))
      source.addObserver(screen, in: .actor(MainActor.shared))
      return {
        kept = [screen]
        Task.detached { source.send("a") }
      }
    },
    Check("an observer of a source of one thread", "a") { log in
      let (source, screen) = (LocalSource(), Screen(log))
      source.addObserver(screen)
      return {
        source.send("a")
        kept = [screen]
      }
    },

    // MARK: Scripts
    Check("a script watches a model", "a") { log in
      let panel = made("-")
      try host.set("panel", to: panel)
      try host.set(
        "log", function: { (text: String) in MainActor.assumeIsolated { log.add(text) } })
      try host.run("require 'obs'.observe(panel, 'child.text', function(p) log(p.child.text) end)")
      return {
        kept = [panel]
        panel.child = made("a")
      }
    },
    Check("a script changes a model", "a") { log in
      let panel = made("-")
      panel.child = Panel()
      try host.set("panel", to: panel)
      try panel.observe("child.text") { log.add($0.child!.text) }
      return {
        kept = [panel]
        try host.run("panel.child.text = 'a'")
      }
    },
    Check("a table is bound to a model", "a") { log in
      let panel = Panel()
      try host.run("t = {}")
      let table = host["t"] as LuaTable?
      try host.bind(table!, ["text"], to: panel)
      return {
        kept = [panel]
        panel.text = "a"
        later {
          log.add(try! host.run("return t.text", as: String.self))
        }
      }
    },
    Check("a table holds a model", "a", "b") { log in
      try host.run("t = {}")
      let table = host["t"] as LuaTable?
      try host.observe(table!, "panel.text") { _ in
        log.add(try! host.run("return t.panel.text", as: String.self))
      }
      return {
        let panel = made("a")
        host["panel"] = panel
        try host.run("t.panel = panel")
        later { panel.text = "b" }
      }
    },
    Check("a script calls a method", "a") { log in
      host["panel"] = made("-")
      return {
        try host.run("panel:say('a')")
        log.add((host["panel"] as Panel?)?.text ?? "-")
      }
    },
    Check("a script computes from a model", "a") { log in
      host["panel"] = made("-")
      try host.run(
        "t = {} require 'obs'.computed(t, 'x', { { panel, 'child.text' } }, "
          + "function() return panel.child and panel.child.text end)")
      return {
        (host["panel"] as Panel?)?.child = made("a")
        log.add(try host.run("return t.x", as: String.self))
      }
    },
    Check("a function of a script gets a model", "a") { log in
      try host.run("function text(panel) return panel.child.text end")
      return {
        let panel = Panel()
        panel.child = made("a")
        let function: LuaFunction? = host["text"]
        log.add(try function!.call(panel, as: String.self))
      }
    },
  ]
}
