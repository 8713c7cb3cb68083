extension Property {
  /// A lazy property: computed by `get` when it is read, and kept until one of the paths changes
  /// that it is computed from, or `invalidate` is called (Z1, Z2).
  ///
  /// The paths are of any kind: through nil, collections and operators, other lazy properties,
  /// tables of scripts. `isCached: false` makes a property that is computed at each read and
  /// reports changes of those paths (Z3).
  @inlinable
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value>, from paths: [Dependency] = [],
    isCached: Bool = true, isReadOnly: Bool = false, get: @escaping (Model) throws -> Value
  ) {
    self.init(
      name, storage, isCached: isCached, from: paths, isReadOnly: isReadOnly,
      run: { model, lazy in lazy.keep(try get(model)) })
  }

  /// A computed property that depends on what `get` read when it ran last (Z10): other lazy
  /// properties, observable collections, and properties that call
  /// ``ModelObservation/access(_:of:)``.
  @inlinable
  public init<Value>(
    _ name: String, tracked storage: @escaping (Model) -> Lazy<Value>, isReadOnly: Bool = false,
    get: @escaping (Model) throws -> Value
  ) {
    self.init(
      name, storage, isTracked: true, isReadOnly: isReadOnly,
      run: { model, lazy in lazy.keep(try get(model)) })
  }

  /// A property that is stored by a loader, which is given its name and may serve many (Z6).
  ///
  /// A loader that stores nothing leaves nil where the property is optional; else that is an error.
  /// It must not read what it is loading before it has stored it.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value>, from paths: [Dependency] = [],
    isReadOnly: Bool = false, loader: @escaping (Model, String) throws -> Void
  ) {
    let none = (Value.self as? any ExpressibleByNilLiteral.Type).map {
      $0.init(nilLiteral: ()) as! Value
    }
    self.init(
      name, storage, from: paths, isReadOnly: isReadOnly, isLoaded: true,
      run: { model, lazy in
        try loader(model, name)
        if let result = lazy.takeLoaded() { return result }
        guard let none else { throw LazyError.notLoaded(property: name) }
        return lazy.keep(none)
      })
  }

  /// A property that is created when it is read for the first time, and then configured, once (Z7).
  ///
  /// Assigning nil makes the next read create another one. While it is configured it can be read.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value?>,
    create: @escaping () throws -> Value,
    configure: @escaping (Model, Value) throws -> Void = { _, _ in }
  ) {
    self.init(
      name, storage, isLoaded: true, isArmedByNil: true,
      run: { model, lazy in
        let value = try create()
        lazy.assign(value, in: model)
        try configure(model, value)
        return lazy.takeLoaded() ?? lazy.keep(value)
      })
  }

  /// A property that is created when it is read for the first time, and then configured without
  /// being given what was created, once (Z7).
  ///
  /// All else is as for one that is given it.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value?>,
    create: @escaping () throws -> Value, configure: @escaping (Model) throws -> Void
  ) {
    self.init(name, lazy: storage, create: create, configure: { model, _ in try configure(model) })
  }

  /// A property that is created from an argument when it is read for the first time, and then
  /// configured with the same argument, once (Z7).
  ///
  /// All else is as without one.
  public init<Value, Argument>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value?>, with argument: Argument,
    create: @escaping (Argument) throws -> Value,
    configure: @escaping (Model, Value, Argument) throws -> Void = { _, _, _ in }
  ) {
    self.init(
      name, lazy: storage, create: { try create(argument) },
      configure: { model, value in try configure(model, value, argument) })
  }

  /// The same property, which is set by name with `set`: for one whose value is derived from what
  /// `set` writes.
  public func settable<Value>(_ set: @escaping (Model, Value) -> Void) -> Property {
    var property = self
    property.write = { model, value in
      guard let value = cast(value, to: Value.self) else { return false }
      set(model, value)
      return true
    }
    return property
  }

  @inlinable
  init<Value>(
    _ name: String, _ storage: @escaping (Model) -> Lazy<Value>, isTracked: Bool = false,
    isCached: Bool = true, from paths: [Dependency] = [], isReadOnly: Bool = false,
    isLoaded: Bool = false, isArmedByNil: Bool = false,
    run: @escaping (Model, Lazy<Value>) throws -> Computation
  ) {
    let declaration = LazyDeclaration(
      name, isTracked: isTracked, isCached: isCached, paths, isReadOnly: isReadOnly,
      isLoaded: isLoaded, isArmedByNil: isArmedByNil,
      storage: { storage(unsafeDowncast($0, to: Model.self)) },
      run: {
        try run(unsafeDowncast($0, to: Model.self), unsafeDowncast($1, to: Lazy<Value>.self))
      })
    self.init(declaration, storage)
  }

  @usableFromInline
  init<Value>(
    _ declaration: LazyDeclaration, _ storage: @escaping (Model) -> Lazy<Value>
  ) {
    let property = PropertyIdentity()
    self.init(
      declaration.name, type: Value.self, lazy: declaration,
      read: { try storage($0).anyValue() },
      operand: { model in
        do {
          return Operand(try storage(model).anyValue())
        } catch {
          return .opaque(type: "value that could not be computed")
        }
      },
      write: declaration.isReadOnly || declaration.traits.contains(.uncached)
        ? nil
        : { model, value in
          guard let value = cast(value, to: Value.self) else { return false }
          storage(model).assign(value, in: model)
          return true
        },
      child: { object, engine in
        let model = unsafeDowncast(object, to: Model.self)
        let value = try? storage(model).anyValue()
        return model.observation.node(
          ofAny: value as Any, heldAs: ObjectIdentifier(property), in: engine)
      })
  }
}

/// A value of unknown type as a `Value`, which may be optional; nil where it is of another type.
private func cast<Value>(_ value: Any?, to type: Value.Type) -> Value? {
  if let value { return value as? Value }
  return (type as? any ExpressibleByNilLiteral.Type).map { $0.init(nilLiteral: ()) as! Value }
}
