/// A failing program is printed as Swift statements.
extension Statement: CustomStringConvertible {
  var description: String {
    switch self {
    case .assign(let thing, let name, let value): return "o\(thing).\(name) = \(value)"
    case .edit(let thing, let edit): return "o\(thing).\(edit)"
    case .read(let thing, let path): return "try o\(thing).value(at: \"\(path)\")"
    case .peek(let thing, let name): return "try o\(thing).isValid(\"\(name)\")"
    case .invalidate(let thing, let name): return "try o\(thing).invalidate(\"\(name)\")"
    case .observe(let watcher):
      let head = "let w\(watcher.id) = try o\(watcher.root).\(watcher.call)"
      return watcher.body.isEmpty
        ? head : Self.block(head, watcher.body, note: "in its first \(watcher.times) calls")
    case .tell(let id, .observe(let path)): return "try w\(id).observe(\"\(path)\")"
    case .tell(let id, let command): return "w\(id).\(command)()"
    case .stopObserving(let thing, let path): return "o\(thing).stopObserving(\"\(path)\")"
    case .batch(let body): return Self.block("loop.batch", body)
    case .transaction(let body, let fails):
      return Self.block(
        "try? Transaction.run(on: all, in: loop)", body, note: fails ? "it fails" : nil)
    case .copy(let root): return "let copy = try o\(root).copyThatFollows()"
    case .writeCopy(let copy, let writes):
      let lines = writes.map { "\(($0.path.isEmpty ? "" : "\($0.path).") + "\($0.edit)")\n" }
      return "loop.turn {  // below copies[\(copy)]\n" + lines.map { "  \($0)" }.joined() + "}"
    case .record(let root): return "let history = try ChangeHistory(of: o\(root), in: loop)"
    case .undo: return "history.undo()"
    case .redo: return "history.redo()"
    case .flush: return "loop.flush()"
    case .endTurn: return "loop.endTurn()"
    }
  }

  private static func block(_ head: String, _ body: [Statement], note: String? = nil) -> String {
    let lines = body.flatMap { $0.description.split(separator: "\n") }
    return "\(head) {" + (note.map { "  // \($0)" } ?? "") + "\n"
      + lines.map { "  \($0)\n" }.joined() + "}"
  }
}

extension Registration {
  /// The call that makes the watcher.
  fileprivate var call: String {
    if receivesEdits { return "observeEdits(in: loop)" }
    var options: [String] = []
    if isInitial { options.append("initial: true") }
    if isOnce { options.append("once: true") }
    if let comparison { options.append("equals: \(comparison)") }
    let paths = paths.map { "\"\($0)\", " }.joined()
    let end = options.isEmpty ? "" : ", options: .init(\(options.joined(separator: ", ")))"
    return "observe\(isImmediate ? "Immediately" : "")(\(paths)in: loop\(end))"
  }
}

extension Edit: CustomStringConvertible {
  var description: String {
    func list(_ parts: [Int]) -> String {
      "[" + parts.map(name).joined(separator: ", ") + "]"
    }
    func name(_ part: Int) -> String { part < 0 ? "Part()" : "o\(part)" }
    return switch self {
    case .insert(let part, let position): "insert(\(name(part)), at: \(position))"
    case .remove(let position): "remove(at: \(position))"
    case .replace(let position, let part): "replace(\(position), by: \(name(part)))"
    case .swap(let a, let b): "swapAt(\(a), \(b))"
    case .move(let from, let to): "move(from: \(from), to: \(to))"
    case .splice(let start, let length, let parts):
      "replaceSubrange(\(start)..<\(start + length), with: \(list(parts)))"
    case .add(let parts): "add(\(list(parts)))"
    case .subtract(let parts): "subtract(\(list(parts)))"
    case .intersect(let parts): "formIntersection(\(list(parts)))"
    case .toggle(let parts): "formSymmetricDifference(\(list(parts)))"
    case .become(let parts): "set(\(list(parts)))"
    case .put(let key, let part): "\(key) = \(part.map(name) ?? "nil")"
    case .merge(let entries):
      "merge([" + entries.map { "\"\($0)\": \(name($1))" }.sorted().joined(separator: ", ") + "])"
    case .sort: "sort()"
    case .reverse: "reverse()"
    case .clear: "removeAll()"
    case .removeLast: "removeLast()"
    case .removeEven: "removeAll { isEven($0) }"
    }
  }
}
