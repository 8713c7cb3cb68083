/// One key in the text of `describe`: its title, then its watchers and the properties that depend
/// on it.
private struct DescribedKey {
  let name: String
  var title: String
  var lines: [String] = []
  var isObserved = false
  var isLazy = false
  /// The lazy properties that depend on the key.
  var dependents: [WatcherRef] = []
}

/// A description of an object in words (W2): the keys that are observed, lazy, or needed by a lazy
/// property.
///
/// No property is computed for this.
package struct ObjectDescription {
  private let engine: Engine
  /// The spelling of keys.
  private let name: (SlotRef) -> String
  /// Describes a watcher in one line.
  private let line: (WatcherRef, Path) -> String
  /// Whether the rest is to be left out.
  private let isStopped: () -> Bool
  /// The label of a watcher or lazy property whose details must be hidden; nil for all others.
  private let stranger: (WatcherRef) -> String?

  package init(
    in engine: Engine, naming name: @escaping (SlotRef) -> String,
    describing line: @escaping (WatcherRef, Path) -> String,
    hiding stranger: @escaping (WatcherRef) -> String? = { _ in nil },
    unless isStopped: @escaping () -> Bool = { false }
  ) {
    (self.engine, self.name, self.line) = (engine, name, line)
    (self.stranger, self.isStopped) = (stranger, isStopped)
  }

  /// The text for the object of `root`, which has the title `title`; `root` is nil if the object
  /// has no node.
  package func text(of root: NodeRef?, title: String) -> String {
    engine.records.hold { textInside(of: root, title: title) }
  }

  private func textInside(of root: NodeRef?, title: String) -> String {
    let keys = root.map(keys) ?? []
    if isStopped() { return "" }
    if let root, !keys.isEmpty, keys.allSatisfy({ !$0.isObserved && !$0.isLazy }) {
      return "\(title) is not observed, but \(needs(keys, of: root))"
    }
    let state =
      keys.isEmpty
      ? "is not observed"
      : keys.contains { $0.isObserved } ? "is observed:" : "is not observed, and has these keys:"
    let lines = keys.sorted { $0.name < $1.name }.flatMap { ["  \($0.title)"] + $0.lines }
    return (["\(title) \(state)"] + lines).joined(separator: "\n")
  }

  private func keys(of root: NodeRef) -> [DescribedKey] {
    var keys: [String: DescribedKey] = [:]
    for lazy in root.kind.unknownLazies(of: root) {
      let state: ObservationGraph.LazyState = lazy.isValid ? .valid : .invalid
      keys[lazy.name] = DescribedKey(
        name: lazy.name, title: "\(lazy.name) (lazy, \(state))", isLazy: true)
    }
    for lazy in engine.lazies.all(of: root) {
      if isStopped() { break }
      guard let slot = lazy.slot else { continue }
      let name = name(slot)
      keys[name] = describe(lazy, named: name)
    }
    for used in engine.inspection.usedKeys(of: root) {
      if isStopped() { break }
      let name = used.name ?? name(used.slot)
      var key = keys[name] ?? DescribedKey(name: name, title: name)
      key.dependents += engine.inspection.dependents(of: used.slot, name: used.name)
      key.lines += engine.inspection.dependents(of: used.slot, name: used.name).map { dependent in
        "    \(title(of: dependent, from: root)) depends on it"
      }
      keys[name] = key
    }
    for observed in engine.inspection.observedKeys(of: root, withWatchers: true) {
      if isStopped() { break }
      let name = observed.name ?? name(observed.slot)
      var key = keys[name] ?? DescribedKey(name: name, title: name)
      key.isObserved = true
      // A watcher that ended while links are being made keeps its own links until that is done.
      for (watcher, path) in observed.watchers where watcher.pointee.isActive && !isStopped() {
        key.lines.append("    \(stranger(watcher) ?? line(watcher, path))")
      }
      keys[name] = key
    }
    return Array(keys.values)
  }

  /// Names the properties that depend on an object without watchers and lazy properties: "'full' of
  /// View depends on its 'first' and 'last'".
  private func needs(_ keys: [DescribedKey], of root: NodeRef) -> String {
    let limit = 8
    var needs: [(dependent: WatcherRef, keys: [String])] = []
    for key in keys.sorted(by: { $0.name < $1.name }) {
      for dependent in key.dependents {
        if let place = needs.firstIndex(where: { $0.dependent == dependent }) {
          needs[place].keys.append("'\(key.name)'")
        } else if needs.count < limit {
          needs.append((dependent, ["'\(key.name)'"]))
        }
      }
    }
    let all = Set(keys.flatMap(\.dependents)).count
    var texts = needs.map { dependent, keys in
      let shown = keys.prefix(limit) + (keys.count > limit ? ["\(keys.count - limit) more"] : [])
      return
        "\(title(of: dependent, from: root)) depends on its \(list(Array(shown)))"
    }
    if all > limit { texts.append("\(all - limit) more depend on it") }
    return list(texts)
  }

  /// "a", "a and b", "a, b and c".
  private func list(_ texts: [String]) -> String {
    guard let last = texts.last, texts.count > 1 else { return texts.first ?? "" }
    return "\(texts.dropLast().joined(separator: ", ")) and \(last)"
  }

  private func describe(_ lazy: WatcherRef, named name: String) -> DescribedKey {
    let known = ObservationGraph.LazyKey(lazy)
    if let stranger = stranger(lazy) {
      return DescribedKey(
        name: name, title: "\(name) (lazy, \(known.state)), declared by \(stranger)", isLazy: true)
    }
    let dependencies = engine.inspection.dependencies(of: lazy) { self.name($0) }
    let isTracked = known.isTracked
    let kind = isTracked || !dependencies.isEmpty ? "computed" : "lazy"
    var key = DescribedKey(name: name, title: "\(name) (\(kind), \(known.state))", isLazy: true)
    if let site = known.site { key.title += ", declared at \(site)" }
    let paths = dependencies.map { dependency in
      "'\(dependency.path)'" + owner(dependency.root, from: lazy.pointee.root)
    }
    if !paths.isEmpty {
      let verb = isTracked ? "depends on properties it read" : "depends on"
      key.lines.append("    \(verb): \(paths.joined(separator: ", "))")
    } else if isTracked {
      key.lines.append("    depends on properties it will read")
    }
    return key
  }

  /// "'full'", "'full' of View", "a property of another script".
  private func title(of dependent: WatcherRef, from root: NodeRef) -> String {
    if let stranger = stranger(dependent) { return "a property of \(stranger)" }
    return "'\(engine.lazies.name(of: dependent))'\(owner(dependent.pointee.root, from: root))"
  }

  private func owner(_ node: NodeRef?, from root: NodeRef?) -> String {
    if node == root { return "" }
    return " of \(node.map { $0.kind.title(of: $0) } ?? "another object")"
  }
}

extension WatcherRef {
  /// Special states of a watcher.
  var notes: [String] {
    let traits = pointee.traits
    return [
      (traits.contains(.immediate), "immediate"), (traits.contains(.once), "once"),
      (pointee.isPaused, "paused"), (pointee.isPending, "pending"),
    ].filter(\.0).map(\.1)
  }

  /// The notes as a suffix of the watcher's title: " [immediate, paused]".
  package func notes(_ more: String...) -> String {
    let notes = more + notes
    return notes.isEmpty ? "" : " [\(notes.joined(separator: ", "))]"
  }
}
