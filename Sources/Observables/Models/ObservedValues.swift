/// The old and new value of a write to a Swift object, during the write or saved for later.
struct ObservedValues {
  enum Key {
    /// A property of a model, by its slot.
    case property(Int)
    /// A position in an array.
    case index(Int)
    /// A key of a dictionary, or a member of a set.
    case value(AnyHashable)
    /// Many keys at once.
    case everything
  }

  let key: Key
  let old: Any?
  let new: Any?
  /// Other values that the operation inserted; transactions cover objects among them.
  var also: [Any] = []

  /// The key in the form in which an immediate watcher receives it.
  func name(in kind: NodeKind) -> String {
    switch key {
    case .property(let slot): (kind as? ModelKind)?.properties.names[slot] ?? "*"
    case .index(let index): "\(index)"
    case .value(let value): "\(value)"
    case .everything: "*"
    }
  }
}

extension Change {
  /// The key and the values of the write, if a Swift object reported it with values.
  var observedValues: ObservedValues? {
    values?.assumingMemoryBound(to: ObservedValues.self).pointee
  }
}

extension NodeKind {
  /// Calls `visit` with the objects that a write to a Swift object has inserted.
  ///
  /// - Returns: false if the write does not report its values.
  func visitArrivals(_ change: Change, _ visit: (NodeRef) -> Void) -> Bool {
    guard let values = change.observedValues else { return false }
    // The value may be a table of a script, too.
    for value in [values.new].compactMap({ $0 }) + values.also {
      if case .node(let node) = observedNode(of: value, in: change.node.engine) { visit(node) }
    }
    return true
  }
}

/// A write to a Swift object, in a form that does not need the object.
package struct ModelWrite {
  /// The key as text.
  package let key: String
  /// The position in an array, counted from 0; nil for all other keys.
  package let index: Int?
  /// The key of a dictionary or the member of a set; nil for all other keys.
  package let value: AnyHashable?
  package let old: Any?
  package let new: Any?

  /// Describes a write that is under way; if it is reported without values, only its key is known.
  package init(_ change: Change) {
    let kind = change.node.kind
    let values = change.observedValues
    self.init(
      values ?? ObservedValues(key: .everything, old: nil, new: nil),
      key: values?.name(in: kind) ?? change.slot.map { kind.name(of: $0) } ?? "*")
  }

  init(_ values: ObservedValues, key: String) {
    (self.key, old, new) = (key, values.old, values.new)
    switch values.key {
    case .index(let index): (self.index, value) = (index, nil)
    case .value(let key): (index, value) = (nil, key)
    case .property, .everything: (index, value) = (nil, nil)
    }
  }
}

/// A write to a Swift object that is saved for later.
package final class SavedWrite {
  package let write: ModelWrite
  package init(_ write: ModelWrite) { self.write = write }
}

extension NodeRef {
  /// The Swift object that is observed here; nil if another thread has released it.
  ///
  /// The node must belong to a Swift object and must not be dead.
  package var model: AnyObject? { kind.object(of: self)?.takeUnretainedValue() }
}
