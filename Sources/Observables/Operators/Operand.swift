extension ObservationCore {
  /// A value in the form that collection operators use (C9), whichever kind of object holds it.
  @_documentation(visibility: internal)
  public enum Operand {
    /// Nil, or not reachable.
    case none
    /// A truth value.
    case boolean(Bool)
    /// An integer, as wide as Lua's.
    case integer(Int)
    /// A number whose type is not an integer type, such as 1.0.
    case float(Double)
    /// Text, as bytes.
    case text([UInt8])
    /// An object, by identity; it lives as long as its collection holds it.
    case object(UnsafeRawPointer)
    /// Any other value that can be compared.
    indirect case value(AnyHashable)
    /// A value that cannot be compared; errors name its `type`.
    indirect case opaque(type: String)
    /// The result of an operator that cannot take one of its values, which is this one.
    indirect case failed(Operand)
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
  /// A selection of an object's members.
  @_documentation(visibility: internal)
  public enum MemberScope {
    /// For `*`: every property or element.
    case everything
    /// For `**`: the values stored under keys that are not objects.
    case stored
    /// For transactions: the same as `stored`, plus opaque objects.
    case covered
    /// For operators: the elements of a list or set, the values of a dictionary.
    case elements
  }
}

extension Operand: CustomStringConvertible {
  /// The value in the words of an error message.
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
    case .failed(let operand): "no value (its operator cannot take \(operand))"
    }
  }
}
