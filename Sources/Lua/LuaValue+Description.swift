import LibC

extension LuaValue: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value as printed by Lua: `1`, `1.0`, `1e+100`, `-nan`, the text of a string, `table:
  /// 0x55…`.
  ///
  /// Usable on any thread; calls no `__tostring`. Bytes that are not UTF-8 are replaced by U+FFFD.
  ///
  /// - Complexity: O(length) of a string, else O(1).
  public var description: String {
    switch self {
    case .nil: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): LuaValue.text(of: value)
    case .string(let value): value.description
    case .table(let table): described(table.pin)
    case .function(let function): described(function.pin)
    case .userdata(let userdata): described(userdata.pin)
    case .thread(let thread): described(thread.pin)
    case .lightUserdata(let address):
      address.pointer == nil ? "userdata: (nil)" : described(UInt(bitPattern: address.pointer))
    }
  }

  /// The same as ``description``, but a string is cut (S10).
  package var shown: String {
    if case .string(let value) = self { return value.shown }
    return description
  }

  /// The same as ``description``, but with strings in quotes.
  public var debugDescription: String {
    if case .string(let value) = self { return value.description.debugDescription }
    return description
  }

  private func described(_ pin: LuaPin) -> String { described(pin.address) }

  private func described(_ address: UInt) -> String {
    "\(typeName): 0x\(String(address, radix: 16))"
  }

  /// A float as written by Lua: 14 digits, and never as an integer.
  private static func text(of value: Double) -> String {
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      withVaList([value]) { arguments in
        _ = vsnprintf(buffer.baseAddress, buffer.count, "%.14g", arguments)
      }
      return String(cString: buffer.baseAddress!)
    }
    // Neither infinity nor NaN looks like an integer.
    let looksLikeInteger = text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || 48...57 ~= $0 }
    return looksLikeInteger ? text + ".0" : text
  }
}
