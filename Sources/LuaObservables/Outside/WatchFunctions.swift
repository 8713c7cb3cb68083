internal import CLua
import LibC
internal import Lua
internal import Observables

/// The watched paths of `obs.io.watch`, which share a descriptor.
final class WatchFunctions: ModuleSlice {
  private var watch: FileWatch?

  override var functions: [NamedFunction] {
    [
      .init(.io, "watch", add),
      .init(
        .io, "unwatch",
        { [self] L in
          watch?.remove(state.text(at: 1, of: L)); return 0
        }
      ),
      .init(.io, "changes", changes),
    ]
  }

  override func end() { watch = nil }

  /// watch(path) → the absolute path, and the descriptor to wait for; or nil and a message.
  private func add(_ L: LuaStack) throws -> CInt {
    if watch == nil { watch = FileWatch(isDetailed: true) }
    guard let watch, let path = watch.add(state.text(at: 1, of: L)) else {
      let message = String(cString: strerror(errno))
      L.pushNil()
      try state.push(text: message, to: L)
      return 2
    }
    try state.push(text: path, to: L)
    L.push(Int(watch.descriptor))
    return 2
  }

  /// changes() → for each change, the watched path and the name of the entry, or an empty text;
  /// both end with a zero.
  private func changes(_ L: LuaStack) throws -> CInt {
    let changes = watch?.takeChanges() ?? []
    let texts = changes.map { "\($0.watched)\0\($0.entry ?? "")\0" }
    try state.push(text: texts.sorted().joined(), to: L)
    return 1
  }
}
