/// A dictionary that can be observed by key path: its keys, even before they exist, its size, and
/// the values of operators over it (C5).
///
/// It is a class, used like the standard library's `Dictionary`. In a path, a name is the text of a
/// `String` key. ``Path/Component/key(_:)`` makes components for other keys, and `count` is the
/// size. Copies and encoded dictionaries are not observed (L7). The dictionary is confined to the
/// thread of the loop that observes it.
///
/// Operations have the same complexity as in `Dictionary`. Reporting an operation adds O(changed
/// keys). Operations that take several entries at once look at all of them.
public final class ObservableDictionary<Key: Hashable, Value>: ObservableCollection {
  // Methods that read or write one key are inlined: a call of unspecialized code takes ten times as
  // long.
  @usableFromInline @exclusivity(unchecked) var storage: [Key: Value]
  @exclusivity(unchecked) var journal: KeyedJournal<Key, Value>?
  @exclusivity(unchecked) var slots = KeyedSlots<Key>()
  @exclusivity(unchecked) private var knownTraits: ElementTraits<Value>?

  /// Makes an empty dictionary.
  public override init() {
    storage = [:]
    super.init()
    answering = self
  }

  /// Makes a dictionary with these entries.
  public init(_ entries: [Key: Value]) {
    storage = entries
    super.init()
    answering = self
  }

  /// A copy of the current entries; it costs nothing until the dictionary is changed (C11).
  public var entries: [Key: Value] {
    access()
    return storage
  }

  /// Makes a dictionary with the same entries, which is not observed.
  public func copy() -> ObservableDictionary { ObservableDictionary(entries) }

  var traits: ElementTraits<Value> {
    if let knownTraits { return knownTraits }
    let traits = ElementTraits<Value>()
    knownTraits = traits
    return traits
  }

  override func detach() {
    super.detach()
    (journal, slots, knownTraits) = (nil, KeyedSlots(), nil)
  }

  // MARK: Entries

  /// The value of a key; assigning nil removes the key.
  @inlinable public subscript(key: Key) -> Value? {
    get {
      access()
      return storage[key]
    }
    set {
      if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
    }
  }

  /// The value of a key, or `value` if the key does not exist; assigning stores a value.
  @inlinable public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
    get { self[key] ?? value() }
    set { updateValue(newValue, forKey: key) }
  }

  /// Stores a value under a key; returns the previous value, if any.
  @discardableResult
  @inlinable public func updateValue(_ value: Value, forKey key: Key) -> Value? {
    let old = storage.updateValue(value, forKey: key)
    if node != nil { changed(key, from: old, to: value) }
    return old
  }

  /// Removes a key; returns its value, if any.
  ///
  /// There is no event if the key does not exist.
  @discardableResult
  @inlinable public func removeValue(forKey key: Key) -> Value? {
    guard let old = storage.removeValue(forKey: key) else { return nil }
    if node != nil { changed(key, from: old, to: nil) }
    return old
  }

  /// Removes all entries, as one event.
  public func removeAll(keepingCapacity: Bool = false) {
    let old = storage
    withExtendedLifetime(old) {
      storage.removeAll(keepingCapacity: keepingCapacity)
      if node != nil { changed(old.map { ($0.key, $0.value, nil) }) }
    }
  }

  /// Adds entries, as one event.
  ///
  /// `combine` decides about keys that exist already. If it throws, nothing is added.
  ///
  /// - Complexity: O(others).
  public func merge(
    _ others: some Sequence<(Key, Value)>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    var merged: [Key: Value] = [:]
    for (key, value) in others {
      if let present = merged[key] ?? storage[key] {
        merged[key] = try combine(present, value)
      } else {
        merged[key] = value
      }
    }
    let changes = merged.map { (key: $0.key, old: storage[$0.key], new: $0.value as Value?) }
    for (key, value) in merged { storage[key] = value }
    if node != nil { changed(changes) }
  }

  /// Adds the entries of a dictionary, as one event.
  ///
  /// - Complexity: O(others).
  public func merge(
    _ others: [Key: Value], uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    try merge(others.lazy.map { ($0.key, $0.value) }, uniquingKeysWith: combine)
  }

  /// Replaces the contents by `entries`, as one event for the keys that differ.
  public func set(_ entries: [Key: Value]) {
    let old = storage
    storage = entries
    guard node != nil else { return }
    var changes: [(Key, Value?, Value?)] = []
    for (key, value) in old where entries[key] == nil { changes.append((key, value, nil)) }
    for (key, value) in entries { changes.append((key, old[key], value)) }
    changed(changes)
  }

  @usableFromInline func changed(_ key: Key, from old: Value?, to new: Value?) {
    changed([(key, old, new)])
  }

  private func changed(_ entries: [(key: Key, old: Value?, new: Value?)]) {
    let traits = traits
    let changes = entries.map { entry in
      let isSame =
        if let old = entry.old, let new = entry.new {
          traits.same(old, new)
        } else {
          entry.old == nil && entry.new == nil
        }
      if !isSame { journal?.record(entry.key, from: entry.old, to: entry.new) }
      return KeyChange(key: entry.key, old: entry.old, new: entry.new, isSame: isSame)
    }
    node?.report(changes, slots)
  }
}

extension ObservableDictionary: Collection {
  /// A position in the dictionary; any change invalidates it.
  public typealias Index = Dictionary<Key, Value>.Index

  /// The position of the first entry; the order is arbitrary.
  public var startIndex: Index {
    access()
    return storage.startIndex
  }
  /// The position after the last entry.
  public var endIndex: Index { storage.endIndex }
  /// The number of entries.
  @inlinable public var count: Int {
    access()
    return storage.count
  }
  /// The position of a key; nil if the key does not exist.
  public func index(forKey key: Key) -> Index? {
    access()
    return storage.index(forKey: key)
  }
  /// The position after `index`.
  public func index(after index: Index) -> Index { storage.index(after: index) }
  /// The entry at a position.
  public subscript(position: Index) -> (key: Key, value: Value) {
    access()
    return storage[position]
  }
  /// The keys, in arbitrary order.
  public var keys: Dictionary<Key, Value>.Keys {
    access()
    return storage.keys
  }
  /// The values, in the order of `keys`.
  public var values: Dictionary<Key, Value>.Values {
    access()
    return storage.values
  }
}

extension ObservableDictionary: ExpressibleByDictionaryLiteral {
  /// Makes a dictionary with these entries.
  public convenience init(dictionaryLiteral elements: (Key, Value)...) {
    self.init(Dictionary(uniqueKeysWithValues: elements))
  }
}

extension ObservableDictionary: CustomStringConvertible {
  /// The entries in the format of `Dictionary`.
  public var description: String { storage.description }
}

extension ObservableDictionary: Equatable where Value: Equatable {
  /// Whether two dictionaries have equal entries.
  public static func == (a: ObservableDictionary, b: ObservableDictionary) -> Bool {
    a === b || a.storage == b.storage
  }
}

extension ObservableDictionary: Encodable where Key: Encodable, Value: Encodable {
  /// Encodes the entries, as `Dictionary` does; observations are not encoded (L7).
  public func encode(to encoder: any Encoder) throws { try storage.encode(to: encoder) }
}

extension ObservableDictionary: Decodable where Key: Decodable, Value: Decodable {
  /// Decodes a dictionary in the format of `Dictionary`.
  public convenience init(from decoder: any Decoder) throws {
    self.init(try [Key: Value](from: decoder))
  }
}
