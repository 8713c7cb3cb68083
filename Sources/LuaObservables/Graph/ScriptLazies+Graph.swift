internal import CTables
internal import Lua
internal import Observables

/// Information about lazy properties for `obs.graph`.
extension ScriptLazies {
  /// The dependencies that the declaration of a lazy property names; does not start observing any
  /// object.
  func declaredDependencies(of lazy: WatcherRef) -> [DeclaredDependency] {
    let L = state.stack
    guard L.hasRoom(for: 16) else { return [] }
    let height = L.height
    defer { L.height = height }
    clua_lazy_pushdeclaration(L.pointer, lazy.number)
    guard L.isTable(at: -1) else { return [] }
    var dependencies: [DeclaredDependency] = []
    for position in stride(from: 1, through: L.rawLength(at: height + 1), by: 1) {
      defer { L.height = height + 1 }
      let isForeign = L.rawGet(index: position, at: height + 1) == .table
      if isForeign {
        L.rawGet(index: 1, at: -1)
        L.rawGet(index: 2, at: -2)
      }
      guard let path = try? arguments.path(at: -1, of: L, "graph", argument: 3) else { continue }
      dependencies.append(
        .init(
          path: path, root: isForeign ? host.tables.knownNode(at: height + 3, of: L) : nil,
          isForeign: isForeign))
    }
    return dependencies
  }
}
