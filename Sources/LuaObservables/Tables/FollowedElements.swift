internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// The elements of lists that digits in key paths follow (C4): each is known by the number of an
/// anchor, and kept by its list, not by the registry, as it may hold the list.
final class FollowedElements {
  private let observed: ObservedObjects
  private let state: LuaState
  /// By anchor: the position where the element was seen last, from which it is looked for.
  private var positions: [Int: lua_Integer] = [:]
  private var lastAnchor = 0

  init(_ host: LuaHost) { (observed, state) = (ObservedObjects(host), host.state) }

  private var L: LuaStack { state.stack }

  /// The key under which a list keeps an element.
  private static func key(_ anchor: Int) -> lua_Integer { -1 - lua_Integer(anchor) }

  /// Follows the element on top of the stack, which is at `position` of the list of `node`; the
  /// number of its anchor.
  ///
  /// [-1, +0, -]
  func follow(_ position: lua_Integer, of node: NodeRef) throws(LuaError) -> Int {
    lastAnchor += 1
    let anchor = lastAnchor
    try observed.keep(FollowedElements.key(anchor), of: node, L)
    positions[anchor] = position
    return anchor
  }

  /// Whether the element is still in its list; it is looked for from its last position outwards.
  ///
  /// - Complexity: O(distance that it moved); O(elements) where it left.
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

  /// The change that a watcher is given when the element has left.
  func departure(_ anchor: Int, from node: NodeRef) -> SavedChange {
    let L = L
    push(anchor, of: node, to: L)
    defer { L.pop() }
    let old = (try? state.value(at: -1, of: L)) ?? .nil
    return SavedChange(
      key: .integer(lua_Integer(positions[anchor] ?? 0)), old: old, new: .nil)
  }

  /// Follows the element no longer; `isClosed`: there is no list any more.
  func release(_ anchor: Int, of node: NodeRef, isClosed: Bool) {
    positions[anchor] = nil
    if !isClosed { observed.forget(FollowedElements.key(anchor), of: node, L) }
  }
}
