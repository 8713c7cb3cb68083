/// The observable properties of a model class, in the order of their slots.
///
/// The list is made once per class. Access by name is for bridges and tools; a program uses the
/// properties themselves.
public final class ModelProperties: @unchecked Sendable {
  // Immutable after init. The closures only touch the model passed to them, on its thread.
  /// The names, in slot order.
  public let names: [String]
  /// The name of the class that declares the properties.
  public let typeName: String
  private let slots: [String: Int]
  let entries: [Entry]
  let kind: ModelKind

  struct Entry {
    let read: (AnyObject) throws -> Any?
    let write: ((AnyObject, Any?) -> Bool)?
    let operand: (AnyObject) -> Operand
    let child: ((AnyObject, Engine) -> NodeRef?)?
    let type: Any.Type
    let lazy: LazyDeclaration?
    let isOpaque: Bool
    let direct: DirectAccess
  }

  /// Declares the properties of `model`, after the properties of `parent` if the class inherits
  /// from a model.
  public init<Model: ObservableModel>(
    for model: Model.Type = Model.self, inheriting parent: ModelProperties? = nil,
    @PropertyListBuilder<Model> _ properties: () -> [Property<Model>]
  ) {
    let properties = properties()
    let own = properties.map { property in
      Entry(
        read: { try property.read(unsafeDowncast($0, to: Model.self)) },
        write: property.write.map { write in
          { write(unsafeDowncast($0, to: Model.self), $1) }
        },
        operand: { property.operand(unsafeDowncast($0, to: Model.self)) },
        child: property.child,
        type: property.type, lazy: property.lazy,
        isOpaque: property.isOpaque, direct: property.direct)
    }
    entries = (parent?.entries ?? []) + own
    for (slot, entry) in entries.enumerated() { entry.lazy?.place(at: slot) }
    names = (parent?.names ?? []) + properties.map(\.name)
    typeName = String(describing: model)
    slots = Dictionary(
      zip(names, names.indices),
      uniquingKeysWith: { first, _ in
        preconditionFailure("Two properties of a model have the same name (slot \(first))")
      })
    kind = ModelKind(entries, isOpaque: model is any OpaqueObject.Type)
    kind.properties = self
  }

  /// Finds the slot of a property by its name.
  ///
  /// - Throws: ``ModelError`` for an unknown name, with the type and the most similar name.
  public func slot(of name: String) throws(ModelError) -> Int {
    if let slot = slots[name] { return slot }
    throw ModelError(
      .unknownProperty, type: typeName, property: name,
      suggestion: nearestName(to: name, among: names))
  }

  /// Reads a property by its name; nil if the property is nil.
  ///
  /// - Throws: ``ModelError`` for an unknown name, and for a lazy property that cannot be computed.
  public func value(of name: String, in model: some ObservableModel) throws(ModelError) -> Any? {
    let entry = entries[try slot(of: name)]
    do {
      return try entry.read(model)
    } catch {
      throw ModelError(
        .failed, type: typeName, property: name, suggestion: "\(error)", underlying: error)
    }
  }

  /// The reader of the property in `slot`; nil if the property is lazy.
  package func plainRead(_ slot: Int) -> ((AnyObject) throws -> Any?)? {
    entries[slot].lazy == nil ? entries[slot].read : nil
  }

  /// Whether the property in a slot can be set by its name.
  package func isWritable(_ slot: Int) -> Bool { entries[slot].write != nil }

  /// How a bridge accesses the property in a slot without `Any`.
  package func directAccess(_ slot: Int) -> DirectAccess { entries[slot].direct }

  /// The type of a property, in the words of an error message.
  ///
  /// - Throws: ``ModelError`` for an unknown name.
  public func typeName(of name: String) throws(ModelError) -> String {
    expectation(of: entries[try slot(of: name)].type)
  }

  /// The type of a property.
  package func valueType(of name: String) throws(ModelError) -> Any.Type {
    entries[try slot(of: name)].type
  }

  /// Sets a property by its name.
  ///
  /// - Throws: ``ModelError`` for an unknown name, a read-only property, and a value of the wrong
  ///   type.
  public func set(
    _ name: String, of model: some ObservableModel, to value: Any?
  ) throws(ModelError) {
    let slot = try slot(of: name)
    guard let write = entries[slot].write else {
      throw ModelError(.readOnly, type: typeName, property: name)
    }
    guard write(model, value) else {
      throw ModelError(
        .wrongType, type: typeName, property: name,
        suggestion: expectation(of: entries[slot].type),
        given: value.map { "\(type(of: $0))" } ?? "nil")
    }
  }
}

/// Collects the properties of a model.
@resultBuilder
public enum PropertyListBuilder<Model: ObservableModel> {
  /// One property.
  public static func buildExpression(_ property: Property<Model>) -> Property<Model> { property }
  /// The whole list.
  public static func buildBlock(_ properties: Property<Model>...) -> [Property<Model>] {
    properties
  }
}

/// The error when a property cannot be read or written by its name.
public struct ModelError: Error, Sendable {
  /// The kinds of errors.
  public enum Code: Sendable {
    /// The model has no property of this name.
    case unknownProperty
    /// The property was declared without `set`.
    case readOnly
    /// The value is not of the property's type.
    case wrongType
    /// The property is lazy, and computing it failed.
    case failed
  }

  /// The kind of the error.
  public let code: Code
  /// The name of the model's type.
  public let type: String
  /// The name that the caller asked for.
  public let property: String
  /// The most similar name, the expected type, or the message of the failure.
  public let suggestion: String?
  /// The type of the value that the caller passed.
  public let given: String?
  /// The error that a getter threw.
  public let underlying: (any Error)?

  package init(
    _ code: Code, type: String, property: String, suggestion: String? = nil, given: String? = nil,
    underlying: (any Error)? = nil
  ) {
    (self.code, self.type, self.property) = (code, type, property)
    (self.suggestion, self.given, self.underlying) = (suggestion, given, underlying)
  }
}

extension ModelError: Equatable {
  /// Whether both errors are the same; errors of getters are compared by their descriptions.
  public static func == (a: ModelError, b: ModelError) -> Bool {
    (a.code, a.type, a.property, a.suggestion, a.given)
      == (b.code, b.type, b.property, b.suggestion, b.given)
  }
}

extension ModelError: CustomStringConvertible {
  /// The sentence to show to the user.
  public var description: String {
    switch code {
    case .unknownProperty:
      "\(type) has no property '\(property)'" + didYouMean(suggestion)
    case .failed:
      suggestion ?? "property '\(property)' of \(type) could not be computed"
    case .readOnly:
      "property '\(property)' of \(type) is read-only"
    case .wrongType:
      """
      property '\(property)' of \(type) takes \(suggestion ?? "another type"), \
      not \(given ?? "nil")
      """
    }
  }
}
