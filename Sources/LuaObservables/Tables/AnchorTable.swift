internal import CLua
internal import Lua
internal import Observables

/// Keeps observed tables alive between a write and its flush (L2).
///
/// Anchors are slots of one Lua table, so that anchoring allocates nothing once it has enough
/// slots.
final class AnchorTable {
  @exclusivity(unchecked) private(set) var reference: CInt = 0
  @exclusivity(unchecked) private var free: [CInt] = []
  @exclusivity(unchecked) private var capacity: CInt = 0

  func install(_ state: LuaState, _ L: LuaStack) throws(LuaError) {
    reference = try state.makeReference(L)
  }

  /// Pops an object and keeps it alive; returns 0 if there is no memory for another slot. [-1, +0,
  /// -]
  func keep(_ L: LuaStack) -> Int {
    if free.isEmpty {
      let (first, last) = (capacity + 1, max(64, capacity * 2))
      guard clua_try_growpins(L.pointer, reference, first, last) == LUA_OK else {
        L.pop(2)
        return 0
      }
      capacity = last
      free.append(contentsOf: (first...last).reversed())
    }
    let slot = free.removeLast()
    clua_setpin(L.pointer, reference, slot)
    return Int(slot)
  }

  /// Pushes the object in a slot. [-0, +1, -]
  func push(_ slot: Int, to L: LuaStack) { clua_pushpin(L.pointer, reference, CInt(slot)) }

  func release(_ slot: Int, _ L: LuaStack) {
    if slot == 0 { return }
    L.push(false)
    clua_setpin(L.pointer, reference, CInt(slot))
    free.append(CInt(slot))
  }
}
