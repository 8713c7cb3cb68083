extension ObservableModel {
  /// Keeps properties of this object equal to those of the same names of `source` (K4).
  ///
  /// They are set now, and at the end of each turn in which those of `source` became others; what
  /// is set here meanwhile lasts until then. A bound write is a write as any other, so bindings
  /// chain, and two objects may be bound to each other. On the loop's thread. Ends with
  /// ``Watcher/stop()`` of what is returned, which leaves the values as they are, or when one of
  /// both objects is gone; this object is held weakly.
  ///
  /// A protocol that both conform to is a good place for the names. A value that cannot be set
  /// later, such as nil, is reported to ``Loop/onError``, and the binding goes on; a lazy property
  /// that fails keeps the value of before here.
  ///
  /// - Precondition: there is a name, and the options have no observer: that is this object.
  /// - Throws: ``ModelError`` for a name that one of both does not have, a property here that is
  ///   read-only or of another type, and a lazy one that cannot be computed; nothing is bound then.
  /// - Complexity: O(number of names), per turn with a change, too.
  @discardableResult
  public func bind<Source: ObservableModel>(
    _ names: [String], to source: Source, in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line
  ) throws -> Watcher {
    precondition(!names.isEmpty, "A binding needs at least one name")
    precondition(
      !options.hasObserver,
      "A binding takes no observer: it ends with the object that is bound")
    let from = type(of: source).properties
    let to = type(of: self).properties
    for name in names { _ = try to.slot(of: name) }
    let bound = try names.map { BoundProperty(slot: try from.slot(of: $0)) }
    for (name, property) in zip(names, bound) {
      let value = try from.value(of: name, in: source)
      try to.set(name, of: self, to: value)
      property.remember(value, from.entries[property.slot].operand(source))
    }
    let engine = try source.engine(of: loop)
    var options = options
    options.observer = self
    return try source.observe(
      names.map { Path(names: [$0]) }, in: engine.inbox.loop, options, file, line
    ) { [unowned engine, unowned self, name = options.name] source in
      for (key, property) in zip(names, bound) {
        do {
          let value = try from.value(of: key, in: source)
          // Only properties that changed in the source are set: others keep what was set here.
          if property.remember(value, from.entries[property.slot].operand(source)) {
            try to.set(key, of: self, to: value)
          }
        } catch let error as ModelError where error.code != .failed {
          engine.report(.value(watcher: name ?? "\(file):\(line)", message: "\(error)"))
        } catch {
          // The failed computation was reported already.
        }
      }
    }
  }
}

/// The value of one property that was set last.
private final class BoundProperty {
  let slot: Int
  private var last = Operand.none
  /// The last value, if it was an object: another object may have its address when it is gone.
  private weak var lastObject: AnyObject?

  init(slot: Int) { self.slot = slot }

  /// Keeps a value; returns whether it is another one than the last, or may be.
  @discardableResult
  func remember(_ value: Any?, _ operand: Operand) -> Bool {
    defer {
      last = operand
      lastObject = nil
      if case .object = operand { lastObject = value as AnyObject? }
    }
    switch operand {
    case .opaque: return true
    case .object: return operand != last || lastObject == nil
    default: return operand != last
    }
  }
}
