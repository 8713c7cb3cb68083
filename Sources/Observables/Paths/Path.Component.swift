extension Path {
  /// One component of a path (P2).
  public struct Component: Hashable, Sendable {
    /// The meaning of a component in the object to which it is applied.
    public enum Kind: UInt8, Sendable {
      /// A property or key by its name; for a collection, `count` is its size.
      case name
      /// `*`: every property or element.
      case every
      /// `**`: any number of steps, including zero, through stored values.
      case deep
      /// `#n`: the slot n of an array, whatever it contains.
      case slot
      /// `n`: the object that is currently at n.
      case element
      /// `&…`: a member of a set.
      case member
      /// `@op`: a collection operator.
      case operation
      /// A key that text cannot represent: an integer, a boolean, an object.
      case key
    }

    /// The kind of the component.
    public let kind: Kind
    /// The name as bytes, without its mark (`#`, `&`, `@`); for a number, the digits as written.
    package let bytes: [UInt8]
    /// The number of `#n`, `n`, or an integer key.
    package let number: Int
    /// The key itself, if a Swift program passed it.
    let exact: ExactKey?

    package init(kind: Kind, bytes: [UInt8], number: Int = 0) {
      self.init(kind: kind, bytes: bytes, number: number, exact: nil)
    }

    private init(kind: Kind, bytes: [UInt8], number: Int, exact: ExactKey?) {
      self.kind = kind
      self.bytes = bytes
      self.number = number
      self.exact = exact
    }

    /// Makes a component for exactly this key of a dictionary, whatever its text would mean.
    ///
    /// An integer is also a slot of an array.
    public static func key(_ key: some Hashable & Sendable) -> Component {
      if let name = key as? String { return exactName(Array(name.utf8)) }
      return Component(
        kind: .key, bytes: Array("\(key)".utf8), number: key as? Int ?? 0,
        exact: ExactKey(base: AnyHashable(key)))
    }

    /// The name as text; bytes that are not UTF-8 are replaced.
    public var name: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether the name is `count`, which is the size of a collection; false for an exact key.
    package var isCount: Bool {
      number == 0 && bytes.count == 5 && bytes.elementsEqual("count".utf8)
    }

    /// The key with this name; it never means the size of a collection.
    package static func exactName(_ bytes: [UInt8]) -> Component {
      Component(kind: .name, bytes: bytes, number: bytes.elementsEqual("count".utf8) ? 1 : 0)
    }

    /// Whether it is an exact key whose name would otherwise mean something else.
    package var isExactName: Bool { kind == .name && number != 0 }

    /// The operator; nil if the name is not an operator.
    package var operation: Operation? {
      kind == .operation ? Operation(rawValue: name) : nil
    }
  }
}

/// A key that a path holds in its original form.
// The key is made of a `Sendable` value only, whose type `AnyHashable` hides.
struct ExactKey: Hashable, @unchecked Sendable {
  let base: AnyHashable
}

extension Path.Component: ExpressibleByStringLiteral {
  /// Makes a name, which can contain dots and marks.
  public init(stringLiteral name: String) { self = .key(name) }
}

extension Path.Component: ExpressibleByIntegerLiteral {
  /// Makes an integer key.
  public init(integerLiteral key: Int) { self = .key(key) }
}

extension Path.Component: CustomStringConvertible {
  /// The component in the notation of paths.
  public var description: String { String(decoding: text, as: UTF8.self) }

  /// The notation of this component, byte for byte.
  var text: [UInt8] {
    switch kind {
    case .every: [UInt8(ascii: "*")]
    case .deep: Array("**".utf8)
    case .slot: Array("#\(number)".utf8)
    case .element: Array("\(number)".utf8)
    case .member: [UInt8(ascii: "&")] + escaped
    case .operation: [UInt8(ascii: "@")] + escaped
    case .key: [UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")]
    case .name: (isMistakable ? [UInt8(ascii: "\\")] : []) + escaped
    }
  }

  /// Whether the unescaped name would be parsed as another kind of component.
  private var isMistakable: Bool {
    switch bytes.first {
    case UInt8(ascii: "*"): bytes.count == 1 || bytes == Array("**".utf8)
    case UInt8(ascii: "#"): true
    case UInt8(ascii: "&"), UInt8(ascii: "@"): bytes.count > 1
    default: bytes.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
    }
  }

  private var escaped: [UInt8] {
    guard bytes.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\\") }) else {
      return bytes
    }
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes {
      if byte == UInt8(ascii: ".") || byte == UInt8(ascii: "\\") {
        text.append(UInt8(ascii: "\\"))
      }
      text.append(byte)
    }
    return text
  }
}
