/// An object of a tree at some time: its identity and its contents.
///
/// Comparisons use entries instead of objects. So a shadow keeps no object alive, and a new object
/// at the address of an old one counts as different.
package final class TreeEntry {
  /// The object; nil if it is gone.
  package var object: AnyObject? { kept ?? reference }
  private weak var reference: AnyObject?
  /// The object of an entry that keeps it alive.
  private let kept: AnyObject?
  /// The node by which a table is followed.
  fileprivate var node: NodeRef?
  fileprivate let identifier: ObjectIdentifier
  var contents: TreeContents
  /// Whether the contents were read.
  var isRead = false

  init(_ object: AnyObject, keepsObject: Bool) {
    kept = keepsObject ? object : nil
    // A weak reference makes each later use of the object slower.
    if !keepsObject { reference = object }
    contents = TreeContents(shape: .model(""))
    identifier = ObjectIdentifier(object)
  }

  /// The table; nil for a Swift object.
  fileprivate var table: (any TreeTable)? { (kept as? TableObject)?.table }
}

extension TreeEntry: Hashable {
  package static func == (a: TreeEntry, b: TreeEntry) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A stored value: an object that changes go into, or any other value.
package enum TreeValue {
  case object(TreeEntry)
  case plain(ChangeValue)

  /// A nil element.
  static var nothing: TreeValue { .plain(.native(Optional<Any>.none as Any)) }

  var entry: TreeEntry? { if case .object(let entry) = self { entry } else { nil } }
  /// Whether it is an object that is gone.
  var isGone: Bool { entry.map { $0.object == nil } ?? false }

  package static func areSame(_ a: TreeValue, _ b: TreeValue) -> Bool {
    switch (a, b) {
    case (.object(let a), .object(let b)): a === b
    case (.plain(let a), .plain(let b)): a == b
    default: false
    }
  }

  package static func areSame(_ a: TreeValue?, _ b: TreeValue?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return areSame(a, b)
  }

  /// Whether both are the same and of the same type of number: 1 and 1.0 are not alike.
  static func areAlike(_ a: TreeValue?, _ b: TreeValue?) -> Bool {
    switch (a, b) {
    case (.plain(.integer)?, .plain(.number)?), (.plain(.number)?, .plain(.integer)?): false
    default: areSame(a, b)
    }
  }
}

/// The contents of an object: a copy of its stored values.
package struct TreeContents {
  package enum Shape: Equatable {
    case model(String)
    case array, dictionary, set
    /// A plain table, which is a list and has fields.
    case table
  }

  package let shape: Shape
  /// Whether this is a table of a script.
  let isTable: Bool
  /// Whether 1…n are no list, because integer keys follow behind a hole.
  let isSparse: Bool
  package let list: [TreeValue]
  package let fields: [DeepChange.Key: TreeValue]
  package let members: [AnyHashable: ChangeValue]
  /// The keys of the fields that hold objects, in a stable order.
  private let objectKeys: [DeepChange.Key]

  package init(
    shape: Shape, list: [TreeValue] = [], fields: [DeepChange.Key: TreeValue] = [:],
    members: [AnyHashable: ChangeValue] = [:], isTable: Bool = false, isSparse: Bool = false
  ) {
    (self.shape, self.list, self.fields, self.members) = (shape, list, fields, members)
    (self.isTable, self.isSparse) = (isTable, isSparse)
    var keys: [DeepChange.Key] = []
    for (key, value) in fields where value.entry != nil { keys.append(key) }
    objectKeys = DeepChange.Key.sorted(keys)
  }

  /// The model's name for a change that contains it as data; nil for a collection.
  var model: String? { if case .model(let name) = shape { name } else { nil } }

  var type: DeepChange.CollectionType? {
    switch shape {
    case .model, .table: nil
    case .array: .array
    case .dictionary: .dictionary
    case .set: .set
    }
  }

  /// The number of elements at the beginning and at the end of a list.
  typealias Ends = (head: Int, tail: Int)

  var hasObjects: Bool { !objectKeys.isEmpty || list.contains { $0.entry != nil } }

  /// Calls `body` with each object and its key, in order, except for elements at the ends of the
  /// list.
  func forEachObject(except ends: Ends = (0, 0), _ body: (DeepChange.Key, TreeEntry) -> Void) {
    for index in ends.head..<(list.count - ends.tail) {
      if let entry = list[index].entry { body(.index(index + 1), entry) }
    }
    for key in objectKeys {
      if let entry = fields[key]?.entry { body(key, entry) }
    }
  }

  /// The ends at which both lists have the same objects.
  static func commonEnds(_ a: TreeContents, _ b: TreeContents) -> Ends {
    let (a, b) = (a.list, b.list)
    let shorter = min(a.count, b.count)
    var (head, tail) = (0, 0)
    while head < shorter, a[head].entry === b[head].entry { head += 1 }
    while tail < shorter - head, a[a.count - 1 - tail].entry === b[b.count - 1 - tail].entry {
      tail += 1
    }
    return (head, tail)
  }

  /// The keys under which the fields differ, in a stable order.
  package static func differingKeys(
    _ a: TreeContents, _ b: TreeContents,
    by same: (TreeValue?, TreeValue?) -> Bool = TreeValue.areSame
  ) -> [DeepChange.Key] {
    differingKeys(a.fields, b.fields, by: same)
  }

  static func differingKeys(
    _ a: [DeepChange.Key: TreeValue], _ b: [DeepChange.Key: TreeValue],
    by same: (TreeValue?, TreeValue?) -> Bool = TreeValue.areSame
  ) -> [DeepChange.Key] {
    var keys: [DeepChange.Key] = []
    for (key, value) in a where !same(value, b[key]) { keys.append(key) }
    for key in b.keys where a[key] == nil { keys.append(key) }
    return DeepChange.Key.sorted(keys)
  }

  /// The fields, and the elements by their positions.
  var keyed: [DeepChange.Key: TreeValue] {
    var keyed = fields
    for (index, element) in list.enumerated() { keyed[.index(index + 1)] = element }
    return keyed
  }

  /// Whether a key is the position of an element.
  func isPosition(_ key: DeepChange.Key) -> Bool {
    guard case .index(let position) = key else { return false }
    return list.indices.contains(position - 1)
  }

  subscript(key: DeepChange.Key) -> TreeValue? {
    if !list.isEmpty, case .index(let position) = key, isPosition(key) { return list[position - 1] }
    return fields[key]
  }

  package static func areSame(_ a: TreeContents, _ b: TreeContents) -> Bool {
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

/// Reads the contents of objects, and keeps an entry for each object that occurs.
package final class TreeReader {
  /// Whether tables of scripts are objects of the tree, not values.
  let goesIntoTables: Bool
  /// Whether entries keep Swift objects alive; they always keep tables, which nothing else keeps.
  private let keepsObjects: Bool
  private var tables: [TreeTableIdentity: TreeEntry] = [:]
  /// The entries of tables that were met since the last call of `takeMetTables`.
  private var metTables: [TreeEntry] = []
  /// The entries of the tables that are followed, by their nodes.
  private var tableEntries: [NodeRef: TreeEntry] = [:]
  private var entries: [ObjectIdentifier: TreeEntry] = [:]
  /// The kinds of the classes that occurred; asking an object for its protocols is slow.
  private var kinds: [ObjectIdentifier: TreeKind] = [:]

  /// Returns the future elements of an array with pending edits; nil for other arrays.
  private let elements: (AnyObject) -> [Any?]?

  init(
    goesIntoTables: Bool = false, keepsObjects: Bool = false,
    elements: @escaping (AnyObject) -> [Any?]? = { _ in nil }
  ) {
    (self.goesIntoTables, self.keepsObjects) = (goesIntoTables, keepsObjects)
    self.elements = elements
  }

  private func kind(of object: AnyObject) -> TreeKind {
    let type = ObjectIdentifier(type(of: object))
    if let known = kinds[type] { return known }
    let kind = TreeKind(object)
    kinds[type] = kind
    return kind
  }

  /// The entry of an object; `isNew` means that its contents were not read yet.
  func entry(of object: AnyObject) -> (entry: TreeEntry, isNew: Bool) {
    let key = ObjectIdentifier(object)
    if let known = entries[key], known.object === object { return (known, false) }
    let entry = TreeEntry(object, keepsObject: keepsObjects)
    entries[key] = entry
    return (entry, true)
  }

  /// The entry of a table, as a value; `table` makes the table if it is unknown.
  package func value<Failure: Error>(
    ofTable identity: TreeTableIdentity, _ table: () throws(Failure) -> any TreeTable
  ) throws(Failure) -> TreeValue {
    if let known = tables[identity] { return .object(known) }
    let entry = TreeEntry(TableObject(try table()), keepsObject: true)
    tables[identity] = entry
    metTables.append(entry)
    return .object(entry)
  }

  func known(_ object: AnyObject) -> TreeEntry? {
    entries[ObjectIdentifier(object)].flatMap { $0.object === object ? $0 : nil }
  }

  func takeMetTables() -> [TreeEntry] {
    defer { metTables = [] }
    return metTables
  }

  /// Starts following a table by its node.
  func note(_ node: NodeRef, of entry: TreeEntry) {
    if entry.table == nil { return }
    entry.node = node
    tableEntries[node] = entry
  }

  /// The entry of the object of a node.
  func known(_ node: NodeRef) -> TreeEntry? {
    if let object = node.model { return known(object) }
    return tableEntries[node]
  }

  func forget(_ entry: TreeEntry) {
    if entries[entry.identifier] === entry { entries[entry.identifier] = nil }
    guard let table = entry.table else { return }
    tables[table.identity] = nil
    if let node = entry.node { tableEntries[node] = nil }
  }

  /// Reads the current contents of an object.
  func contents(of object: AnyObject) -> TreeContents {
    switch kind(of: object) {
    case .array:
      let array = object as! any DynamicArray
      let list =
        elements(object)?.map { value(of: $0) }
        ?? (0..<array.valueCount).map { value(of: array.dynamicElement(at: $0)) }
      return TreeContents(shape: .array, list: list)
    case .dictionary:
      var fields: [DeepChange.Key: TreeValue] = [:]
      for (key, value) in (object as! any DynamicDictionary).dynamicEntries where value != nil {
        if let key = DeepChange.Key(key) { fields[key] = self.value(of: value) }
      }
      return TreeContents(shape: .dictionary, fields: fields)
    case .set:
      var members: [AnyHashable: ChangeValue] = [:]
      for (member, _) in (object as! any DynamicSet).dynamicEntries {
        if let key = member as? AnyHashable { members[key] = ChangeValue(member) }
      }
      return TreeContents(shape: .set, members: members)
    case .model(let properties):
      var fields: [DeepChange.Key: TreeValue] = [:]
      fields.reserveCapacity(properties.names.count)
      for (slot, name) in properties.names.enumerated() {
        guard let read = properties.plainRead(slot), let value = try? read(object),
          let value = flattened(value)
        else { continue }
        fields[.name(name)] = self.value(of: value)
      }
      return TreeContents(shape: .model(properties.typeName), fields: fields)
    case .table:
      return (object as! TableObject).table.contents(by: self)
        ?? TreeContents(shape: .table, isTable: true)
    case .other:
      return TreeContents(shape: .model("\(type(of: object))"))
    }
  }

  /// A stored value; an object of the tree gets an entry.
  package func value(of value: Any?) -> TreeValue {
    guard let value else { return .nothing }
    guard let object = reference(to: value) else {
      let plain = ChangeValue(value)
      guard goesIntoTables, case .native(let value) = plain, let table = value as? any TreeTable,
        table.isPartOfTrees
      else { return .plain(plain) }
      return self.value(ofTable: table.identity) { table }
    }
    return kind(of: object).isOfTree ? .object(entry(of: object).entry) : .plain(ChangeValue(value))
  }
}

/// The kinds of objects, for changes.
private enum TreeKind {
  case array, dictionary, set, table
  case model(ModelProperties)
  /// An object that changes do not go into.
  case other

  init(_ object: AnyObject) {
    switch object {
    case is any DynamicArray: self = .array
    case is any DynamicDictionary: self = .dictionary
    case is any DynamicSet: self = .set
    case is TableObject: self = .table
    case let model as any ObservableModel: self = .model(type(of: model).properties)
    default: self = .other
    }
  }

  var isOfTree: Bool { if case .other = self { false } else { true } }
}

/// Whether a value is an object that changes go into.
func isTreeObject(_ value: Any) -> Bool {
  reference(to: value).map { TreeKind($0).isOfTree } ?? false
}

extension DeepChange.Key {
  /// Sorts keys in a stable order.
  static func sorted(_ keys: [DeepChange.Key]) -> [DeepChange.Key] {
    keys.count > 1 ? keys.sorted { $0.isBefore($1) } : keys
  }

  /// Orders numbers before names, and names before booleans.
  private func isBefore(_ other: DeepChange.Key) -> Bool {
    switch (self, other) {
    case (.name(let a), .name(let b)): a < b
    case (.boolean(let a), .boolean(let b)): a && !b
    case (.index(let a), .index(let b)): a < b
    case (.index(let a), .number(let b)): Double(a) < b
    case (.number(let a), .index(let b)): a < Double(b)
    case (.number(let a), .number(let b)): a < b
    case (.index, _), (.number, _), (.name, .boolean): true
    case (.name, _), (.boolean, _): false
    }
  }

  /// Makes the key for a dictionary's key; nil if data cannot represent it.
  init?(_ key: Any) { self.init(ChangeValue(key)) }

  package init?(_ key: ChangeValue) {
    switch key {
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
