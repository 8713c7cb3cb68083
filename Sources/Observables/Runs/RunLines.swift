/// Lines of a recording that are not written yet: JSON arrays in UTF-8.
///
/// It takes no memory of the program's scripts, so that recording changes nothing for them (D1).
@_documentation(visibility: internal)
public struct RunLines {
  /// How values are written.
  package private(set) var values: RunRecordingOptions.Values
  /// The names of keys whose values are not written.
  private(set) var hiddenKeys: Set<String>
  private(set) var bytes: [UInt8] = []
  /// The number of complete lines in `bytes`.
  private(set) var count = 0
  /// Whether the next element of an array needs a comma before it.
  private var needsComma = false
  /// Whether the value that is written next must be hidden.
  private var hidesValues = false

  init(_ options: RunRecordingOptions) {
    (values, hiddenKeys) = (options.values, options.hiddenKeys)
  }

  /// Writes later values by these options.
  mutating func restrict(to options: RunRecordingOptions) {
    (values, hiddenKeys) = (options.values, options.hiddenKeys)
  }

  /// Removes all lines; their memory is used again.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    count = 0
  }

  // MARK: Arrays

  mutating func begin(_ kind: StaticString) {
    put("[\"")
    put(kind)
    put("\"")
    needsComma = true
  }

  mutating func end() {
    put("]\n")
    (needsComma, hidesValues) = (false, false)
    count += 1
  }

  package mutating func beginList() {
    separate()
    put("[")
    needsComma = false
  }

  package mutating func endList() {
    put("]")
    needsComma = true
  }

  // MARK: Elements

  package mutating func add(_ number: Int) {
    separate()
    put(decimal: number)
  }

  package mutating func add(_ flag: Bool) {
    separate()
    if flag { put("true") } else { put("false") }
  }

  package mutating func add(text: String) {
    var text = text
    separate()
    text.withUTF8 { put(quoted: UnsafeRawBufferPointer($0)) }
  }

  package mutating func add(word: StaticString) {
    separate()
    put("\"")
    put(word)
    put("\"")
  }

  package mutating func addNull() {
    separate()
    put("null")
  }

  /// Adds JSON that was written before.
  mutating func add(json: [UInt8]) {
    separate()
    bytes.append(contentsOf: json)
  }

  /// Adds a value that was written before; nil is unknown.
  mutating func add(known value: [UInt8]?) {
    if let value { add(json: value) } else { addUnknown() }
  }

  /// Returns what `write` adds, as JSON, and adds nothing.
  mutating func json(_ write: (inout RunLines) -> Void) -> [UInt8] {
    let (start, former) = (bytes.count, (needsComma, hidesValues))
    (needsComma, hidesValues) = (false, false)
    write(&self)
    let made = Array(bytes[start...])
    bytes.removeSubrange(start...)
    (needsComma, hidesValues) = former
    return made
  }

  /// The address by which values name an object.
  package mutating func add(address: UInt) {
    separate()
    put("\"")
    put(hexadecimal: address)
    put("\"")
  }

  // MARK: Keys and values

  /// Adds a key; the values that follow in the line belong to it.
  package mutating func add(key: String) {
    beginValues(of: key)
    add(text: key)
  }

  /// Notes that the values that follow in the line belong to a key.
  mutating func beginValues(of key: String) {
    hidesValues = !hiddenKeys.isEmpty && hiddenKeys.contains(key)
  }

  /// Adds a position in a list, counted from 1, as a key.
  package mutating func add(position: Int) {
    hidesValues = false
    add(position)
  }

  /// Adds a value that is not known.
  package mutating func addUnknown() {
    separate()
    put("{\"u\":1}")
  }

  /// Adds a value by `write`, unless values of its key are not written.
  package mutating func add(valueBy write: (inout RunLines) -> Void) {
    if values == .none { return addUnknown() }
    guard hidesValues else { return write(&self) }
    separate()
    put("{\"hidden\":true}")
  }

  package mutating func add(number: Double) {
    separate()
    if number.isNaN {
      put("{\"n\":\"nan\"}")
    } else if number.isInfinite {
      if number < 0 { put("{\"n\":\"-inf\"}") } else { put("{\"n\":\"inf\"}") }
    } else {
      bytes.append(contentsOf: "\(number)".utf8)
    }
  }

  /// Adds an object of the program by its address and the name of its type.
  package mutating func add(object address: UInt, type: String) {
    var type = type
    separate()
    put("{\"o\":\"")
    put(hexadecimal: address)
    put("\",\"t\":")
    type.withUTF8 { put(quoted: UnsafeRawBufferPointer($0)) }
    put("}")
  }

  /// Adds a value of another kind by the name of its type.
  package mutating func add(other type: String) {
    var type = type
    separate()
    put("{\"x\":")
    type.withUTF8 { put(quoted: UnsafeRawBufferPointer($0)) }
    put("}")
  }

  /// Adds a string that may be invalid UTF-8; unless `values` is `all`, its first 60 characters.
  package mutating func add(string: UnsafeRawBufferPointer) {
    separate()
    var kept = string
    var isCut = false
    if values != .all, string.count > RecordedValue.textLimit {
      let end = RunLines.end(ofCharacters: RecordedValue.textLimit, in: string)
      isCut = end < string.count
      kept = UnsafeRawBufferPointer(rebasing: string[..<end])
    }
    put(kept, isCut: isCut)
  }

  /// Adds bytes, whatever the options say: as text if they are valid UTF-8.
  mutating func addWhole(_ bytes: UnsafeRawBufferPointer) {
    separate()
    put(bytes, isCut: false)
  }

  private mutating func put(_ text: UnsafeRawBufferPointer, isCut: Bool) {
    guard RunLines.isUTF8(text) else { return put(base64: text) }
    put(quoted: text, isCut: isCut)
  }

  package mutating func add(string: String) {
    var string = string
    string.withUTF8 { add(string: UnsafeRawBufferPointer($0)) }
  }

  /// Adds a Swift value, which must not be a nested optional.
  package mutating func add(value: Any?) {
    guard let value else { return addNull() }
    if let object = reference(to: value) {
      return add(object: RunLines.address(of: object), type: "\(type(of: object))")
    }
    if let text = value as? String { return add(string: text) }
    switch RecordedValue(value) {
    case .none: addNull()
    case .boolean(let flag): add(flag)
    case .integer(let number): add(number)
    case .number(let number): add(number: number)
    case .text(let text): add(string: text)
    case .object(let type): add(other: type)
    }
  }

  /// Adds the elements of a list as its contents: pairs of a position and a value.
  mutating func addList(of elements: some Sequence<Any?>) {
    beginList()
    for (index, element) in elements.enumerated() {
      beginList()
      add(position: index + 1)
      add(valueBy: { $0.add(value: element) })
      endList()
    }
    endList()
  }

  static func address(of object: AnyObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  // MARK: Bytes

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func put(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func put(decimal number: Int) {
    if (0..<10).contains(number) { return bytes.append(UInt8(ascii: "0") + UInt8(number)) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var (position, rest) = (20, number.magnitude)
      repeat {
        position -= 1
        digits[position] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 {
        position -= 1
        digits[position] = UInt8(ascii: "-")
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[position...]))
    }
  }

  private mutating func put(hexadecimal number: UInt) {
    bytes.append(contentsOf: String(number, radix: 16).utf8)
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private mutating func put(quoted text: UnsafeRawBufferPointer, isCut: Bool = false) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    for (position, byte) in text.enumerated() {
      if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
      bytes.append(contentsOf: text[start..<position])
      start = position + 1
      bytes.append(UInt8(ascii: "\\"))
      switch byte {
      case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
      default:
        put("u00")
        bytes.append(RunLines.digits[Int(byte >> 4)])
        bytes.append(RunLines.digits[Int(byte & 15)])
      }
    }
    bytes.append(contentsOf: text[start...])
    if isCut { put("…") }
    bytes.append(UInt8(ascii: "\""))
  }

  static let base64 = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private mutating func put(base64 data: UnsafeRawBufferPointer) {
    put("{\"b\":\"")
    for start in stride(from: 0, to: data.count, by: 3) {
      let group = data[start..<min(start + 3, data.count)]
      var bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      var letters: [UInt8] = []
      for _ in 0..<4 {
        letters.append(RunLines.base64[bits & 63])
        bits >>= 6
      }
      for (place, letter) in letters.reversed().enumerated() {
        bytes.append(place <= group.count ? letter : UInt8(ascii: "="))
      }
    }
    put("\"}")
  }

  /// Whether the bytes are valid UTF-8.
  private static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
    if text.allSatisfy({ $0 < 0x80 }) { return true }
    return String(validating: text, as: UTF8.self) != nil
  }

  /// The number of bytes in the first `limit` Unicode scalars of a text.
  ///
  /// Scalars, because grapheme clusters take long to find.
  private static func end(ofCharacters limit: Int, in text: UnsafeRawBufferPointer) -> Int {
    var characters = 0
    for (position, byte) in text.enumerated() where byte & 0xC0 != 0x80 {
      if characters == limit { return position }
      characters += 1
    }
    return text.count
  }
}

/// The spelling of Swift objects.
extension RunLines {
  mutating func addKey(of change: Change) {
    guard let values = change.observedValues else {
      return add(key: change.slot.map { change.node.kind.name(of: $0) } ?? "*")
    }
    switch values.key {
    case .index(let index): add(position: index + 1)
    case .value(let key): add(keyOf: key.base)
    case .property, .everything: add(key: values.name(in: change.node.kind))
    }
  }

  mutating func add(_ change: Change) {
    addKey(of: change)
    guard let values = change.observedValues else {
      addUnknown()
      return addUnknown()
    }
    if case .everything = values.key {
      addUnknown()
      return addUnknown()
    }
    add(valueBy: { $0.add(value: values.old) })
    add(valueBy: { $0.add(value: values.new) })
  }

  mutating func addContents(of node: NodeRef) {
    guard let object = node.model else { return }
    let reader = TreeReader()
    let contents = reader.contents(of: object)
    let keyed = contents.keyed
    for key in DeepChange.Key.sorted(Array(keyed.keys)) {
      guard let value = keyed[key] else { continue }
      beginList()
      switch key {
      case .name(let name): add(key: name)
      case .index(let index): add(position: index)
      case .number(let number): add(number: number)
      case .boolean(let flag): add(flag)
      }
      add(valueBy: { $0.add(value) })
      endList()
    }
    for member in contents.members.keys {
      beginList()
      add(keyOf: member.base)
      add(true)
      endList()
    }
  }

  /// Adds the key of a dictionary or the member of a set; its description is not used, as it may be
  /// code of the program.
  private mutating func add(keyOf value: Any) {
    switch value {
    case let text as String: add(key: text)
    case let number as Int: add(number)
    default: add(key: "\(RecordedValue(value))")
    }
  }

  private mutating func add(_ value: TreeValue) {
    switch value {
    case .object(let entry):
      if let object = entry.object { return add(value: object) }
      addNull()
    case .plain(.boolean(let flag)): add(flag)
    case .plain(.integer(let number)): add(number)
    case .plain(.number(let number)): add(number: number)
    case .plain(.text(let text)): add(string: text)
    case .plain(.list): add(other: "list")
    case .plain(.map): add(other: "map")
    case .plain(.native(let value)): add(value: flattened(value))
    }
  }
}

/// A text as JSON.
package func jsonText(_ text: String) -> String {
  var lines = RunLines(RunRecordingOptions())
  return String(decoding: lines.json { $0.add(text: text) }, as: UTF8.self)
}
