import Foundation
import Observables

/// A copy of a tree; the copy and the tree apply each other's changes, which pass through JSON.
final class TreeCopy {
  private let root: Part
  /// Everything that was ever in the copy: rings in it have to be cut.
  private var met: [Part]
  private var back: Watcher?
  private let report: (String) -> Void

  /// Calls `report` with the copy as text, now and after each delivery.
  init(
    of original: Part, named name: String, in loop: Loop, _ report: @escaping (String) -> Void
  ) throws {
    let start = try original.changes(in: loop) { _, _ in }
    root = try start.snapshot()!.copy(as: Part.self)
    start.stop()
    (met, self.report) = (root.reachable, report)
    try original.changes(in: loop, skip: name) { [unowned self] _, changes in
      try receive(changes)
    }
    back = try root.changes(in: loop, skip: "original") { [unowned original] _, changes in
      try original.apply(Self.decoded(changes), origin: name)
    }
    report(root.outline)
  }

  /// Applies changes of the original; their inverse turns the copy into what it was.
  private func receive(_ changes: [DeepChange]) throws {
    let before = root.outline
    try root.apply(Self.decoded(changes), origin: "original")
    let former = try back!.snapshot()!.copy(as: Part.self)
    met += root.reachable + former.reachable
    try former.apply(changes.inverted)
    met += former.reachable
    let isSame = former.outline == before
    report(root.outline + (isSame ? "" : ", inverted \(former.outline) and not \(before)"))
  }

  private static func decoded(_ changes: [DeepChange]) throws -> [DeepChange] {
    let read = try JSONDecoder().decode([DeepChange].self, from: JSONEncoder().encode(changes))
    return read == changes ? read : []
  }

  /// Calls `write` for the objects at some paths, as far as there are any.
  ///
  /// Nothing is written if a part that holds objects would leave the copy: changes empty such a
  /// part before they remove it.
  func turn<Edit>(
    _ writes: [(path: String, edit: Edit)], in loop: Loop,
    _ write: (any KeyPathObservable, Edit, _ root: Part) -> Void
  ) {
    let before = root.reachable
    try? Transaction.run(on: [root], in: loop) {
      for (path, edit) in writes {
        let object = path.isEmpty ? root : try? root.value(at: Path(path))
        if let object = object as? any KeyPathObservable { write(object, edit, root) }
      }
      let now = root.reachable
      met += now
      if before.contains(where: { !now.contains($0) && $0.holdsObjects }) {
        throw CancellationError()
      }
    }
  }

  func release() {
    for part in met + root.reachable {
      part.stopObserving()
      part.release()
    }
  }
}
