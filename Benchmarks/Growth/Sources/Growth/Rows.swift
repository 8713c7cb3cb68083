import Observables

/// An operation whose cost may depend on a size.
struct Row: Sendable {
  let name: String
  let size: String
  /// The order that the rules promise: `flat`, `log`, `linear` or `n log n` in the size.
  let order: String
  /// Makes a program of this size, and returns one operation, which gets the number of the call.
  let make: @Sendable (Int, Loop) throws -> (Int) throws -> Void

  init(
    _ name: String, _ size: String, _ order: String,
    _ make: @escaping @Sendable (Int, Loop) throws -> (Int) throws -> Void
  ) {
    (self.name, self.size, self.order, self.make) = (name, size, order, make)
  }
}

final class Leaf: ObservableModel {
  static let properties = ModelProperties(for: Leaf.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
    Property("twice", lazy: { $0.$twice }, from: ["value"]) { $0.value * 2 }
  }
  let observation = ModelObservation()
  var value = 0 { didSet { observation.didSet(0, from: oldValue, to: value) } }
  @Lazy var twice: Int

  init(_ value: Int = 0) { self.value = value }
}

final class Shelf: ObservableModel {
  static let properties = ModelProperties(for: Shelf.self) {
    Property("list", get: { $0.list })
    Property("first", get: { $0.first }, set: { $0.first = $1 })
    Property("sum", lazy: { $0.$sum }, from: ["list.*.twice"]) { shelf in
      shelf.list.reduce(0) { $0 + $1.twice }
    }
    Property("tracked", tracked: { $0.$tracked }) { shelf in
      shelf.list.reduce(0) { $0 + $1.twice }
    }
  }
  let observation = ModelObservation()
  let list: ObservableArray<Leaf>
  var first: Leaf { didSet { observation.didSet(1, from: oldValue, to: first) } }
  @Lazy var sum: Int
  @Lazy var tracked: Int

  init(_ count: Int) {
    list = ObservableArray((0..<count).map { Leaf($0) })
    first = Leaf()
  }
}

/// An operation on an array whose edits are watched; it gets the number of the call.
private func edits(
  _ name: String, _ size: String, _ order: String,
  _ operate: @escaping @Sendable (ObservableArray<Int>, Int) -> Void
) -> Row {
  Row("ObservableArray." + name, size, order) { count, loop in
    let array = ObservableArray(0..<count)
    try array.observeEdits(in: loop) { _, _ in }
    return { call in operate(array, call) }
  }
}

/// A write that a watcher of a path hears, in a shelf with many leaves; it gets the number of the
/// call.
private func heard(
  _ size: String, _ order: String, _ path: Path, _ write: @escaping @Sendable (Shelf, Int) -> Void
) -> Row {
  Row("KeyPathObservable.observe", size, order) { count, loop in
    let shelf = Shelf(count)
    try shelf.observe(path, in: loop) { _ in }
    return { call in write(shelf, call) }
  }
}

/// Operations on models, collections, watchers and trees.
private let modelRows = [
  Row("KeyPathObservable.observe", "other watched objects", "flat") { count, loop in
    let (shelf, leaf) = (Shelf(count), Leaf())
    for leaf in shelf.list { try leaf.observe("value", in: loop) { _ in } }
    try leaf.observe("value", in: loop) { _ in }
    return { call in
      leaf.value = call
      withExtendedLifetime(shelf) {}
    }
  },
  Row("KeyPathObservable.observe", "watchers of the property, one more", "flat") { count, loop in
    let leaf = Leaf()
    for _ in 0..<count { try leaf.observe("value", in: loop) { _ in } }
    return { _ in try leaf.observe("value", in: loop) { _ in }.stop() }
  },
  heard("elements below *", "flat", "list.*.value") { $0.list[0].value = -$1 },
  heard("elements below *, one replaced", "flat", "list.*.value") {
    $0.list[$0.list.count - 1] = Leaf(-$1)
  },
  heard("objects below **", "flat", "**") { $0.list[0].value = -$1 },
  heard("objects below **, one replaced", "flat", "**") { $0.list[0] = Leaf(-$1) },
  heard("elements of @sum", "log", "list.@sum.value") { $0.list[0].value = -$1 },
  heard("elements beside a digit", "flat", "list.1.value") { $0.list[1].value = -$1 },
  Row("KeyPathObservable.changes", "objects of the tree", "flat") { count, loop in
    let shelf = Shelf(count)
    try shelf.changes(in: loop) { _, _ in }
    return { call in shelf.list[0].value = -call }
  },
  // Compares the changed array with its former state.
  Row("KeyPathObservable.changes", "elements, one appended", "linear") { count, loop in
    let shelf = Shelf(count)
    try shelf.changes(in: loop) { _, _ in }
    return { call in shelf.list.append(Leaf(call)) }
  },
  // A write notifies the paused watchers, too.
  Row("Watcher.pause", "paused watchers of the property", "linear") { count, loop in
    let leaf = Leaf()
    for _ in 0..<count { try leaf.observe("value", in: loop) { _ in }.pause() }
    let watcher = try leaf.observe("value", in: loop) { _ in }
    return { call in
      watcher.pause()
      leaf.value = call
      watcher.resume()
    }
  },
  edits("append", "elements", "flat") { $0.append($1) },
  edits("insert", "elements behind", "linear") {
    $0.insert($1, at: 0)
    $0.remove(at: 0)
  },
  edits("replaceSubrange", "elements", "flat") { $0.replaceSubrange(0..<1, with: [-$1]) },
  edits("swapAt", "elements", "flat") { array, _ in array.swapAt(0, array.count - 1) },
  edits("sort", "elements", "n log n") { array, call in
    array.sort { call % 2 == 0 ? $0 < $1 : $0 > $1 }
  },
  edits("set", "elements", "linear") { $0.set([-$1] + (1..<$0.count)) },
  Row("ObservableDictionary.subscript", "entries", "flat") { count, loop in
    let dictionary = ObservableDictionary(
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) }))
    try dictionary.observeEdits(in: loop) { _, _ in }
    return { call in
      dictionary["k1"] = -call
      dictionary["new\(call)"] = call
    }
  },
  Row("ObservableDictionary.observeEdits", "entries, watched by a paused one", "flat") {
    count, loop in
    let dictionary = ObservableDictionary(
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) }))
    try dictionary.observeEdits(in: loop) { _, _ in }.pause()
    for index in 0..<count { dictionary["k\(index)"] = -index }
    let leaf = Leaf()
    try leaf.observe("value", in: loop) { _ in }
    return { call in
      leaf.value = call
      withExtendedLifetime(dictionary) {}
    }
  },
  Row("ObservableSet.insert", "elements", "flat") { count, loop in
    let set = ObservableSet(0..<count)
    try set.observeEdits(in: loop) { _, _ in }
    return { call in
      set.insert(-call)
      set.remove(-call)
    }
  },
  Row("Lazy", "elements that a declared property reads", "linear") { count, loop in
    let shelf = Shelf(count)
    _ = shelf.sum
    return { call in
      shelf.list[0].value = call
      _ = shelf.sum
    }
  },
  Row("Lazy", "elements that a tracked property reads", "linear") { count, loop in
    let shelf = Shelf(count)
    _ = shelf.tracked
    return { call in
      shelf.list[0].value = call
      _ = shelf.tracked
    }
  },
  Row("ChangeHistory.undo", "objects of the tree", "flat") { count, loop in
    let shelf = Shelf(count)
    let history = try ChangeHistory(of: shelf, in: loop)
    return { call in
      shelf.list[0].value = -call
      loop.flush()
      _ = history.undo()
    }
  },
  Row("ChangeHistory.undo", "objects that have left the tree", "flat") { count, loop in
    let shelf = Shelf(count)
    let history = try ChangeHistory(of: shelf, in: loop)
    shelf.list.removeAll()
    loop.endTurn()
    return { call in
      shelf.first.value = -call
      loop.endTurn()
      _ = history.undo()
    }
  },
  Row("ChangeHistory.undo", "steps of the past", "flat") { count, loop in
    let leaf = Leaf()
    let history = try ChangeHistory(of: leaf, in: loop, limit: 1_000_000)
    for value in 1...count {
      leaf.value = value
      loop.endTurn()
    }
    return { call in
      leaf.value = -call
      loop.endTurn()
      _ = history.undo()
    }
  },
  // Reads each object first: properties without macros report their writes afterwards.
  Row("Transaction.run", "objects of the tree, watched by **", "linear") { count, loop in
    let shelf = Shelf(count)
    try shelf.observe("**", in: loop) { _ in }
    return { call in try Transaction.run(on: [shelf], in: loop) { shelf.list[0].value = -call } }
  },
  Row("Loop.after", "other timers", "log") { count, loop in
    for index in 0..<count { _ = loop.after(1000 + Double(index)) {} }
    return { _ in loop.after(500) {}.stop() }
  },
]

let rows = modelRows + scriptRows
