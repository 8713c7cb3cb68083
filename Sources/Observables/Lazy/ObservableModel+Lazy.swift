extension ObservableModel {
  /// The names of the valid lazy properties of this object, in the order of declaration (Z14).
  public var validNames: [String] { lazies.filter { $0.storage.isValid }.map(\.declaration.name) }

  /// The names of the invalid lazy properties of this object, in the order of declaration.
  public var invalidNames: [String] {
    lazies.filter { !$0.storage.isValid }.map(\.declaration.name)
  }

  /// Whether a property is lazy and up to date.
  ///
  /// - Throws: ``ModelError`` for an unknown name.
  public func isValid(_ name: String) throws(ModelError) -> Bool {
    try storage(of: name)?.isValid ?? false
  }

  /// Makes the next read of a lazy property compute it again.
  ///
  /// Does nothing if the property is not lazy.
  ///
  /// - Throws: ``ModelError`` for an unknown name.
  public func invalidate(_ name: String) throws(ModelError) { try storage(of: name)?.invalidate() }

  /// Makes the next read of each lazy property compute it again.
  public func invalidate() { for (_, storage) in lazies { storage.invalidate() } }

  /// Returns the value of a property if it is valid.
  ///
  /// Nothing is computed or tracked.
  ///
  /// - Throws: ``ModelError`` for an unknown name.
  public func peek(_ name: String) throws(ModelError) -> Any? {
    if let storage = try storage(of: name) { return storage.anyPeek }
    return try Self.dynamicProperties(of: self).value(of: name, in: self)
  }

  /// Computes every lazy property that is invalid.
  ///
  /// - Throws: the first error, after all have been tried (Z8).
  public func force() throws {
    var first: (any Error)?
    for (_, storage) in lazies where !storage.isValid {
      do { _ = try storage.anyValue() } catch { first = first ?? error }
    }
    if let first { throw first }
  }

  private var lazies: [(declaration: LazyDeclaration, storage: LazyStorage)] {
    Self.dynamicProperties(of: self).entries.compactMap { entry in
      entry.lazy.map { declaration in
        let storage = declaration.storage(self)
        storage.bind(to: self, declaration)
        return (declaration, storage)
      }
    }
  }

  private func storage(of name: String) throws(ModelError) -> LazyStorage? {
    let properties = Self.dynamicProperties(of: self)
    guard let declaration = properties.entries[try properties.slot(of: name)].lazy else {
      return nil
    }
    let storage = declaration.storage(self)
    storage.bind(to: self, declaration)
    return storage
  }

  /// Notes that a tracked computation reads the property in `slot`.
  package func access(_ slot: Int) { observation.access(slot, of: self) }

  /// Makes the record of the lazy property in `slot`.
  func attachLazy(_ slot: Int, in engine: Engine) {
    let node = node(in: engine)
    let kind = Self.dynamicProperties(of: self).kind
    _ = kind.slot(slot, of: node)
  }
}
