#if Records
  internal import Foundation
  internal import LibC

  /// A value as SQLite stores it, compared as SQLite compares it: texts by their bytes.
  struct StoredValue: Hashable, Sendable {
    let database: DatabaseValue

    static let null = StoredValue(.null)

    init(_ database: DatabaseValue) { self.database = database }

    var isNull: Bool { database.isNull }

    static func == (a: StoredValue, b: StoredValue) -> Bool {
      switch (a.database.storage, b.database.storage) {
      case (.string(let a), .string(let b)): Collation.binary.isSame(a, b)
      default: a.database == b.database
      }
    }

    func hash(into hasher: inout Hasher) {
      if case .string(let text) = database.storage {
        Collation.binary.hash(text, into: &hasher)
      } else {
        hasher.combine(database)
      }
    }

    /// The description of the value in errors.
    var described: String {
      switch database.storage {
      case .null: return "NULL"
      case .int64(let number): return "the number \(number)"
      case .double(let number): return "the number \(number)"
      case .string(let text):
        return "the text '\(text.count > 40 ? text.prefix(40) + "…" : text[...])'"
      case .blob(let data): return "\(data.count) bytes"
      }
    }

    /// The reason why SQLite would store another value; nil if it would not.
    var obstacle: String? {
      switch database.storage {
      case .string(let text) where text.utf8.contains(0):
        "the text has a zero byte, which ends a text in SQLite"
      case .double(let number) where number.isNaN: "the number is NaN, which SQLite cannot store"
      case .null, .int64, .double, .string, .blob: nil
      }
    }
  }

  /// The comparison of texts in a key, which its column defines.
  enum Collation: Sendable {
    case binary
    /// ASCII letters are the same in upper and lower case.
    case noCase
    /// Spaces at the end do not count.
    case trimmed

    /// The collation with this name in SQLite; nil for a collation of the program.
    init?(_ name: String) {
      switch name.uppercased() {
      case "BINARY": self = .binary
      case "NOCASE": self = .noCase
      case "RTRIM": self = .trimmed
      default: return nil
      }
    }

    /// A column in a condition that compares it with keys.
    func column(_ name: String) -> any SQLSpecificExpressible {
      switch self {
      case .binary: Column(name)
      case .noCase: Column(name).collating(.nocase)
      case .trimmed: Column(name).collating(.rtrim)
      }
    }

    private func folded(_ byte: UInt8) -> UInt8 {
      self == .noCase && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    /// Calls `body` with the bytes that are compared.
    private func withBytes<Result>(
      _ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
      var text = text
      return text.withUTF8 { bytes in
        var end = bytes.count
        if self == .trimmed { while end > 0, bytes[end - 1] == 0x20 { end -= 1 } }
        return body(UnsafeBufferPointer(rebasing: bytes[..<end]))
      }
    }

    func isSame(_ a: String, _ b: String) -> Bool {
      withBytes(a) { a in
        withBytes(b) { b in
          guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
            return a.count == b.count
          }
          if memcmp(first, second, a.count) == 0 { return true }
          return self == .noCase && zip(a, b).allSatisfy { folded($0) == folded($1) }
        }
      }
    }

    func hash(_ text: String, into hasher: inout Hasher) {
      withBytes(text) { bytes in
        if self == .noCase {
          for byte in bytes { hasher.combine(folded(byte)) }
        } else {
          hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
      }
    }
  }
#endif
