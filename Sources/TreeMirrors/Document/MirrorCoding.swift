/// Writes and reads batches and states as bytes.
///
/// Numbers are little-endian, text has its length first. Objects are written by their names for the
/// server, and by their handles for the tree of this process.
struct MirrorWriter {
  enum Names { case ids, handles }

  private(set) var bytes: [UInt8] = []
  private let names: Names

  init(_ names: Names) { self.names = names }

  mutating func add(byte: UInt8) { bytes.append(byte) }

  mutating func add<Value: FixedWidthInteger>(_ value: Value) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func add(text: [UInt8]) {
    add(UInt32(text.count))
    bytes.append(contentsOf: text)
  }

  mutating func add(_ node: MirrorNode) {
    switch names {
    case .ids:
      add(node.id.writer)
      add(node.id.number)
    case .handles: add(Int64(node.handle))
    }
  }

  mutating func add(_ value: MirrorValue?) {
    switch value {
    case nil: add(byte: Tag.nothing)
    case .boolean(let value)?: add(byte: value ? Tag.yes : Tag.no)
    case .integer(let value)?:
      add(byte: Tag.integer)
      add(value)
    case .number(let value)?:
      add(byte: Tag.number)
      add(value.bitPattern)
    case .text(let value)?:
      add(byte: Tag.text)
      add(text: value)
    case .node(let node)?:
      add(byte: Tag.node)
      add(node)
    }
  }

  mutating func add(_ key: MirrorKey) { add(MirrorValue(key)) }

  mutating func add(_ list: [MirrorValue], _ fields: [MirrorKey: MirrorValue]) {
    add(UInt32(list.count))
    for value in list { add(value) }
    add(UInt32(fields.count))
    for (key, value) in fields.inOrder {
      add(key)
      add(value)
    }
  }

  mutating func add(make node: MirrorNode) {
    add(byte: Code.make)
    add(node)
    add(byte: node.kind.rawValue)
    add(text: node.model)
  }

  mutating func add(contentsOf node: MirrorNode) {
    add(byte: Code.contents)
    add(node)
    add(node.list, node.fields)
  }

  mutating func add(_ operation: MirrorOperation) {
    func index(_ index: Int) -> UInt32 { UInt32(clamping: index) }
    switch operation {
    case .make(let node): add(make: node)
    case .contents(let node, let list, let fields):
      add(byte: Code.contents)
      add(node)
      add(list, fields)
    case .set(let node, let key, let value):
      add(byte: Code.set)
      add(node)
      add(key)
      add(value)
    case .insert(let node, let at, let value):
      add(byte: Code.insert)
      add(node)
      add(index(at))
      add(value)
    case .remove(let node, let at, let old):
      add(byte: Code.remove)
      add(node)
      add(index(at))
      add(old)
    case .replace(let node, let at, let old, let value):
      add(byte: Code.replace)
      add(node)
      add(index(at))
      add(old)
      add(value)
    case .move(let node, let at, let value, let to):
      add(byte: Code.move)
      add(node)
      add(index(at))
      add(value)
      add(index(to))
    case .reorder(let node, let edits):
      add(byte: Code.reorder)
      add(node)
      add(UInt32(edits.count))
      for edit in edits { add(edit) }
    case .add(let node, let key, let amount):
      add(byte: Code.add)
      add(node)
      add(key)
      add(amount)
    }
  }

  /// All elements of a list, which the tree compares with its own.
  mutating func add(listOf node: MirrorNode) {
    add(byte: Code.list)
    add(node)
    add(UInt32(node.list.count))
    for value in node.list { add(value) }
  }

  mutating func add(left node: MirrorNode) {
    add(byte: Code.left)
    add(node)
  }

  fileprivate enum Tag {
    static let nothing: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let integer: UInt8 = 3
    static let number: UInt8 = 4
    static let text: UInt8 = 5
    static let node: UInt8 = 6
  }

  fileprivate enum Code {
    static let make: UInt8 = 1
    static let contents: UInt8 = 2
    static let set: UInt8 = 3
    static let insert: UInt8 = 4
    static let remove: UInt8 = 5
    static let replace: UInt8 = 6
    // These two are for the tree of this process only.
    static let list: UInt8 = 7
    static let left: UInt8 = 8
    static let move: UInt8 = 9
    static let reorder: UInt8 = 10
    static let add: UInt8 = 11
  }
}

/// Bytes that are no batch or state.
struct MirrorFormatError: Error {
  let place: Int
  let expected: String
}

struct MirrorReader {
  private let bytes: [UInt8]
  private var place = 0
  /// Reads the name of an object.
  private let node: (inout MirrorReader) throws -> MirrorNode

  init(_ bytes: [UInt8], node: @escaping (inout MirrorReader) throws -> MirrorNode) {
    (self.bytes, self.node) = (bytes, node)
  }

  var isAtEnd: Bool { place == bytes.count }

  func failure(_ expected: String) -> MirrorFormatError {
    MirrorFormatError(place: place, expected: expected)
  }

  mutating func byte() throws -> UInt8 {
    guard place < bytes.count else { throw failure("more bytes") }
    defer { place += 1 }
    return bytes[place]
  }

  mutating func number<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws -> Value {
    let size = MemoryLayout<Value>.size
    guard bytes.count - place >= size else { throw failure("a number of \(size) bytes") }
    defer { place += size }
    return bytes.withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Value.self))
    }
  }

  /// A count of things that take at least a byte each.
  mutating func count() throws -> Int {
    let count = Int(try number(UInt32.self))
    guard count <= bytes.count - place else { throw failure("\(count) more values") }
    return count
  }

  mutating func text() throws -> [UInt8] {
    let count = try count()
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  mutating func id() throws -> NodeID {
    NodeID(writer: try number(), number: try number())
  }

  mutating func value() throws -> MirrorValue? {
    switch try byte() {
    case MirrorWriter.Tag.nothing: return nil
    case MirrorWriter.Tag.no: return .boolean(false)
    case MirrorWriter.Tag.yes: return .boolean(true)
    case MirrorWriter.Tag.integer: return .integer(try number())
    case MirrorWriter.Tag.number: return .number(Double(bitPattern: try number()))
    case MirrorWriter.Tag.text: return .text(try text())
    case MirrorWriter.Tag.node: return .node(try node(&self))
    default: throw failure("a value")
    }
  }

  mutating func present() throws -> MirrorValue {
    guard let value = try value() else { throw failure("a value other than nil") }
    return value
  }

  mutating func key() throws -> MirrorKey {
    switch MirrorKey(try present()) {
    case .number(let value)? where value.isNaN: throw failure("a key other than NaN")
    case .number(let value)?:
      // Lua knows such a key only as an integer.
      return Int64(exactly: value).map { .integer($0) } ?? .number(value)
    case let key?: return key
    case nil: throw failure("a key")
    }
  }

  mutating func contents() throws -> ([MirrorValue], [MirrorKey: MirrorValue]) {
    var list: [MirrorValue] = []
    for _ in 0..<(try count()) { list.append(try present()) }
    var fields: [MirrorKey: MirrorValue] = [:]
    for _ in 0..<(try count()) { fields[try key()] = try present() }
    return (list, fields)
  }

  /// The operations up to the end; `make` makes an object.
  mutating func operations(
    make: (inout MirrorReader) throws -> MirrorNode
  ) throws -> [MirrorOperation] {
    var operations: [MirrorOperation] = []
    while !isAtEnd {
      let code = try byte()
      if code == MirrorWriter.Code.make {
        operations.append(.make(try make(&self)))
        continue
      }
      let target = try node(&self)
      switch code {
      case MirrorWriter.Code.contents:
        let (list, fields) = try contents()
        operations.append(.contents(target, list, fields))
      case MirrorWriter.Code.set: operations.append(.set(target, try key(), try value()))
      case MirrorWriter.Code.add: operations.append(.add(target, try key(), try present()))
      case MirrorWriter.Code.reorder:
        operations.append(
          .reorder(
            target,
            try (0..<(try count())).map { _ in
              let code = try byte()
              // A list that nobody knows is another object each time.
              guard try node(&self).id == target.id else { throw failure("the same list") }
              return try edit(code, of: target)
            }))
      default: operations.append(try edit(code, of: target))
      }
    }
    return operations
  }

  private mutating func edit(_ code: UInt8, of list: MirrorNode) throws -> MirrorOperation {
    func index(_ reader: inout MirrorReader) throws -> Int {
      Int(try reader.number(UInt32.self))
    }
    let at = try index(&self)
    switch code {
    case MirrorWriter.Code.insert: return .insert(list, at: at, try present())
    case MirrorWriter.Code.remove: return .remove(list, at: at, old: try present())
    case MirrorWriter.Code.replace:
      return .replace(list, at: at, old: try present(), with: try present())
    case MirrorWriter.Code.move: return .move(list, at: at, try present(), to: try index(&self))
    default: throw failure("an operation")
    }
  }

  mutating func kindAndModel() throws -> (MirrorNode.Kind, [UInt8]) {
    guard let kind = MirrorNode.Kind(rawValue: try byte()) else { throw failure("a kind") }
    return (kind, try text())
  }
}

/// The format that processes with the same version understand.
///
/// Format 1 had neither moves nor sums, format 2 no marks of batches.
let mirrorFormat = 3

extension MirrorDocument {
  /// What the tree of this process has written, by handles.
  func operations(fromTree bytes: [UInt8]) throws -> [MirrorOperation] {
    var reader = MirrorReader(bytes) { [unowned self] reader in
      let handle = Int(try reader.number(Int64.self))
      guard let node = node(ofHandle: handle) else { throw reader.failure("a known object") }
      return node
    }
    return try reader.operations { reader in
      let handle = Int(try reader.number(Int64.self))
      let (kind, model) = try reader.kindAndModel()
      return makeNode(kind, model: model, handle: handle)
    }
  }

  /// A received batch.
  func batch(from bytes: [UInt8]) throws -> MirrorBatch {
    var made: [NodeID: MirrorNode] = [:]
    var reader = MirrorReader(bytes) { reader in
      let id = try reader.id()
      return made[id] ?? self.node(named: id)
    }
    return MirrorBatch(
      try reader.operations { reader in
        let id = try reader.id()
        let (kind, model) = try reader.kindAndModel()
        // An object may be left over from before a snapshot was taken.
        let known = known(id)
        let isFree = known.map { $0.kind == kind && $0.model == model && !$0.isReachable } ?? true
        guard made[id] == nil, id.writer != 0, isFree else {
          throw reader.failure("a new object")
        }
        let node = known ?? MirrorNode(id, kind, model: model)
        made[id] = node
        return node
      })
  }

  /// The bytes of a batch for the server.
  func bytes(of batch: MirrorBatch) -> [UInt8] {
    if let bytes = batch.bytes { return bytes }
    var writer = MirrorWriter(.ids)
    for operation in batch.operations { writer.add(operation) }
    batch.bytes = writer.bytes
    return writer.bytes
  }

  /// The bytes of the confirmed state.
  func stateBytes() -> [UInt8] {
    withConfirmed {
      var writer = MirrorWriter(.ids)
      var seen: Set<ObjectIdentifier> = [ObjectIdentifier(root)]
      var order = [root]
      var next = 0
      while next < order.count {
        order[next].forEachChild { child in
          if seen.insert(ObjectIdentifier(child)).inserted { order.append(child) }
        }
        next += 1
      }
      for node in order { writer.add(make: node) }
      for node in order { writer.add(contentsOf: node) }
      return writer.bytes
    }
  }
}

extension MirrorSnapshot {
  /// Reads a state.
  init(from bytes: [UInt8]) throws {
    var made: [NodeID: MirrorNode] = [:]
    var order: [MirrorNode] = []
    var reader = MirrorReader(bytes) { reader in
      guard let node = made[try reader.id()] else { throw reader.failure("a known object") }
      return node
    }
    let operations = try reader.operations { reader in
      let id = try reader.id()
      guard made[id] == nil, (id == .root) == order.isEmpty else {
        throw reader.failure("a new object")
      }
      let (kind, model) = try reader.kindAndModel()
      let node = MirrorNode(id, kind, model: model)
      made[id] = node
      order.append(node)
      return node
    }
    var contents: [ObjectIdentifier: ([MirrorValue], [MirrorKey: MirrorValue])] = [:]
    for operation in operations {
      switch operation {
      case .make: break
      case .contents(let node, let list, let fields):
        contents[ObjectIdentifier(node)] = (list, fields)
      default: throw reader.failure("a state")
      }
    }
    guard !order.isEmpty else { throw reader.failure("a root") }
    objects = order.map { node in
      let (list, fields) = contents[ObjectIdentifier(node)] ?? ([], [:])
      return (node, list, fields)
    }
  }
}

extension MirrorRejections {
  /// For each: the kind, the object, the path, the key, and the old and the new value.
  package var bytes: [UInt8] {
    var writer = MirrorWriter(.handles)
    for rejection in all {
      writer.add(byte: rejection.kind.rawValue)
      writer.add(rejection.node)
      writer.add(UInt32(rejection.path.count))
      for key in rejection.path { writer.add(key) }
      writer.add(rejection.key)
      writer.add(rejection.old)
      writer.add(rejection.new)
    }
    return writer.bytes
  }
}

extension MirrorStep {
  /// The changes as the tree of this process makes them, by handles.
  ///
  /// Objects that came have all their contents, others the fields that differ, and lists as a
  /// whole: the tree finds the shortest edits.
  package var bytes: [UInt8] {
    var writer = MirrorWriter(.handles)
    for node in came { writer.add(make: node) }
    for node in came { writer.add(contentsOf: node) }
    forEachChange { node, list, keys in
      if list != nil { writer.add(listOf: node) }
      for key in keys { writer.add(.set(node, key, node.fields[key])) }
    }
    for node in left { writer.add(left: node) }
    return writer.bytes
  }
}
