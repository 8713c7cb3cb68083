/// The array in the form that a bridge uses.
extension ObservableArray: DynamicArray {
  package var elementType: Any.Type { Element.self }

  package var dynamicEntries: [(key: Any, value: Any?)] {
    storage.enumerated().map { (key: $0.offset, value: flattened($0.element)) }
  }

  package func dynamicEdits(since position: Int) -> [DynamicEdit] {
    let edits =
      journal?.edits(since: position, current: { storage }, same: traits.same) ?? []
    return edits.map { edit in
      switch edit {
      case .insert(let element, let index): DynamicEdit(.insert, at: index, new: element)
      case .remove(let element, let index): DynamicEdit(.remove, at: index, old: element)
      case .replace(let old, let new, let index):
        DynamicEdit(.replace, at: index, old: old, new: new)
      case .move(let element, let from, let index):
        DynamicEdit(.move, at: index, from: from, new: element)
      }
    }
  }

  package func dynamicRemoveAll() { removeAll() }

  package func fit(_ candidates: [Any?]) -> Any? { first(candidates, as: Element.self) }

  package func dynamicElement(at index: Int) -> Any? { flattened(storage[index]) }

  package func dynamicInsert(_ elements: [Any], at index: Int) {
    insert(contentsOf: elements.map { $0 as! Element }, at: index)
  }

  package func dynamicReplace(at index: Int, with element: Any) {
    self[index] = element as! Element
  }

  package func dynamicRemove(at index: Int) -> Any? { flattened(remove(at: index)) }

  package func dynamicIndex(of element: Any) -> Int? {
    let (same, element) = (traits.same, element as! Element)
    return storage.firstIndex { same($0, element) }
  }

  package func dynamicSet(_ elements: [Any]) { set(elements.map { $0 as! Element }) }

  package func dynamicArrange(_ order: [Int]) { arrange(order) }
}
