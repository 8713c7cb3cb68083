/// The old and new value of a write to a Swift object, while it lasts or kept for later.
struct ObservedValues {
  /// The key that was written.
  enum Key {
    /// A property of a model, by its slot.
    case property(Int)
    /// A place in an array.
    case index(Int)
    /// A key of a dictionary, a member of a set.
    case value(AnyHashable)
    /// Many keys at once.
    case everything
  }

  let key: Key
  let old: Any?
  let new: Any?
  /// The other values that the operation put in: transactions cover objects among them.
  var also: [Any] = []

  /// The key as it is delivered to an immediate watcher.
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
  /// The key and the values of the write, where a Swift object reported it with values.
  var observedValues: ObservedValues? {
    values?.assumingMemoryBound(to: ObservedValues.self).pointee
  }
}

extension NodeKind {
  /// Calls `visit` with the objects that a write to a Swift object has put in.
  ///
  /// - Returns: false if the write does not report its values.
  func visitArrivals(_ change: Change, _ visit: (NodeRef) -> Void) -> Bool {
    guard let values = change.observedValues else { return false }
    // A table of a script may have arrived, too.
    for value in [values.new].compactMap({ $0 }) + values.also {
      if case .node(let node) = observedNode(of: value, in: change.node.engine) { visit(node) }
    }
    return true
  }
}

/// The write of a Swift object, in a form that does not need the object.
package struct ModelWrite {
  /// The key as text.
  package let key: String
  /// The place in an array, counted from 0; nil where the key is another one.
  package let index: Int?
  /// The key of a dictionary or the member of a set; nil where the key is another one.
  package let value: AnyHashable?
  package let old: Any?
  package let new: Any?

  /// A write that is under way; without values its key alone is known.
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

/// A write of a Swift object that is kept for later.
package final class SavedWrite {
  package let write: ModelWrite
  package init(_ write: ModelWrite) { self.write = write }
}

extension NodeRef {
  /// The Swift object that is observed here; the node must be that of a Swift object, and not dead.
  ///
  /// nil where another thread has released it.
  package var model: AnyObject? { kind.object(of: self)?.takeUnretainedValue() }
}
