/// The way in which a class computes one of its lazy properties; all instances share the
/// declaration.
@usableFromInline
final class LazyDeclaration: @unchecked Sendable {
  // The declaration does not change once its class has its list of properties.
  let name: String
  let traits: WatcherRecord.Traits
  let dependencies: [Dependency]
  let isReadOnly: Bool
  /// Whether assigning nil makes the next read compute again (Z7).
  let isArmedByNil: Bool
  /// Whether a loader stores the value itself (Z6).
  let isLoaded: Bool
  let storage: (AnyObject) -> LazyStorage
  /// Computes the property of an instance and keeps the value.
  let run: (AnyObject, LazyStorage) throws -> Computation
  /// Its position among the properties of the class.
  fileprivate(set) var slot = -1

  @usableFromInline
  init(
    _ name: String, isTracked: Bool, isCached: Bool, _ dependencies: [Dependency],
    isReadOnly: Bool, isLoaded: Bool, isArmedByNil: Bool,
    storage: @escaping (AnyObject) -> LazyStorage,
    run: @escaping (AnyObject, LazyStorage) throws -> Computation
  ) {
    traits = isTracked ? .tracking : isCached ? [] : .uncached
    (self.name, self.dependencies) = (name, dependencies)
    (self.isReadOnly, self.isArmedByNil, self.isLoaded) = (isReadOnly, isArmedByNil, isLoaded)
    (self.storage, self.run) = (storage, run)
  }

  /// Whether changes of other properties make it invalid.
  var isDependent: Bool { !dependencies.isEmpty || traits.contains(.tracking) }

  /// The key that an immediate watcher receives as the written one.
  var key: ObservedValues.Key { slot < 0 ? .value(AnyHashable(name)) : .property(slot) }

  func place(at slot: Int) { self.slot = slot }

  func checkWritable(_ title: @autoclosure () -> String) {
    precondition(!isReadOnly, "\(title()) is read-only")
    precondition(!traits.contains(.uncached), "\(title()) keeps no value (isCached: false)")
  }
}

/// A dependency of a computed property: a key path from the model itself or from another object.
public struct Dependency: ExpressibleByStringLiteral {
  let path: Path
  let object: (() -> (any KeyPathObservable)?)?

  /// A key path of any kind, from the model itself.
  public init(_ path: Path) { (self.path, object) = (path, nil) }

  /// A key path from another object, which the declaration keeps alive.
  public init(_ object: any KeyPathObservable, _ path: Path) {
    (self.path, self.object) = (path, { object })
  }

  /// A key path from the model itself; a malformed literal is a programming error and traps.
  public init(stringLiteral text: String) { self.init(Path(stringLiteral: text)) }
}

/// The error when a lazy property cannot be computed.
public enum LazyError: Error, Equatable, Sendable {
  /// Properties depend on each other in a cycle (Z11).
  ///
  /// The names are in order, and the first one is repeated at the end.
  case cycle(names: [String])
  /// Tracked getters are nested too deeply (Z13).
  case tooDeep(first: String, last: String, depth: Int)
  /// A getter wrote to a dependency of its property.
  case disturbed(property: String, by: String)
  /// A getter invalidated its own property.
  case invalidated(property: String)
  /// A loader stored nothing, and the property cannot be nil.
  case notLoaded(property: String)
}

extension LazyError: CustomStringConvertible {
  /// The sentence to show to the user.
  public var description: String {
    switch self {
    case .cycle(let names):
      "a cycle of computed properties: \(names.joined(separator: " → "))"
    case .tooDeep(let first, let last, let depth):
      """
      computed properties are nested more than \(depth) levels deep, from '\(first)' to '\(last)' \
      (dependencies that are declared have no such limit)
      """
    case .disturbed(let property, let key):
      "the getter of '\(property)' wrote to '\(key)', which '\(property)' depends on"
    case .invalidated(let property):
      "the getter of '\(property)' invalidated its own property"
    case .notLoaded(let property):
      "the loader of '\(property)' stored no value"
    }
  }
}
