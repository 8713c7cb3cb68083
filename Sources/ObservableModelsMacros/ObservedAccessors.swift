import SwiftSyntax
import SwiftSyntaxBuilder

/// The accessors of an observed property.
struct ObservedAccessors {
  let name: String
  let storage: String
  /// The slot, as an expression.
  let slot: String
  let options: ModelOptions
  /// Whether an error about use by several threads was reported for the property.
  let isConfined: Bool

  var all: [AccessorDeclSyntax] {
    (options.isInitialized ? [initializer] : [])
      + (options.isThreadSafe
        ? [sharedGetter, sharedSetter, sharedModify] : [getter, setter, modify])
  }

  private var initializer: AccessorDeclSyntax {
    """
    @storageRestrictions(initializes: \(raw: storage))
    init(initialValue) {
      \(raw: storage) = initialValue
    }
    """
  }

  // MARK: For one thread

  private var getter: AccessorDeclSyntax {
    """
    get {
      \(raw: noteRead)return \(raw: storage)
    }
    """
  }

  private var setter: AccessorDeclSyntax {
    """
    set {
      \(raw: beginMutation)guard \(raw: watchers).isObserved(\(raw: slot)) else {
        \(raw: storage) = newValue
        return
      }
      let old = \(raw: storage)
      \(raw: storage) = newValue
      observation.didSet(\(raw: slot), from: old, to: \(raw: storage))
    }
    """
  }

  /// The `_modify` accessor, which copies nothing unless a watcher needs the old value.
  private var modify: AccessorDeclSyntax {
    """
    _modify {
      \(raw: beginMutation)guard \(raw: watchers).isObserved(\(raw: slot)) else {
        yield &\(raw: storage)
        return
      }
      let old = \(raw: storage)
      var value = old
      defer {
        \(raw: storage) = value
        observation.didSet(\(raw: slot), from: old, to: \(raw: storage))
      }
      yield &value
    }
    """
  }

  // MARK: For several threads

  private var sharedGetter: AccessorDeclSyntax {
    """
    get {
      \(raw: noteRead)return observation.locked {
        \(raw: storage)
      }
    }
    """
  }

  private var sharedSetter: AccessorDeclSyntax {
    let check = isConfined ? "" : sendableCheck(of: "newValue") + "\n  "
    return """
      set {
        \(raw: check)\(raw: beginMutation)let (old, new) = observation.locked {
          let old = \(raw: storage)
          \(raw: storage) = newValue
          return (old, \(raw: storage))
        }
        observation.didSet(\(raw: slot), of: self, from: old, to: new)
      }
      """
  }

  /// The `_modify` accessor for several threads: it holds the lock from reading to writing.
  private var sharedModify: AccessorDeclSyntax {
    """
    _modify {
      \(raw: beginMutation)observation.lock()
      let old = \(raw: storage)
      defer {
        let new = \(raw: storage)
        observation.unlock()
        observation.didSet(\(raw: slot), of: self, from: old, to: new)
      }
      yield &\(raw: storage)
    }
    """
  }

  // MARK: Other notifications

  /// The object that knows whether the property is observed: a record has an observation only on
  /// demand.
  private var watchers: String { options.isRecord ? "recordState" : "observation" }

  private var noteRead: String {
    let registrar =
      options.isObservable ? "modelRegistrar.access(self, keyPath: \\.\(name))\n  " : ""
    return registrar + "\(watchers).access(\(slot), of: self)\n  "
  }

  /// The statements that notify the store of a record and the toolchain's Observation, before the
  /// write and after it.
  private var beginMutation: String { noteInRecord + willSet }

  /// The statements that notify the store of a record, before the write and after it.
  private var noteInRecord: String {
    if !options.isRecord { return "" }
    return """
      recordState.willSet(\(slot), of: self)
        defer {
          recordState.didSet(\(slot), of: self)
        }
        \("")
      """
  }

  private var willSet: String {
    if !options.isObservable { return "" }
    return """
      modelRegistrar.willSet(self, keyPath: \\.\(name))
        defer {
          modelRegistrar.didSet(self, keyPath: \\.\(name))
        }
        \("")
      """
  }
}
