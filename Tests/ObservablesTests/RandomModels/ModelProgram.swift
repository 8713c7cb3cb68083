/// The value of a property, a slot or a key; things are identified by numbers.
enum Value: Hashable, CustomStringConvertible {
  case none, int(Int), thing(Int), several(Set<Value>)
  /// A property that was never computed, or a path with many values.
  case unknown

  var description: String {
    switch self {
    case .none: "nil"
    case .int(let number): "\(number)"
    // Objects that the program makes have no name.
    case .thing(let number): number < ThingKind.world.count ? "o\(number)" : "another"
    case .several(let values): values.map(\.description).sorted().joined(separator: " ")
    case .unknown: "error"
    }
  }
}

/// The kinds of things, by number: parts, collections of parts, and two collections of integers.
enum ThingKind {
  case part, array, map, set, counts, marks

  static let world: [ThingKind] = [
    .part, .part, .part, .part, .array, .array, .array, .map, .map, .set, .set, .counts, .marks,
  ]
  static let parts = 0..<4
  static let collections = 4..<world.count
  static func numbers(_ kind: ThingKind) -> [Int] { world.indices.filter { world[$0] == kind } }
}

/// A change of a collection.
///
/// Positions are taken modulo the count, so that a program stays valid when statements are left
/// out. A part is a number, -1 for a new one.
enum Edit {
  case insert(Int, at: Int), remove(Int), replace(Int, Int), swap(Int, Int), move(Int, Int)
  case splice(Int, Int, [Int])
  case sort, reverse, clear, removeLast, removeEven
  /// For an array, elements at its end; for a set, members.
  case add([Int]), subtract([Int]), become([Int])
  case intersect([Int]), toggle([Int])
  case put(String, Int?), merge([String: Int])

  /// Adds or removes a single member of a set.
  var isSingle: Bool {
    switch self {
    case .add(let members), .subtract(let members): members.count == 1
    default: false
    }
  }

  /// The number of edits of an array for this change; nil if the whole array is compared (C10).
  var steps: Int? {
    switch self {
    case .insert, .remove, .replace, .move, .removeLast: 1
    case .swap: 2
    case .add(let parts): parts.count
    default: nil
    }
  }
}

indirect enum Statement {
  case assign(Int, String, Value)
  case edit(Int, Edit)
  case read(Int, String), peek(Int, String), invalidate(Int, String)
  case observe(Registration)
  case tell(Int, Command)
  case stopObserving(Int, String)
  case batch([Statement])
  /// A transaction that covers everything (S8).
  case transaction([Statement], fails: Bool)
  /// Copies a tree; the copy and the tree apply each other's changes (X2, X3).
  case copy(Int)
  /// A turn that writes to a copy at some paths; each part in the edits stands for the root.
  case writeCopy(Int, [(path: String, edit: Edit)])
  /// Begins a history of a tree; `undo` and `redo` take a step in it (X5).
  case record(Int)
  case undo, redo
  case flush, endTurn
}

/// A call of a method of a watcher's handle.
enum Command {
  case stop, pause, resume, schedule, run
  case observe(String)
}

/// A watcher of a program.
struct Registration {
  /// The values that a watcher considers equal.
  enum Comparison { case nothing, everything, parity }

  var id: Int
  var root: Int
  var paths: [String]
  var isImmediate = false
  /// Whether it is a watcher of the edits of a collection, which is its root.
  var receivesEdits = false
  var isOnce = false
  var isInitial = false
  var comparison: Comparison?
  /// The statements of the callback in its first `times` calls.
  var body: [Statement] = []
  var times = 1
}

extension Statement {
  /// Smaller variants of the statement, the smallest first.
  var shorter: [Statement] {
    switch self {
    case .batch(let body): Self.shorter(body).map(Statement.batch)
    case .transaction(let body, let fails):
      Self.shorter(body).map { .transaction($0, fails: fails) }
    case .observe(let original): Self.shorter(original).map(Statement.observe)
    default: []
    }
  }

  static func shorter(_ body: [Statement]) -> [[Statement]] {
    var all: [[Statement]] = body.isEmpty ? [] : [[]]
    for index in body.indices {
      var other = body
      other.remove(at: index)
      all.append(other)
      switch body[index] {
      case .batch(let inner), .transaction(let inner, fails: false):
        other.insert(contentsOf: inner, at: index)
        all.append(other)
      default: break
      }
      for statement in body[index].shorter {
        other = body
        other[index] = statement
        all.append(other)
      }
    }
    return all
  }

  private static func shorter(_ original: Registration) -> [Registration] {
    func with(_ change: (inout Registration) -> Void) -> Registration {
      var other = original
      change(&other)
      return other
    }
    var all = shorter(original.body).map { body in with { $0.body = body } }
    if original.paths.count > 1 {
      all += original.paths.indices.map { index in with { $0.paths.remove(at: index) } }
    }
    if original.isOnce { all.append(with { $0.isOnce = false }) }
    if original.isInitial { all.append(with { $0.isInitial = false }) }
    if original.comparison != nil { all.append(with { $0.comparison = nil }) }
    if original.times > 1 { all.append(with { $0.times = 1 }) }
    return all
  }
}
