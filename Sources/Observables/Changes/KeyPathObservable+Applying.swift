/// Applying and inverting changes (X3).
extension KeyPathObservable {
  /// Makes changes, in order, as the writes of one turn.
  ///
  /// If one of them does not fit, none is made. Objects that are contained as data are made by the
  /// `init(from:)` of the class that the property or the collection declares. Call this method on
  /// the thread of the loop.
  ///
  /// Tables of scripts are values: no change can go into one. `obs.apply` can.
  ///
  /// - Parameters:
  ///   - changes: the changes, with paths from this object.
  ///   - force: whether to skip changes that do not fit.
  ///   - origin: the author of the changes, for watchers of changes that skip it. In scripts, equal
  ///     numbers, booleans and text are the same origins. Writes by code that the changes call,
  ///     such as setters, belong to this origin, too.
  /// - Returns: the number of skipped changes.
  /// - Throws: ``ChangeError`` for the change that does not fit: the current value differs from its
  ///   `old`, or its object cannot be made.
  @discardableResult
  public func apply(
    _ changes: [DeepChange], force: Bool = false, origin: AnyHashable? = nil
  ) throws -> Int {
    // Any loop of the thread may observe objects below.
    var engines = LoopsHere().all.map(\.engine)
    for token in observationPlaces.tokens
    where !engines.contains(where: { $0 === token.node.engine }) {
      engines.append(token.node.engine)
    }
    for engine in engines { engine.immediates.beginBatch() }
    defer { for engine in engines { engine.immediates.endBatch() } }
    guard let origin else { return try ChangePlan.apply(changes, to: self, force: force) }
    for engine in engines { engine.origins.begin(origin) }
    var isMade = false
    defer { for engine in engines { engine.origins.end(isMade: isMade) } }
    let skipped = try ChangePlan.apply(changes, to: self, force: force)
    isMade = true
    return skipped
  }
}

extension [DeepChange] {
  /// The changes that undo these changes.
  public var inverted: [DeepChange] {
    reversed().map { change in
      var back = change
      (back.old, back.new) = (change.new, change.old)
      back.reference = change.oldReference?.turned
      back.oldReference = change.reference?.turned
      switch change.kind {
      case .insert: back.kind = .remove
      case .remove: back.kind = .insert
      case .move:
        if case .index(let to)? = change.path.last, let from = change.from {
          back.path[back.path.count - 1] = .index(from)
          back.from = to
        }
      case .set: break
      }
      return back
    }
  }
}

extension DeepChange.Reference {
  /// The same object in the inverse change.
  fileprivate var turned: DeepChange.Reference {
    switch self {
    case .before(let path): .after(path)
    case .after(let path): .before(path)
    }
  }
}
