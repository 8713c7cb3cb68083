/// The dictionary in the form that a bridge uses.
extension ObservableDictionary: DynamicDictionary {
  package var keyType: Any.Type { Key.self }
  package var elementType: Any.Type { Value.self }

  package var dynamicEntries: [(key: Any, value: Any?)] {
    map { (key: $0.key, value: flattened($0.value)) }
  }

  package func dynamicEdits(since position: Int) -> [DynamicEdit] {
    (journal?.edits(since: position, same: traits.same) ?? []).map { DynamicEdit($0) }
  }

  package func dynamicRemoveAll() { removeAll() }

  package func fitKey(_ candidates: [Any?]) -> Any? { first(candidates, as: Key.self) }
  package func fit(_ candidates: [Any?]) -> Any? { first(candidates, as: Value.self) }

  package func dynamicValue(of key: Any) -> Any? { self[key as! Key].flatMap { flattened($0) } }

  package func dynamicSet(_ value: Any?, of key: Any) {
    if let value {
      updateValue(value as! Value, forKey: key as! Key)
    } else {
      removeValue(forKey: key as! Key)
    }
  }

  package func dynamicAssign(_ entries: [(key: Any, value: Any)]) {
    set(
      Dictionary(
        entries.map { ($0.key as! Key, $0.value as! Value) }, uniquingKeysWith: { $1 }))
  }
}
