/// One key in the text of `describe`: what it is, then its watchers and the properties that depend
/// on it.
private struct DescribedKey {
  let name: String
  var title: String
  var lines: [String] = []
  var isObserved = false
}

/// An object in words (W2): its keys that are observed, lazy, or needed by one that is.
///
/// No property is computed for this.
package struct ObjectDescription {
  private let engine: Engine
  /// How keys are spelled.
  private let name: (SlotRef) -> String
  /// A watcher in one line.
  private let line: (WatcherRef, Path) -> String

  package init(
    in engine: Engine, naming name: @escaping (SlotRef) -> String,
    describing line: @escaping (WatcherRef, Path) -> String
  ) {
    (self.engine, self.name, self.line) = (engine, name, line)
  }

  /// The text for the object of `root`, which has the title `title`; nil where there is nothing to
  /// describe.
  package func text(of root: NodeRef?, title: String) -> String {
    let keys = root.map(keys) ?? []
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
      keys[lazy.name] = DescribedKey(name: lazy.name, title: "\(lazy.name) (lazy, \(state))")
    }
    for lazy in engine.lazies(of: root) {
      guard let slot = lazy.slot else { continue }
      let name = name(slot)
      keys[name] = describe(lazy, named: name)
    }
    for used in engine.usedKeys(of: root) {
      let name = used.name ?? name(used.slot)
      var key = keys[name] ?? DescribedKey(name: name, title: name)
      key.lines += engine.dependents(of: used.slot, name: used.name).map { dependent in
        "    '\(engine.name(of: dependent))'"
          + "\(owner(dependent.pointee.root, from: root)) depends on it"
      }
      keys[name] = key
    }
    for observed in engine.observedKeys(of: root, withWatchers: true) {
      let name = observed.name ?? name(observed.slot)
      var key = keys[name] ?? DescribedKey(name: name, title: name)
      key.isObserved = true
      // A watcher that ended while links are being made keeps its own links until that is done.
      key.lines += observed.watchers.filter { $0.watcher.pointee.isActive }.map {
        "    \(line($0.watcher, $0.path))"
      }
      keys[name] = key
    }
    return Array(keys.values)
  }

  private func describe(_ lazy: WatcherRef, named name: String) -> DescribedKey {
    let known = ObservationGraph.LazyKey(lazy)
    let dependencies = engine.dependencies(of: lazy) { self.name($0) }
    let isTracked = known.isTracked
    let kind = isTracked || !dependencies.isEmpty ? "computed" : "lazy"
    var key = DescribedKey(name: name, title: "\(name) (\(kind), \(known.state))")
    if let site = known.site { key.title += ", declared at \(site)" }
    let paths = dependencies.map { dependency in
      "'\(dependency.path)'" + owner(dependency.root, from: lazy.pointee.root)
    }
    if !paths.isEmpty {
      let verb = isTracked ? "depends on what it read" : "depends on"
      key.lines.append("    \(verb): \(paths.joined(separator: ", "))")
    } else if isTracked {
      key.lines.append("    depends on what it will read")
    }
    return key
  }

  private func owner(_ node: NodeRef?, from root: NodeRef?) -> String {
    if node == root { return "" }
    return " of \(node.map { $0.kind.title(of: $0) } ?? "another object")"
  }
}

extension WatcherRef {
  /// What is special about a watcher.
  var notes: [String] {
    let flags = pointee.flags
    return [
      (flags.contains(.immediate), "immediate"), (flags.contains(.once), "once"),
      (flags.contains(.paused), "paused"), (pointee.isPending, "pending"),
    ].filter(\.0).map(\.1)
  }

  /// The notes as a suffix of its title: " [immediate, paused]".
  package func notes(_ more: String...) -> String {
    let notes = more + notes
    return notes.isEmpty ? "" : " [\(notes.joined(separator: ", "))]"
  }
}
