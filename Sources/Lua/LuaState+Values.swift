internal import CLua

extension LuaState {
  /// Pushes a value.
  ///
  /// Like all functions here, needs five free slots, and throws with the stack unchanged.
  /// [-0, +1, -]
  package func push(
    _ value: LuaValue, to L: LuaStack
  ) throws(LuaError) {
    switch value {
    case .nil: L.pushNil()
    case .boolean(let value): L.push(value)
    case .integer(let value): L.push(value)
    case .number(let value): L.push(value)
    case .string(let value): try push(bytes: value.bytes, to: L)
    case .table(let table): try push(table.pin, to: L)
    case .function(let function): try push(function.pin, to: L)
    case .userdata(let userdata): try push(userdata.pin, to: L)
    case .thread(let thread): try push(thread.pin, to: L)
    case .lightUserdata(let address): L.push(address.pointer)
    }
  }

  /// Pushes the object that a pin holds. [-0, +1, -]
  package func push(_ pin: LuaPin, to L: LuaStack) throws(LuaError) {
    guard pin.pins === pins else { throw pin.pins.state == nil ? .closed : .foreign }
    clua_pushpin(L.pointer, pinTable, pin.slot)
  }

  /// Pushes a string. [-0, +1, -]
  package func push(
    bytes: [UInt8], to L: LuaStack
  ) throws(LuaError) {
    try check(bytes.withUnsafeBytes { clua_try_pushlstring(L.pointer, $0.chars, $0.count) }, L)
  }

  /// Pushes a string. [-0, +1, -]
  package func push(text: String, to L: LuaStack) throws(LuaError) {
    var text = text
    try check(
      text.withUTF8 { text in
        let bytes = UnsafeRawBufferPointer(text)
        return clua_try_pushlstring(L.pointer, bytes.chars, bytes.count)
      }, L)
  }

  /// The value at an index; an object is pinned.
  ///
  /// [-0, +0, -]
  package func value(
    at index: CInt, of L: LuaStack
  ) throws(LuaError) -> LuaValue {
    switch L.type(at: index) {
    case .boolean: .boolean(L.boolean(at: index))
    case .number:
      L.integer(at: index).map { .integer($0) } ?? .number(L.number(at: index))
    case .string: .string(LuaString(bytes: bytes(at: index, of: L)))
    case .table: .table(LuaTable(pin: try pin(at: index, of: L)))
    case .function: .function(LuaFunction(pin: try pin(at: index, of: L)))
    case .userdata: .userdata(LuaUserdata(pin: try pin(at: index, of: L)))
    case .thread: .thread(LuaThread(pin: try pin(at: index, of: L)))
    case .lightUserdata: .lightUserdata(LuaAddress(L.userdata(at: index)))
    default: .nil
    }
  }

  /// Keeps the object at an index alive. [-0, +0, -]
  package func pin(
    at index: CInt, of L: LuaStack
  ) throws(LuaError) -> LuaPin {
    L.pushCopy(at: index)
    do { return try pin(L) } catch {
      L.pop()
      throw error
    }
  }

  /// The bytes of the value at an index, which must be a string. [-0, +0, -]
  package func bytes(at index: CInt, of L: LuaStack) -> [UInt8] {
    L.withBytes(at: index) { Array($0) }
  }

  /// The string at an index as a text for people (S10). [-0, +0, -]
  ///
  /// - Complexity: O(1), also for long strings.
  package func text(
    at index: CInt, of L: LuaStack, most: Int = String.mostShownBytes
  ) -> String {
    L.withBytes(at: index) { String(shown: $0, most: most) }
  }

  /// The whole string at an index, with U+FFFD for invalid UTF-8: for names that work as keys, and
  /// for texts that were made for people already. [-0, +0, -]
  package func wholeText(at index: CInt, of L: LuaStack) -> String {
    L.withBytes(at: index) { String(decoding: $0, as: UTF8.self) }
  }

  /// The text of the string at an index, or nil if it is not valid UTF-8. [-0, +0, -]
  package func validText(at index: CInt, of L: LuaStack) -> String? {
    L.withBytes(at: index) { String(utf8: $0) }
  }

  /// The values from an index to the top. [-0, +0, -]
  func values(
    from index: CInt, of L: LuaStack
  ) throws(LuaError) -> [LuaValue] {
    let count = L.height - index + 1
    guard count > 0 else { return [] }
    guard L.hasRoom() else { throw L.noRoom() }
    var values: [LuaValue] = []
    values.reserveCapacity(Int(count))
    for index in index..<index + count { values.append(try value(at: index, of: L)) }
    return values
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes as `CChar`; never nil, even if there are no bytes.
  fileprivate var chars: UnsafePointer<CChar> {
    baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(bitPattern: 1)!
  }
}

extension String {
  /// The bytes after which a text for people is cut.
  package static let mostShownBytes = 16384

  /// Makes a text for people (S10): it ends with "…" after `most` bytes, and invalid UTF-8 is
  /// replaced by U+FFFD.
  ///
  /// The bytes are cut before they become a text, because reading invalid UTF-8 takes long.
  package init(shown bytes: UnsafeBufferPointer<UInt8>, most: Int = mostShownBytes) {
    if bytes.count <= most {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      // A character has at most three bytes after its first one.
      let end = (Swift.max(0, most - 3)...most).last { bytes[$0] & 0xC0 != 0x80 } ?? most
      self.init(decoding: bytes[..<end], as: UTF8.self)
      append("…")
    }
  }

  /// Makes a text from UTF-8 bytes; nil if they are not valid.
  @inline(__always)
  package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    // The validating initializer goes through generic code, which takes longer than the rest for a
    // short text; most texts are ASCII.
    if bytes.allSatisfy({ $0 < 0x80 }) {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }
}

extension LuaStack {
  /// Calls `body` with the bytes of the string at an index. [-0, +0, -]
  package func withBytes<Result>(
    at index: CInt, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    // lua_tolstring would turn a number on the stack into a string.
    precondition(isString(at: index), "The value at \(index) is not a string")
    var count = 0
    let start = UnsafeRawPointer(lua_tolstring(pointer, index, &count)!)
    return body(
      UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count))
  }
}
