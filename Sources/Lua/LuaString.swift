/// A Lua string: bytes, often but not necessarily UTF-8 text.
public struct LuaString: Sendable, Hashable {
  /// The bytes, including zero bytes.
  public let bytes: [UInt8]

  /// Makes a string of bytes.
  ///
  /// - Complexity: O(*n*), O(1) from an array.
  public init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Makes a string of text, in UTF-8.
  ///
  /// - Complexity: O(*n*).
  public init(_ text: String) { bytes = Array(text.utf8) }

  /// The text, or nil if the bytes are not valid UTF-8.
  ///
  /// - Complexity: O(*n*).
  public var text: String? { String(validating: bytes, as: UTF8.self) }
}

extension LuaString: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The text, with U+FFFD for invalid UTF-8.
  ///
  /// - Complexity: O(*n*).
  public var description: String { String(decoding: bytes, as: UTF8.self) }

  /// The text for people (S10).
  package var shown: String { bytes.withUnsafeBufferPointer { String(shown: $0) } }

  /// Makes a string of text, in UTF-8.
  public init(stringLiteral value: String) { self.init(value) }
}
