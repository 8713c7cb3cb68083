extension ObservableModel {
  /// Keeps properties of this object equal to the properties of `source` with the same names (K4).
  ///
  /// The values are copied now, and at the end of each turn in which they changed in `source`. A
  /// value set here lasts until the property changes again in `source`. A bound write is an
  /// ordinary write, so bindings can be chained, and two objects can be bound to each other. Call
  /// this method on the loop's thread.
  ///
  /// The binding ends with ``Watcher/stop()`` of the returned watcher, or when one of the two
  /// objects is gone. This object is held weakly. The values stay as they are when the binding
  /// ends.
  ///
  /// A protocol that both classes conform to is a good place for the names. If a later value cannot
  /// be set, such as nil, that is reported to ``Loop/onError``, and the binding goes on. If a lazy
  /// property of `source` fails, this object keeps the previous value.
  ///
  /// - Precondition: `names` is not empty, and `options` has no observer, because this object is
  ///   the observer.
  /// - Throws: ``ModelError`` for a name that one of the objects does not have, for a property of
  ///   this object that is read-only or has another type, and for a lazy property that cannot be
  ///   computed. Nothing is bound then.
  /// - Complexity: O(number of names), now and per turn with a change.
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
          // Only properties that changed in the source are set. Other values that were set here are
          // kept.
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
  /// The last value, if it was an object; after it is gone, another object may have its address.
  private weak var lastObject: AnyObject?

  init(slot: Int) { self.slot = slot }

  /// Stores a value; returns whether it differs, or may differ, from the last value.
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
