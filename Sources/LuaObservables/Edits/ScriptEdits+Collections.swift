internal import Lua
internal import Observables

/// Edits of Swift collections; positions count from 1.
extension ScriptEdits {
  /// Pushes the edits since a position of the collection's journal. [-0, +1, -]
  func pushCollectionEdits(
    of node: NodeRef, since position: Int, to L: LuaStack
  ) throws(LuaError) {
    let collection = node.model as? any DynamicCollection
    try push(collection?.dynamicEdits(since: position) ?? [], of: collection, to: L)
  }

  /// Pushes an insertion for each present element. [-0, +1, -]
  func pushCollectionInserts(of node: NodeRef, to L: LuaStack) throws(LuaError) {
    let collection = node.model as? any DynamicCollection
    try push(collection?.dynamicInserts ?? [], of: collection, to: L)
  }

  private func push(
    _ edits: [DynamicEdit], of collection: (any DynamicCollection)?, to L: LuaStack
  ) throws(LuaError) {
    try state.pushTable(elements: edits.count, to: L)
    let (list, isArray) = (L.height, collection is any DynamicArray)
    for (position, edit) in edits.enumerated() {
      try pushEdit(edit.kind.rawValue, to: L) { L throws(LuaError) in
        let index = isArray ? edit.at as? Int : nil
        let fields: [(String, Any?)] = [
          ("at", index.map { $0 + 1 } ?? edit.at), ("from", edit.from.map { $0 + 1 }),
          ("old", edit.old), ("new", edit.new),
        ]
        for (field, value) in fields {
          guard let value else { continue }
          try host.objects.push(value: value, to: L)
          try state.setField(field, of: L)
        }
      }
      try add(position + 1, to: list, L)
    }
  }
}
