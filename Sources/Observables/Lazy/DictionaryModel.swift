/// An object whose properties are the entries of a store.
///
/// Each property is loaded on first read, kept, and written through. This is for classes whose
/// properties are kept in a dictionary, a settings file, or a database row. The names are not
/// declared; each name is a lazy property (Z1):
///
/// ```swift
/// let settings = DictionaryModel<Int>(
///   load: { UserDefaults.standard.object(forKey: $0) as? Int },
///   store: { UserDefaults.standard.set($1, forKey: $0) })
/// try settings.observe("zoom") { settings in print(settings.zoom ?? 1) }
/// settings.zoom = 2                   // stored at once
/// settings.invalidate("zoom")         // the store has another value now
/// ```
///
/// A path names properties as in a model, and any name is valid. The properties of a model over an
/// ``ObservableDictionary`` follow its changes, so you don't have to invalidate them. A script uses
/// such an object as a dictionary. It is confined to the thread of the loop that observes it.
@dynamicMemberLookup
public final class DictionaryModel<Value>: ObservableCollection {
  private let load: (String) throws -> Value?
  private let store: (String, Value?) -> Void
  /// The dictionary whose changes the properties follow, if the store is observable.
  private let dictionary: ObservableDictionary<String, Value>?
  private var properties: [String: Lazy<Value?>] = [:]
  var slots = KeyedSlots<String>()
  private(set) lazy var traits = ElementTraits<Value>()

  /// Makes properties over a store.
  ///
  /// `load` reads it, where nil is also a value, and `store` writes it. Neither closure may capture
  /// this object, because it would never be freed.
  public init(
    load: @escaping (_ name: String) throws -> Value?,
    store: @escaping (_ name: String, _ value: Value?) -> Void
  ) {
    (self.load, self.store, dictionary) = (load, store, nil)
    super.init()
    answering = self
  }

  /// Makes properties over the entries of a dictionary, and follows its changes.
  public init(_ dictionary: ObservableDictionary<String, Value>) {
    self.dictionary = dictionary
    load = { dictionary[$0] }
    store = { dictionary[$0] = $1 }
    super.init()
    answering = self
  }

  override func detach() {
    super.detach()
    slots = KeyedSlots()
  }

  // MARK: Properties

  /// The value of a property, loaded if it is not valid.
  ///
  /// Assigning stores a value and makes it valid. If loading fails, reading returns the previous
  /// value, or nil, and the error is reported. `get` throws it instead.
  public subscript(name: String) -> Value? {
    get {
      let property = attachedProperty(name)
      do {
        return try property.get()
      } catch {
        property.noteUnheard(error)
        return property.last.flatMap { $0 }
      }
    }
    set {
      let property = attachedProperty(name)
      store(name, newValue)
      // An observable dictionary has already notified the property of the write, and may have
      // stored another value.
      if dictionary == nil { property.assign(newValue) }
    }
  }

  /// The value of the property with this name: `settings.zoom` is `settings["zoom"]`.
  public subscript(dynamicMember name: String) -> Value? {
    get { self[name] }
    set { self[name] = newValue }
  }

  /// Returns the value of a property, loaded if it is not valid.
  ///
  /// - Throws: the error of loading. The next read tries again (Z8).
  public func get(_ name: String) throws -> Value? { try attachedProperty(name).get() }

  /// Returns the value of a property if it is valid; nothing is loaded.
  public func peek(_ name: String) -> Value? { properties[name]?.peek.flatMap { $0 } }

  // MARK: Validity

  /// Makes the next read of a property load it again.
  ///
  /// Watchers are called if the value then differs.
  public func invalidate(_ name: String) { properties[name]?.invalidate() }

  /// Makes the next read of every property load it again.
  ///
  /// Watchers are called if a value then differs.
  public func invalidate() { for property in properties.values { property.invalidate() } }

  /// Whether the property is valid, so that reading it loads nothing.
  public func isValid(_ name: String) -> Bool { properties[name]?.isValid ?? false }

  /// The names of the valid properties, in alphabetical order.
  public var validNames: [String] { properties.filter { $0.value.isValid }.keys.sorted() }

  /// The names of the properties that were used and are not valid, in alphabetical order.
  public var invalidNames: [String] { properties.filter { !$0.value.isValid }.keys.sorted() }

  /// Loads every property that was used and is not valid.
  ///
  /// - Throws: the first error, after all have been tried (Z8).
  public func force() throws {
    var first: (any Error)?
    for name in invalidNames {
      do { _ = try get(name) } catch { first = first ?? error }
    }
    if let first { throw first }
  }

  // MARK: Observation

  private func property(_ name: String) -> Lazy<Value?> {
    if let property = properties[name] { return property }
    let same = traits.same
    let property = Lazy<Value?>(standIn: .some(nil)) { a, b in
      switch (a, b) {
      case (let a?, let b?): same(a, b)
      case (nil, nil): true
      default: false
      }
    }
    let declaration = LazyDeclaration(
      name, isTracked: false, isCached: true,
      dictionary.map { [Dependency($0, Path(.key(name)))] } ?? [], isReadOnly: false,
      isLoaded: false, isArmedByNil: false, storage: { [unowned property] _ in property },
      run: { [unowned property] object, _ in
        property.keep(try unsafeDowncast(object, to: DictionaryModel.self).load(name))
      })
    property.bind(to: self, declaration)
    properties[name] = property
    return property
  }

  /// Returns a property, with a record in the engine if it needs one.
  ///
  /// It needs one if it depends on another object, if this object is observed, and if a tracked
  /// computation reads it.
  private func attachedProperty(_ name: String) -> Lazy<Value?> {
    let property = property(name)
    let isTracked = isAnythingTracked
    guard node != nil || dictionary != nil || isTracked,
      let engine = node?.engine ?? LoopChoice.engineForReading,
      let node = observationToken(in: engine)?.node
    else { return property }
    let slot = slot(of: name, on: node)
    if isTracked { engine.tracking.noteRead(slot) }
    return property
  }

  func slot(of name: String, on node: NodeRef) -> SlotRef {
    if let slot = slots[name] { return slot }
    let slot = slots.slot(of: name, on: node)
    property(name).attach(to: slot, in: node.engine)
    return slot
  }

  /// The valid properties that have a value, in the order of their names.
  var loaded: [(name: String, value: Value)] {
    validNames.compactMap { name in peek(name).map { (name, $0) } }
  }
}
