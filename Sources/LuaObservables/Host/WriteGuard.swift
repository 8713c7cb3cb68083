internal import Lua
internal import Observables

/// Decides which objects of the host program its scripts may change.
package struct WriteGuard {
  /// Whether the guard applies to a class.
  let concerns: (Any.Type) -> Bool
  /// The reason why scripts may not write a property of an object of a class or, if `property` is
  /// nil, change the members of a list of such objects; nil if they may.
  let check: (_ type: Any.Type, _ property: String?) -> String?

  /// Makes a guard for the classes for which `concerns` returns true.
  package init(
    concerns: @escaping (Any.Type) -> Bool,
    check: @escaping (_ type: Any.Type, _ property: String?) -> String?
  ) {
    (self.concerns, self.check) = (concerns, check)
  }

  /// - Throws: an error if scripts may not make such a write, with arguments as of `check`.
  func checkWrite(to property: String?, of type: Any.Type) throws(LuaError) {
    guard concerns(type), let reason = check(type, property) else { return }
    throw LuaError(reason)
  }
}

extension LuaHost {
  /// - Throws: an error if scripts may not change the members of the collection.
  func checkMembers(of collection: any DynamicCollection) throws(LuaError) {
    if let source = collection.source { throw LuaError(source.refusal) }
    try writeGuard?.checkWrite(to: nil, of: collection.elementType)
  }
}
