internal import Lua
internal import Observables

/// Decides which objects of the host program its scripts may change.
package struct WriteGuard {
  /// Whether the guard applies to a class.
  let concerns: (Any.Type) -> Bool
  /// The reason why scripts may not change an object of a class, or the members of a list of such
  /// objects; nil if they may.
  let check: (_ type: Any.Type, _ changesMembers: Bool) -> String?

  /// Makes a guard for the classes for which `concerns` returns true.
  package init(
    concerns: @escaping (Any.Type) -> Bool,
    check: @escaping (_ type: Any.Type, _ changesMembers: Bool) -> String?
  ) {
    (self.concerns, self.check) = (concerns, check)
  }

  /// - Throws: an error if scripts may not change the object.
  func checkWrite(to object: AnyObject) throws(LuaError) {
    try check(type(of: object), changesMembers: false)
  }

  /// - Throws: an error if scripts may not change the members of the collection.
  func checkMembers(of collection: any DynamicCollection) throws(LuaError) {
    try check(collection.elementType, changesMembers: true)
  }

  private func check(_ type: Any.Type, changesMembers: Bool) throws(LuaError) {
    guard concerns(type), let reason = check(type, changesMembers) else { return }
    throw LuaError(reason)
  }
}
