/// The object in the form that a bridge uses: a dictionary of the loaded properties.
extension DictionaryModel: DynamicDictionary {
  package var keyType: Any.Type { String.self }
  package var elementType: Any.Type { Value.self }
  package var dynamicEntries: [(key: Any, value: Any?)] {
    loaded.map { (key: $0.name, value: flattened($0.value)) }
  }
  package func dynamicEdits(since position: Int) -> [DynamicEdit] { [] }
  package func dynamicRemoveAll() { for (name, _) in loaded { self[name] = nil } }
  package func fitKey(_ candidates: [Any?]) -> Any? { first(candidates, as: String.self) }
  package func fit(_ candidates: [Any?]) -> Any? { first(candidates, as: Value.self) }
  package func dynamicValue(of key: Any) -> Any? {
    self[key as! String].flatMap { flattened($0) }
  }
  package func dynamicSet(_ value: Any?, of key: Any) {
    self[key as! String] = value.map { $0 as! Value }
  }
  package func dynamicAssign(_ entries: [(key: Any, value: Any)]) {
    let wanted = Dictionary(entries.map { ($0.key as! String, $0.value) }) { $1 }
    for (name, _) in loaded where wanted[name] == nil { self[name] = nil }
    for (name, value) in wanted { self[name] = (value as! Value) }
  }
}
