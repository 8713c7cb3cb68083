internal import Lua
internal import Observables

/// Decides which objects of the host program its scripts may change.
package struct WriteGuard {
  /// Whether objects of a class are asked about.
  let concerns: (Any.Type) -> Bool
  /// Why scripts may not change an object of a class, or the members of a list of those; nil where
  /// they may.
  let check: (_ type: Any.Type, _ changesMembers: Bool) -> String?

  /// A guard for the classes that `concerns` is true for.
  package init(
    concerns: @escaping (Any.Type) -> Bool,
    check: @escaping (_ type: Any.Type, _ changesMembers: Bool) -> String?
  ) {
    (self.concerns, self.check) = (concerns, check)
  }

  /// - Throws: the error for a script that may not change an object.
  func checkWrite(to object: AnyObject) throws(LuaError) {
    try check(type(of: object), changesMembers: false)
  }

  /// - Throws: the error for a script that may not change what is in a list.
  func checkMembers(of collection: any DynamicCollection) throws(LuaError) {
    try check(collection.elementType, changesMembers: true)
  }

  private func check(_ type: Any.Type, changesMembers: Bool) throws(LuaError) {
    guard concerns(type), let reason = check(type, changesMembers) else { return }
    throw LuaError(reason)
  }
}
