internal import Lua

/// Objects of Swift that the prelude names by number.
struct NumberedObjects<Object> {
  private var objects: [Int: Object] = [:]
  private var last = 0

  /// Adds an object, and returns its number, which no other object gets.
  mutating func add(_ object: Object) -> Int {
    last += 1
    objects[last] = object
    return last
  }

  /// The object whose number is the first argument. [-0, +0, -]
  func named(by L: LuaStack) -> Object? { L.integer(at: 1).flatMap { objects[Int($0)] } }

  /// Removes that object. [-0, +0, -]
  mutating func remove(namedBy L: LuaStack) -> Object? {
    L.integer(at: 1).flatMap { objects.removeValue(forKey: Int($0)) }
  }

  mutating func removeAll() -> [Object] {
    defer { objects = [:] }
    return Array(objects.values)
  }
}
