/// The set in the form that a bridge uses.
extension ObservableSet: DynamicSet {
  package var elementType: Any.Type { Element.self }

  package var dynamicEntries: [(key: Any, value: Any?)] { map { (key: $0, value: flattened($0)) } }

  package func dynamicEdits(since position: Int) -> [DynamicEdit] {
    (journal?.edits(since: position, same: traits.same) ?? []).map { DynamicEdit($0) }
  }

  package func dynamicRemoveAll() { removeAll() }

  package func fit(_ candidates: [Any?]) -> Any? { first(candidates, as: Element.self) }
  package func dynamicContains(_ member: Any) -> Bool { contains(member as! Element) }
  package func dynamicInsert(_ member: Any) -> Bool { insert(member as! Element).inserted }
  package func dynamicRemove(_ member: Any) -> Bool { remove(member as! Element) != nil }
  package func dynamicAssign(_ members: [Any]) { set(members.map { $0 as! Element }) }

  package func dynamicName(of member: Any) -> String { key(of: member as! Element).description }

  package func dynamicObject(named text: String) -> Any? {
    guard let path = try? Path(text), path.components.count == 1 else { return nil }
    return object(for: path.components[0]).flatMap { flattened($0) }
  }
}
