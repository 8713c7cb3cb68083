internal import CTables
internal import Lua
internal import Observables

/// Functions that the prelude needs for collections.
final class CollectionFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("raise", { [self] L in throw LuaError(state.text(at: 1, of: L)) }),
      .init("kind", collectionKind),
      .init(
        "is_host_object",
        { [self] L in
          L.push(host.objects.object(at: 1, of: L) != nil)
          return 1
        }
      ),
      .init("named_member", namedMember),
    ]
  }

  /// Sets the constructors of collections in the table on top of the stack. [-0, +0, -]
  override func complete(_ L: LuaStack) throws(LuaError) {
    let core = L.height
    try state.check(clua_try_pushconstructors(L.pointer), L)
    for name in ["set_of", "dictionary", "array"] {
      try state.setField(name, at: core, of: L)
    }
  }

  /// kind(value) → "array", "set", "dictionary", or nil for a value that is not declared a
  /// collection.
  private func collectionKind(_ L: LuaStack) throws -> CInt {
    var name: String?
    if L.isTable(at: 1) {
      switch clua_collection_kind(L.pointer, 1) {
      case CLUA_KIND_ARRAY: name = "array"
      case CLUA_KIND_SET: name = "set"
      case CLUA_KIND_DICTIONARY: name = "dictionary"
      default: break
      }
    } else {
      switch host.objects.collection(at: 1, of: L) {
      case .array: name = "array"
      case .set: name = "set"
      case .dictionary: name = "dictionary"
      case nil: break
      }
    }
    if let name { try state.push(text: name, to: L) } else { L.pushNil() }
    return 1
  }

  /// named_member(text) → the member that a component `&text` names, present or not; or nil.
  private func namedMember(_ L: LuaStack) throws -> CInt {
    L.height = 1
    try state.check(clua_try_pushnamedmember(L.pointer), L)
    return 1
  }
}
