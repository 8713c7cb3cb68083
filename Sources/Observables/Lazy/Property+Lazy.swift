extension Property {
  /// Makes a lazy property, which `get` computes on read (Z1, Z2).
  ///
  /// The value is kept until something on one of the paths changes, or until `invalidate` is
  /// called. The paths can be of any kind: through nil, collections and operators, other lazy
  /// properties, or tables of scripts. With `isCached: false`, the property is computed at each
  /// read and reports changes of its paths (Z3).
  @inlinable
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> LazyHandle<Value>,
    from paths: [Dependency] = [],
    isCached: Bool = true, isReadOnly: Bool = false, get: @escaping (Model) throws -> Value
  ) {
    self.init(
      name, storage, isCached: isCached, from: paths, isReadOnly: isReadOnly,
      run: { model, lazy in lazy.keep(try get(model)) })
  }

  /// Makes a tracked property, which depends on the values that `get` read in its last run (Z10).
  ///
  /// Reads are tracked of other lazy properties, observable collections, and properties that call
  /// ``ModelObservation/access(_:of:)``.
  @inlinable
  public init<Value>(
    _ name: String, tracked storage: @escaping (Model) -> LazyHandle<Value>,
    isReadOnly: Bool = false,
    get: @escaping (Model) throws -> Value
  ) {
    self.init(
      name, storage, isTracked: true, isReadOnly: isReadOnly,
      run: { model, lazy in lazy.keep(try get(model)) })
  }

  /// Makes a property that a loader stores.
  ///
  /// The loader receives the property's name, so it can serve many (Z6). If the loader stores
  /// nothing, the property is nil if it is optional; otherwise this is an error. The loader must
  /// not read the property before it has stored it.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> LazyHandle<Value>,
    from paths: [Dependency] = [],
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

  /// Makes a property that is created on first read, and then configured once (Z7).
  ///
  /// `configure` can read the property. Assigning nil makes the next read create another value.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> LazyHandle<Value?>,
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

  /// Makes a property that is created on first read, and then configured once by a closure without
  /// the created value (Z7).
  ///
  /// Everything else is as for a closure that receives the value.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> LazyHandle<Value?>,
    create: @escaping () throws -> Value, configure: @escaping (Model) throws -> Void
  ) {
    self.init(name, lazy: storage, create: create, configure: { model, _ in try configure(model) })
  }

  /// Makes a property that is created from an argument on first read, and then configured once with
  /// the same argument (Z7).
  ///
  /// Everything else is as without an argument.
  public init<Value, Argument>(
    _ name: String, lazy storage: @escaping (Model) -> LazyHandle<Value?>, with argument: Argument,
    create: @escaping (Argument) throws -> Value,
    configure: @escaping (Model, Value, Argument) throws -> Void = { _, _, _ in }
  ) {
    self.init(
      name, lazy: storage, create: { try create(argument) },
      configure: { model, value in try configure(model, value, argument) })
  }

  /// A copy of the property that `set` writes when it is set by name.
  ///
  /// This is for a value that is derived from the properties that `set` writes.
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
    _ name: String, _ storage: @escaping (Model) -> LazyHandle<Value>, isTracked: Bool = false,
    isCached: Bool = true, from paths: [Dependency] = [], isReadOnly: Bool = false,
    isLoaded: Bool = false, isArmedByNil: Bool = false,
    run: @escaping (Model, Lazy<Value>) throws -> Computation
  ) {
    let declaration = LazyDeclaration(
      name, isTracked: isTracked, isCached: isCached, paths, isReadOnly: isReadOnly,
      isLoaded: isLoaded, isArmedByNil: isArmedByNil,
      storage: { storage(unsafeDowncast($0, to: Model.self)).storage },
      run: {
        try run(unsafeDowncast($0, to: Model.self), unsafeDowncast($1, to: Lazy<Value>.self))
      })
    self.init(declaration, storage)
  }

  @usableFromInline
  init<Value>(
    _ declaration: LazyDeclaration, _ storage: @escaping (Model) -> LazyHandle<Value>
  ) {
    let property = PropertyIdentity()
    self.init(
      declaration.name, type: Value.self, lazy: declaration,
      read: { try storage($0).storage.anyValue() },
      operand: { model in
        do {
          return Operand(try storage(model).storage.anyValue())
        } catch {
          return .opaque(type: "value that could not be computed")
        }
      },
      write: declaration.isReadOnly || declaration.traits.contains(.uncached)
        ? nil
        : { model, value in
          guard let value = cast(value, to: Value.self) else { return false }
          storage(model).storage.assign(value, in: model)
          return true
        },
      child: { object, engine in
        let model = unsafeDowncast(object, to: Model.self)
        let value = try? storage(model).storage.anyValue()
        return model.observation.node(
          ofAny: value as Any, heldAs: ObjectIdentifier(property), in: engine)
      })
  }
}

/// Casts a value of unknown type to `Value`, which may be optional; nil if the value has another
/// type.
private func cast<Value>(_ value: Any?, to type: Value.Type) -> Value? {
  if let value { return value as? Value }
  return (type as? any ExpressibleByNilLiteral.Type).map { $0.init(nilLiteral: ()) as! Value }
}
