/// A collection in the form that a bridge to another language uses, without knowing its types.
///
/// `fit` makes values of the right type. It takes the values that a foreign value can represent,
/// the most natural first, and returns the first one of the right type, or nil. Its result can be
/// passed to the other methods.
package protocol DynamicCollection: ObservableCollection {
  /// The number of elements, entries or members.
  var valueCount: Int { get }
  /// The type of the elements or members, or of a dictionary's values.
  var elementType: Any.Type { get }
  func fit(_ candidates: [Any?]) -> Any?
  /// All contents; an array's keys are the indices, and a set's keys are the members.
  var dynamicEntries: [(key: Any, value: Any?)] { get }
  /// The edits since a position of the journal, the oldest first.
  func dynamicEdits(since position: Int) -> [DynamicEdit]
  /// Removes all contents, as one event.
  func dynamicRemoveAll()
}

/// One edit of a collection whose types are not known.
package struct DynamicEdit {
  package enum Kind: String { case insert, remove, replace, move }

  package let kind: Kind
  /// The index, the key, or the member.
  package let at: Any
  /// The index from which a move takes its element.
  package var from: Int?
  package var old: Any?
  package var new: Any?

  init(_ kind: Kind, at: Any, from: Int? = nil, old: Any? = nil, new: Any? = nil) {
    (self.kind, self.at, self.from) = (kind, at, from)
    (self.old, self.new) = (old.flatMap { flattened($0) }, new.flatMap { flattened($0) })
  }

  init<Key, Value>(_ edit: KeyedEdit<Key, Value>) {
    let kind: Kind = edit.old == nil ? .insert : edit.new == nil ? .remove : .replace
    self.init(kind, at: edit.key, old: edit.old, new: edit.new)
  }
}

/// An array whose element type is not known.
///
/// The caller checks indices.
package protocol DynamicArray: DynamicCollection {
  func dynamicElement(at index: Int) -> Any?
  func dynamicInsert(_ elements: [Any], at index: Int)
  func dynamicReplace(at index: Int, with element: Any)
  func dynamicRemove(at index: Int) -> Any?
  func dynamicIndex(of element: Any) -> Int?
  func dynamicSet(_ elements: [Any])
  /// Arranges the elements in the order of these indices, which are a permutation, as one event.
  func dynamicArrange(_ order: [Int])
  func move(from: Int, to: Int)
  func swapAt(_ a: Int, _ b: Int)
  func reverse()
}

/// A dictionary whose types are not known.
package protocol DynamicDictionary: DynamicCollection {
  var keyType: Any.Type { get }
  func fitKey(_ candidates: [Any?]) -> Any?
  func dynamicValue(of key: Any) -> Any?
  /// Stores a value that fits; nil removes the key.
  func dynamicSet(_ value: Any?, of key: Any)
  func dynamicAssign(_ entries: [(key: Any, value: Any)])
}

/// A set whose element type is not known.
package protocol DynamicSet: DynamicCollection {
  func dynamicContains(_ member: Any) -> Bool
  func dynamicInsert(_ member: Any) -> Bool
  func dynamicRemove(_ member: Any) -> Bool
  func dynamicAssign(_ members: [Any])
  /// The text that represents a member in a key path; the member doesn't have to be in the set.
  func dynamicName(of member: Any) -> String
  func dynamicObject(named text: String) -> Any?
}

extension DynamicCollection {
  /// An insertion for each element, entry or member.
  package var dynamicInserts: [DynamicEdit] {
    dynamicEntries.map { DynamicEdit(.insert, at: $0.key, new: $0.value) }
  }

  /// The first candidate that is a `Value`.
  func first<Value>(_ candidates: [Any?], as type: Value.Type) -> Any? {
    for case let candidate? in candidates {
      if let value = candidate as? Value { return .some(value) }
    }
    return nil
  }
}
