extension Property {
  /// A lazy property: computed by `get` when it is read, and kept until one of the paths changes that it
  /// is computed from, or `invalidate` is called (Z1, Z2).
  ///
  /// The paths are of any kind: through nil, collections and operators, other lazy properties, tables of
  /// scripts. `isCached: false` makes a property that is computed at each read and announces changes of
  /// those paths (Z3).
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value>, from paths: [Dependency] = [],
    isCached: Bool = true, isReadOnly: Bool = false, get: @escaping (Model) throws -> Value
  ) {
    let flags: WatcherRecord.Flags = isCached ? [] : .uncached
    let declaration = LazyDeclaration<Value>(
      name, flags, paths, isReadOnly: isReadOnly,
      storage: { storage(unsafeDowncast($0, to: Model.self)) })
    declaration.get = { try get(unsafeDowncast($0, to: Model.self)) }
    self.init(declaration, storage)
  }

  /// A computed property that depends on what `get` read when it ran last (Z10): other lazy properties,
  /// observable collections, and properties that call `ModelObservation.access`.
  public init<Value>(
    _ name: String, tracked storage: @escaping (Model) -> Lazy<Value>, isReadOnly: Bool = false,
    get: @escaping (Model) throws -> Value
  ) {
    let declaration = LazyDeclaration<Value>(
      name, .tracking, [], isReadOnly: isReadOnly,
      storage: { storage(unsafeDowncast($0, to: Model.self)) })
    declaration.get = { try get(unsafeDowncast($0, to: Model.self)) }
    self.init(declaration, storage)
  }

  /// A property that is stored by a loader, which is given its name and may serve many (Z6).
  ///
  /// A loader that stores nothing leaves nil where the property is optional; else that is an error. It
  /// must not read what it is loading before it has stored it.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value>, from paths: [Dependency] = [],
    isReadOnly: Bool = false, loader: @escaping (Model, String) throws -> Void
  ) {
    let declaration = LazyDeclaration<Value>(
      name, [], paths, isReadOnly: isReadOnly,
      storage: { storage(unsafeDowncast($0, to: Model.self)) })
    declaration.load = { try loader(unsafeDowncast($0, to: Model.self), $1) }
    declaration.none = (Value.self as? any ExpressibleByNilLiteral.Type).map {
      $0.init(nilLiteral: ()) as! Value
    }
    self.init(declaration, storage)
  }

  /// A property that is created when it is read for the first time, and then configured, once (Z7).
  ///
  /// Assigning nil makes the next read create another one. While it is configured it can be read.
  public init<Value>(
    _ name: String, lazy storage: @escaping (Model) -> Lazy<Value?>,
    create: @escaping () throws -> Value,
    configure: @escaping (Model, Value) throws -> Void = { _, _ in }
  ) {
    let declaration = LazyDeclaration<Value?>(
      name, [], [], isReadOnly: false, isArmedByNil: true,
      storage: { storage(unsafeDowncast($0, to: Model.self)) })
    declaration.load = { object, _ in
      let model = unsafeDowncast(object, to: Model.self)
      let value = try create()
      storage(model).assign(value, in: model)
      try configure(model, value)
    }
    declaration.none = .some(nil)
    self.init(declaration, storage)
  }

  private init<Value>(
    _ declaration: LazyDeclaration<Value>, _ storage: @escaping (Model) -> Lazy<Value>
  ) {
    self.init(
      declaration.name, type: Value.self, lazy: declaration,
      read: { try storage($0).anyValue() },
      operand: { Operand((try? storage($0).anyValue()) ?? nil) },
      write: declaration.isReadOnly
        ? nil
        : { model, value in
          guard let value = cast(value, to: Value.self) else { return false }
          storage(model).assign(value, in: model)
          return true
        },
      child: { object, engine in
        let value = try? storage(unsafeDowncast(object, to: Model.self)).anyValue()
        return (value as? any ObservableReference)?.observationToken(in: engine)?.node
      })
  }
}

/// A value of unknown type as a `Value`, which may be optional; nil where it is none.
private func cast<Value>(_ value: Any?, to type: Value.Type) -> Value? {
  if let value { return value as? Value }
  return (type as? any ExpressibleByNilLiteral.Type).map { $0.init(nilLiteral: ()) as! Value }
}
