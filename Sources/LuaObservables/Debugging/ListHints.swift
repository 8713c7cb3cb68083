internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Hints about names over plain lists: `items.lit` means a key of the list, but probably the key of
/// the elements was meant (C8).
struct ListHints {
  // The host is not retained: this value is only used within one call of it.
  private let reference: Unmanaged<LuaHost>
  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  /// A hint about a path on which a watcher is never notified; otherwise nil.
  ///
  /// - Complexity: O(components of the path).
  func hint(for path: Path, from root: NodeRef) -> String? {
    let L = host.state.stack
    guard host.observed.isTable(root), L.hasRoom(for: 12) else { return nil }
    let height = L.height
    defer { L.height = height }
    host.observed.push(root, to: L)
    for (step, component) in path.components.enumerated() {
      guard L.isTable(at: -1), clua_collection_kind(L.pointer, -1) == CLUA_KIND_PLAIN,
        [.name, .key, .element, .slot].contains(component.kind),
        (try? host.paths.pushKey(step, of: path, to: L)) != nil
      else { return nil }
      L.pushCopy(at: -1)
      L.getInherited(at: height + 1)
      if component.kind == .name, L.isNil(at: -1) {
        return isKeyOfElement(height + 2, in: height + 1, L) ? hint(path, step) : nil
      }
      L.copy(from: -1, to: height + 1)
      L.height = height + 1
    }
    return nil
  }

  /// Whether the first element of the list at `list` has a value under the key at `key`, and the
  /// list has no lazy property of this name. [-0, +0, -]
  private func isKeyOfElement(_ key: CInt, in list: CInt, _ L: LuaStack) -> Bool {
    let height = L.height
    defer { L.height = height }
    if let node = clua_node_at(L.pointer, list), clua_node_islazy(L.pointer, node, key) {
      return false
    }
    L.push(1)
    L.getOwn(at: list)
    guard L.isTable(at: -1) else { return false }
    L.pushCopy(at: key)
    return L.getInherited(at: -2) != .nil
  }

  private func hint(_ path: Path, _ step: Int) -> String {
    var components = path.components
    components.insert(Path.Component(kind: .every, bytes: Array("*".utf8)), at: step)
    return """
      '\(path)' names a key of a plain list, but its elements have this key: \
      '\(Path(components: components))' names the elements' key
      """
  }

  /// Reports the hints about newly registered paths.
  func warn(of watcher: WatcherRef, _ L: LuaStack) {
    guard let root = watcher.pointee.root else { return }
    for path in host.engine.inspection.paths(of: watcher) {
      guard let hint = hint(for: path, from: root) else { continue }
      lua_warning(L.pointer, "\(host.sources.text(watcher.script.pointee.site)): \(hint)", 0)
    }
  }

  /// The hints for all paths of a watcher.
  func hints(for watcher: WatcherRef) -> [String] {
    guard let root = watcher.pointee.root else { return [] }
    return host.engine.inspection.paths(of: watcher).compactMap { hint(for: $0, from: root) }
  }
}
