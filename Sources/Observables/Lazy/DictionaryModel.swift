/// An object whose properties are the entries of a store: each is loaded when it is read for the
/// first time, kept, and written through.
///
/// This is for classes whose properties are kept in a dictionary, a file of settings, a row of a
/// database. The names are not declared; each is a lazy property (Z1):
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
/// A path names properties as it does in a model, but any name is fine. Over an
/// ``ObservableDictionary`` nothing has to be invalidated: the properties follow its changes. A
/// script uses such an object as a dictionary. Confined to the thread of the loop that observes it.
@dynamicMemberLookup
public final class DictionaryModel<Value>: ObservableCollection {
  private let load: (String) throws -> Value?
  private let store: (String, Value?) -> Void
  /// The dictionary whose changes the properties follow, where the store is an observable one.
  private let dictionary: ObservableDictionary<String, Value>?
  private var properties: [String: Lazy<Value?>] = [:]
  var slots = KeyedSlots<String>()
  private(set) lazy var traits = ElementTraits<Value>()

  /// Properties over a store that is read by `load`, where nil is a value too, and written by
  /// `store`.
  ///
  /// Neither may capture this object: it would never be freed.
  public init(
    load: @escaping (_ name: String) throws -> Value?,
    store: @escaping (_ name: String, _ value: Value?) -> Void
  ) {
    (self.load, self.store, dictionary) = (load, store, nil)
    super.init()
    answering = self
  }

  /// Properties over the entries of a dictionary, whose changes they follow.
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

  /// The value of a property, loaded if it is not valid; assigning stores it, and makes it valid.
  ///
  /// Where it cannot be loaded, reading gives the previous value, or nil, and the error is
  /// reported; `get` throws it.
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
      // An observable dictionary has notified the property of the write already, and may have
      // stored another value.
      if dictionary == nil { property.assign(newValue) }
    }
  }

  /// The value of the property of this name: `settings.zoom` is `settings["zoom"]`.
  public subscript(dynamicMember name: String) -> Value? {
    get { self[name] }
    set { self[name] = newValue }
  }

  /// The value of a property, loaded if it is not valid.
  ///
  /// - Throws: what loading throws; the next read tries again (Z8).
  public func get(_ name: String) throws -> Value? { try attachedProperty(name).get() }

  /// The value of a property, if it is valid; nothing is loaded.
  public func peek(_ name: String) -> Value? { properties[name]?.peek.flatMap { $0 } }

  // MARK: Validity

  /// The property is loaded again when it is read.
  ///
  /// Watchers are called if that gives another value.
  public func invalidate(_ name: String) { properties[name]?.invalidate() }

  /// Every property is loaded again when it is read.
  ///
  /// Watchers are called if that gives another value.
  public func invalidate() { for property in properties.values { property.invalidate() } }

  /// Whether reading the property loads nothing.
  public func isValid(_ name: String) -> Bool { properties[name]?.isValid ?? false }

  /// The names of the properties that are valid, in order.
  public var validNames: [String] { properties.filter { $0.value.isValid }.keys.sorted() }

  /// The names of the properties that were used and are not valid, in order.
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

  // MARK: Where they are observed

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

  /// A property, with a record in the engine where it needs one: where it depends on another
  /// object, where this object is observed, and where a tracked computation reads the property.
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
