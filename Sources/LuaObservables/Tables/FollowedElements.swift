internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The list elements that digits in key paths follow (C4).
///
/// Each has an anchor number. Its list keeps it, and not the registry, as it may hold the list.
final class FollowedElements {
  private let observed: ObservedObjects
  private let state: LuaState
  /// The position where each anchor's element was last seen; the search begins there.
  private var positions: [Int: lua_Integer] = [:]
  private var lastAnchor = 0

  init(_ host: LuaHost) { (observed, state) = (ObservedObjects(host), host.state) }

  private var L: LuaStack { state.stack }

  /// The key under which a list keeps an element.
  private static func key(_ anchor: Int) -> lua_Integer { -1 - lua_Integer(anchor) }

  /// Follows the element on top of the stack, at `position` in the list of `node`; returns its
  /// anchor number. [-1, +0, -]
  func follow(_ position: lua_Integer, of node: NodeRef) throws(LuaError) -> Int {
    lastAnchor += 1
    let anchor = lastAnchor
    try observed.keep(FollowedElements.key(anchor), of: node, L)
    positions[anchor] = position
    return anchor
  }

  /// Whether the element is still in its list; the search goes outwards from its last position.
  ///
  /// - Complexity: O(distance that it moved); O(elements) if it has left.
  func isThere(_ anchor: Int, in node: NodeRef) -> Bool {
    let L = L
    let height = L.height
    defer { L.height = height }
    guard let position = positions[anchor], L.hasRoom(for: 12) else { return false }
    push(anchor, of: node, to: L)
    clua_node_pushtable(L.pointer, TableKind.table(node))
    guard L.isTable(at: -1) else { return true }
    let found = clua_find(L.pointer, height + 2, height + 1, position)
    if found > 0 { positions[anchor] = found }
    return found > 0
  }

  /// Pushes the element. [-0, +1, -]
  func push(_ anchor: Int, of node: NodeRef, to L: LuaStack) {
    observed.pushKept(FollowedElements.key(anchor), of: node, to: L)
  }

  /// The change that a watcher gets after the element has left.
  func departure(_ anchor: Int, from node: NodeRef) -> SavedChange {
    let L = L
    push(anchor, of: node, to: L)
    defer { L.pop() }
    let old = (try? state.value(at: -1, of: L)) ?? .nil
    return SavedChange(
      key: .integer(lua_Integer(positions[anchor] ?? 0)), old: old, new: .nil)
  }

  /// Stops following the element; `isClosed`: the list no longer exists.
  func release(_ anchor: Int, of node: NodeRef, isClosed: Bool) {
    positions[anchor] = nil
    if !isClosed { observed.forget(FollowedElements.key(anchor), of: node, L) }
  }
}
