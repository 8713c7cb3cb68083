import Lua
import LuaObservables
import Observables

/// The Swift side of the cases of collections.
///
/// `swift_core` is a table of functions over numbers that identify objects and lists, for cases
/// that Swift code carries out. A plain value is passed as it is, an object or list as {number}.
final class SwiftCollections {
  private unowned let host: LuaHost
  private var objects: [Object] = []
  private var watchers: [Watcher] = []
  /// The items made by scripts, which may hold each other.
  private var made: [WeakItem] = []

  private struct WeakItem {
    weak var item: CollectionItem?
  }

  /// The object that a number identifies.
  enum Object {
    case item(CollectionItem)
    case list(any CaseList)
  }

  init(_ host: LuaHost) { self.host = host }

  /// Breaks the cycles between objects; called when the host closes.
  func close() {
    for case .item(let item) in objects { (item.items, item.tags) = (nil, nil) }
    for case let item? in made.map(\.item) { (item.items, item.tags) = (nil, nil) }
    objects = []
  }

  /// An item that belongs to a script.
  func makeItem() -> CollectionItem {
    let item = CollectionItem()
    made.append(WeakItem(item: item))
    return item
  }

  // MARK: Values

  func number(of object: AnyObject) -> Int? {
    objects.firstIndex {
      switch $0 {
      case .item(let item): item === object
      case .list(let list): list.array === object
      }
    }
  }

  func lower(_ value: LuaValue) throws -> Any {
    switch value {
    case .integer(let number): return Int(number)
    case .table(let table):
      switch objects[try table.get(1, as: Int.self)] {
      case .item(let item): return item
      case .list(let list): return list
      }
    default: throw CaseError("the cases have no \(value)")
    }
  }

  func raise(_ value: Any?) throws -> LuaValue {
    switch value {
    case nil: return .nil
    case let value as Int: return .integer(Int64(value))
    case let value as String: return .string(LuaString(value))
    case let value as Bool: return .boolean(value)
    case let value as Double: return .number(value)
    case let item as CollectionItem: return try handle(item) { .item(item) }
    case let list as ObservableArray<Int>: return try handle(list) { .list(ListOf(list)) }
    case let list as ObservableArray<CollectionItem>:
      return try handle(list) { .list(ListOf(list)) }
    case let value?: throw CaseError("the cases have no \(value)")
    }
  }

  private func handle(_ object: AnyObject, _ make: () -> Object) throws -> LuaValue {
    let known = number(of: object)
    if known == nil { objects.append(make()) }
    let table = try host.state.makeTable()
    try table.set(1, to: known ?? objects.count - 1)
    return .table(table)
  }

  func elements(_ table: LuaTable) throws -> [Any] {
    try (0..<table.length).map { try lower(table.get($0 + 1, as: LuaValue.self)) }
  }

  func item(_ number: Int) throws -> CollectionItem {
    guard case .item(let item) = objects[number] else { throw CaseError("no object") }
    return item
  }

  func list(_ number: Int) throws -> any CaseList {
    guard case .list(let list) = objects[number] else { throw CaseError("no list") }
    return list
  }

  func add(_ object: Object) -> Int {
    objects.append(object)
    return objects.count - 1
  }

  // MARK: Watchers

  func add(_ watcher: Watcher) -> Int {
    watchers.append(watcher)
    return watchers.count - 1
  }

  func watcher(_ number: Int) -> Watcher { watchers[number] }

  func observed(_ number: Int) -> any KeyPathObservable {
    switch objects[number] {
    case .item(let item): item
    case .list(let list): list.array
    }
  }
}

struct CaseError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
