extension ObservationCore {
  /// A value as collection operators see it (C9), whichever kind of object holds it.
  @_documentation(visibility: internal)
  public enum Operand {
    /// Nil, or not reachable.
    case none
    /// A truth value.
    case boolean(Bool)
    /// An integer, as wide as Lua's.
    case integer(Int)
    /// A number that is not an integer by type, such as 1.0.
    case float(Double)
    /// Text, as bytes.
    case text([UInt8])
    /// An object, by identity; it lives as long as its collection holds it.
    case object(UnsafeRawPointer)
    /// Any other value that can be compared with others.
    indirect case value(AnyHashable)
    /// A value that cannot be compared; `type` is what an error calls it.
    indirect case opaque(type: String)
  }
}

extension ObservationCore {
  /// One member of a collection, for wildcards and operators.
  @_documentation(visibility: internal)
  public struct Member {
    /// The value itself.
    package let value: Operand
    /// The node of the value, if it can be observed.
    package let node: NodeRef?

    package init(value: Operand, node: NodeRef?) {
      (self.value, self.node) = (value, node)
    }
  }
}

extension ObservationCore {
  /// Which members of an object are meant.
  @_documentation(visibility: internal)
  public enum MemberScope {
    /// `*`: every property or element.
    case everything
    /// `**`: what is stored under keys that are no objects.
    case stored
    /// What transactions cover: the same as `stored`; opaque objects among it are covered, too.
    case covered
    /// The members that an operator goes over: the elements of a list or set, the values of a
    /// dictionary.
    case elements
  }
}

extension Operand: CustomStringConvertible {
  /// How an error shows the value.
  public var description: String {
    switch self {
    case .none: "nil"
    case .boolean(let value): "the boolean \(value)"
    case .integer(let number): "\(number)"
    case .float(let number): "\(number)"
    case .text(let bytes): "the string '\(String(decoding: bytes.prefix(60), as: UTF8.self))'"
    case .object: "an object"
    case .value(let value): "\(value.base)"
    case .opaque(let type): "a \(type)"
    }
  }
}
