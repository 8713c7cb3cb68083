/// An object of a tree as it was at some time: what it is, and its contents.
///
/// Entries stand for objects in comparisons, so that these keep no object, and an object at the
/// address of one that is gone is another one.
final class TreeEntry {
  /// The object; nil when it is gone.
  weak var object: AnyObject?
  fileprivate let identifier: ObjectIdentifier
  var contents: TreeContents
  /// Whether the contents were read.
  var isRead = false

  init(_ object: AnyObject, _ contents: TreeContents = TreeContents(shape: .model(""))) {
    (self.object, self.contents) = (object, contents)
    identifier = ObjectIdentifier(object)
  }
}

extension TreeEntry: Hashable {
  static func == (a: TreeEntry, b: TreeEntry) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What is stored under a key: an object that changes go into, or a value.
enum TreeValue {
  case object(TreeEntry)
  case plain(ChangeValue)

  var entry: TreeEntry? { if case .object(let entry) = self { entry } else { nil } }

  static func areSame(_ a: TreeValue, _ b: TreeValue) -> Bool {
    switch (a, b) {
    case (.object(let a), .object(let b)): a === b
    case (.plain(let a), .plain(let b)): a == b
    default: false
    }
  }

  static func areSame(_ a: TreeValue?, _ b: TreeValue?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return areSame(a, b)
  }
}

/// The contents of an object: a copy of what is stored in it.
struct TreeContents {
  enum Shape: Equatable {
    case model(String)
    case array, dictionary, set
  }

  var shape: Shape
  var list: [TreeValue] = []
  var fields: [DeepChange.Key: TreeValue] = [:]
  var members: [AnyHashable: ChangeValue] = [:]

  /// The model that a change of data names; nil for a collection.
  var model: String? { if case .model(let name) = shape { name } else { nil } }

  var type: DeepChange.CollectionType? {
    switch shape {
    case .model: nil
    case .array: .array
    case .dictionary: .dictionary
    case .set: .set
    }
  }

  /// The keys of the fields, in an order that is the same each time.
  var keys: [DeepChange.Key] { fields.keys.sorted { $0.description < $1.description } }

  /// Each object with its key, in order.
  func forEachObject(_ body: (DeepChange.Key, TreeEntry) -> Void) {
    for (index, value) in list.enumerated() {
      if let entry = value.entry { body(.index(index + 1), entry) }
    }
    for key in keys {
      if let entry = fields[key]?.entry { body(key, entry) }
    }
  }

  subscript(key: DeepChange.Key) -> TreeValue? {
    if shape == .array {
      guard case .index(let position) = key, list.indices.contains(position - 1) else { return nil }
      return list[position - 1]
    }
    return fields[key]
  }

  static func areSame(_ a: TreeContents, _ b: TreeContents) -> Bool {
    guard a.list.count == b.list.count, a.fields.count == b.fields.count,
      a.members.count == b.members.count
    else { return false }
    return zip(a.list, b.list).allSatisfy(TreeValue.areSame)
      && a.fields.allSatisfy { key, value in
        b.fields[key].map { TreeValue.areSame(value, $0) } ?? false
      }
      && a.members.keys.allSatisfy { b.members[$0] != nil }
  }
}

/// Reads the contents of objects, and has an entry for each object that it met.
struct TreeReader {
  private var entries: [ObjectIdentifier: TreeEntry] = [:]

  /// The entry of an object; `isNew` where its contents are not read yet.
  mutating func entry(of object: AnyObject) -> (entry: TreeEntry, isNew: Bool) {
    let key = ObjectIdentifier(object)
    if let known = entries[key], known.object === object { return (known, false) }
    let entry = TreeEntry(object)
    entries[key] = entry
    return (entry, true)
  }

  func known(_ object: AnyObject) -> TreeEntry? {
    entries[ObjectIdentifier(object)].flatMap { $0.object === object ? $0 : nil }
  }

  mutating func forget(_ entry: TreeEntry) {
    if entries[entry.identifier] === entry { entries[entry.identifier] = nil }
  }

  /// The contents of an object as they are now.
  mutating func contents(of object: AnyObject) -> TreeContents {
    if let array = object as? any DynamicArray {
      return TreeContents(shape: .array, list: array.dynamicEntries.map { value(of: $0.value) })
    }
    if let dictionary = object as? any DynamicDictionary {
      var contents = TreeContents(shape: .dictionary)
      for (key, value) in dictionary.dynamicEntries where value != nil {
        if let key = DeepChange.Key(key) { contents.fields[key] = self.value(of: value) }
      }
      return contents
    }
    if let set = object as? any DynamicSet {
      var contents = TreeContents(shape: .set)
      for (member, _) in set.dynamicEntries {
        if let key = member as? AnyHashable { contents.members[key] = ChangeValue(member) }
      }
      return contents
    }
    guard let model = object as? any ObservableModel else {
      return TreeContents(shape: .model("\(type(of: object))"))
    }
    let properties = type(of: model).properties
    var contents = TreeContents(shape: .model(properties.typeName))
    for (slot, name) in properties.names.enumerated() {
      guard let read = properties.plainRead(slot), let value = try? read(object),
        let value = flattened(value)
      else { continue }
      contents.fields[.name(name)] = self.value(of: value)
    }
    return contents
  }

  private mutating func value(of value: Any?) -> TreeValue {
    guard let value else { return .plain(.native(Optional<Any>.none as Any)) }
    if isTreeObject(value) { return .object(entry(of: value as AnyObject).entry) }
    return .plain(ChangeValue(value))
  }
}

/// Whether a value is an object that changes go into.
func isTreeObject(_ value: Any) -> Bool {
  type(of: value) is AnyClass && (value is any ObservableModel || value is any DynamicCollection)
}

extension DeepChange.Key {
  /// The key of a dictionary; nil for one that data cannot spell.
  init?(_ key: Any) {
    switch ChangeValue(key) {
    case .text(let name): self = .name(name)
    case .integer(let number): self = .index(number)
    case .number(let number): self = .number(number)
    case .boolean(let flag): self = .boolean(flag)
    default: return nil
    }
  }

  /// The key as a value of the program.
  var value: ChangeValue {
    switch self {
    case .name(let name): .text(name)
    case .index(let number): .integer(number)
    case .number(let number): .number(number)
    case .boolean(let flag): .boolean(flag)
    }
  }
}
