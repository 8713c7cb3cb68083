internal import CLua
internal import Lua
internal import Observables

/// A collection of the host program.
enum HostCollection {
  case array(any DynamicArray)
  case dictionary(any DynamicDictionary)
  case set(any DynamicSet)

  var base: any DynamicCollection {
    switch self {
    case .array(let array): array
    case .dictionary(let dictionary): dictionary
    case .set(let set): set
    }
  }
}

/// Swift models as scripts see them: each model has one userdata that holds it.
///
/// Callbacks that scripts register on a model belong to its userdata. Such a userdata is kept while
/// Swift code shares the model; once only its own callbacks or Lua hold it, the collector decides
/// (L6). Sharing is checked after each cycle of the collector.
final class HostObjects {
  // The host is not retained: it owns this object.
  unowned(unsafe) let host: LuaHost
  /// Registry reference of a weak table from model addresses to userdata.
  private var known: CInt = 0
  /// Registry reference of the table whose keys are the property names that C looks up.
  private var names: CInt = 0
  /// The model classes that scripts have met, by name.
  private var namedClasses: [String: AnyClass] = [:]
  /// The C records by class; nil for collections.
  private var classes: [ObjectIdentifier: HostClass?] = [:]
  /// The models whose userdata keeps values or is an observer.
  private var watched: [ObjectIdentifier: Watched] = [:]

  /// The methods of arrays and sets; nil until a script loads the module.
  var arrayMethods: LuaTable?
  var setMethods: LuaTable?
  /// Functions for methods of models, made on first use.
  var methodFunctions: [MethodKey: LuaFunction] = [:]

  init(_ host: LuaHost) { self.host = host }

  private final class Box {
    /// The object; never nil.
    ///
    /// It is optional so that `isKnownUniquelyReferenced` gets this variable itself: the compiler
    /// would pass a copy of a plain `AnyObject`, which adds a reference.
    @exclusivity(unchecked) var object: AnyObject?
    unowned(unsafe) let objects: HostObjects
    /// The object as an array, found once, because a cast costs more than the access that needs it.
    unowned(unsafe) let array: (any DynamicArray)?
    unowned(unsafe) let dictionary: (any DynamicDictionary)?
    unowned(unsafe) let set: (any DynamicSet)?
    /// The owner of a list, which must live as long as a script has the list.
    let owner: AnyObject?
    /// Whether something is kept for the object while the collector decides about its userdata.
    @exclusivity(unchecked) var isLoose = false

    init(_ object: AnyObject, _ objects: HostObjects) {
      (self.object, self.objects) = (object, objects)
      let isCollection = object is ObservableCollection
      array = isCollection ? object as? any DynamicArray : nil
      dictionary = isCollection ? object as? any DynamicDictionary : nil
      set = isCollection ? object as? any DynamicSet : nil
      owner = isCollection ? (object as? ObservableCollection)?.owner : nil
    }
  }

  private struct Watched {
    /// The box is not retained: the userdata holds it, and its end removes this entry.
    unowned(unsafe) let box: Box
    /// The slot of the anchor table that keeps the userdata; 0 while the collector decides.
    var anchor: Int
    var kept: Int
  }

  func install(_ L: LuaStack) throws(LuaError) {
    known = try host.state.makeReference(isWeak: true, L)
    names = try host.state.makeReference(L)
    let context = Unmanaged.passUnretained(self).toOpaque()
    try host.state.check(
      clua_try_watchcollector(
        L.pointer,
        { Unmanaged<HostObjects>.fromOpaque($0!).takeUnretainedValue().collectorCycled() },
        context), L)
  }

  /// Releases the object of a handle that Lua has freed; C also recognizes handles by this
  /// function.
  static let release: clua_finalizer = { box in
    let box = Unmanaged<Box>.fromOpaque(box!)
    box.takeUnretainedValue().objects.collected(box.takeUnretainedValue())
    box.release()
  }

  /// Runs `body` with the object of a handle, which Lua keeps alive for the call.
  @inline(__always)
  static func withObject<Result>(
    _ box: UnsafeMutableRawPointer?, _ body: (AnyObject) -> Result
  ) -> Result {
    Unmanaged<Box>.fromOpaque(box.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      body($0.object.unsafelyUnwrapped)
    }
  }

  /// The C record for an object's class; nil if memory runs out or the class has none. [-0, +0, -]
  private func record(
    for object: AnyObject, _ L: LuaStack
  ) -> UnsafeMutablePointer<clua_class>? {
    let key = ObjectIdentifier(type(of: object))
    if let known = classes[key] { return known?.record }
    var made: HostClass?
    if let model = object as? any ObservableModel {
      let height = L.height
      L.pushReference(names)
      made = HostClass(type(of: model), host, L)
      L.height = height
      namedClasses[type(of: model).properties.typeName] = type(of: object)
    }
    classes[key] = .some(made)
    return made?.record
  }

  /// The model class of this name, if scripts have met an object of it.
  func knownClass(named name: String) -> Any.Type? { namedClasses[name] }

  /// Lets C find a method from now on. [-0, +0, -]
  func remember(
    _ function: LuaFunction, _ name: String, of model: AnyObject, _ L: LuaStack
  ) {
    guard let known = classes[ObjectIdentifier(type(of: model))], let known else { return }
    L.pushReference(names)
    known.add(function, name, host, L)
    L.pop()
  }

  /// Pushes the userdata of a model. [-0, +1, -]
  func push(_ object: AnyObject, to L: LuaStack) throws(LuaError) {
    let address = Unmanaged.passUnretained(object).toOpaque()
    L.pushReference(known)
    if L.rawGet(address: address, at: -1) == .userdata {
      L.remove(-2)
      return
    }
    L.pop()
    // The collector has given up the former userdata and its callbacks.
    if let entry = watched.removeValue(forKey: ObjectIdentifier(object)) {
      entry.box.isLoose = false
      host.receiver.stopWatchers(of: object)
    }
    let box = Unmanaged.passRetained(Box(object, self))
    let status = clua_try_pushhandle(
      L.pointer, CLUA_HANDLE_OBJECT,
      clua_handle(
        object: box.toOpaque(), release: HostObjects.release, index: 0,
        id: UInt64(UInt(bitPattern: record(for: object, L)))))
    guard status == LUA_OK else {
      box.release()
      L.remove(-2)
      throw host.state.takeError(status, L)
    }
    L.push(address)
    L.pushCopy(at: -2)
    do throws(LuaError) { try host.state.rawSet(at: -4, of: L) } catch {
      L.pop(2)
      throw error
    }
    L.remove(-2)
  }

  /// Pushes the userdata of an observed model, or nil if memory runs out. [-0, +1, -]
  func push(_ root: NodeRef, to L: LuaStack) {
    guard !root.isDead, let model = root.model, (try? push(model, to: L)) != nil else {
      return L.pushNil()
    }
  }

  /// The model in the userdata at `index`, if it is one. [-0, +0, -]
  ///
  /// Swift may keep the model, so it counts as shared until the collector's next cycle is over.
  func object(at index: CInt, of L: LuaStack) -> AnyObject? {
    guard let box = box(at: index, of: L), let object = box.object else { return nil }
    if box.isLoose {
      L.pushCopy(at: index)
      watched[ObjectIdentifier(object)]!.anchor = host.anchors.keep(L)
      box.isLoose = false
    }
    return object
  }

  private func box(at index: CInt, of L: LuaStack) -> Box? {
    guard let handle = clua_toobject(L.pointer, index),
      let box = handle.pointee.object
    else { return nil }
    return Unmanaged<Box>.fromOpaque(box).takeUnretainedValue()
  }

  /// The array in the userdata at `index`, if it is one. [-0, +0, -]
  func array(at index: CInt, of L: LuaStack) -> (any DynamicArray)? {
    box(at: index, of: L)?.array
  }

  /// The set in the userdata at `index`, if it is one. [-0, +0, -]
  func set(at index: CInt, of L: LuaStack) -> (any DynamicSet)? {
    box(at: index, of: L)?.set
  }

  /// The collection in the userdata at `index`, if it is one. [-0, +0, -]
  func collection(at index: CInt, of L: LuaStack) -> HostCollection? {
    guard let box = box(at: index, of: L) else { return nil }
    if let array = box.array { return .array(array) }
    if let dictionary = box.dictionary { return .dictionary(dictionary) }
    return box.set.map(HostCollection.set)
  }

  // MARK: Kept values

  /// Pops a value and keeps it as long as the userdata of `root` lives. [-1, +0, -]
  func keep(_ key: lua_Integer, of root: NodeRef, _ L: LuaStack) throws(LuaError) {
    guard let model = root.model else { return L.pop() }
    do {
      try push(model, to: L)
    } catch {
      L.pop()
      throw error
    }
    if L.pushUserValue(at: -1) != .table {
      L.pop()
      do throws(LuaError) { try host.state.pushTable(fields: 1, to: L) } catch {
        L.pop(2)
        throw error
      }
      L.pushCopy(at: -1)
      L.setUserValue(at: -3)
    }
    L.push(key)
    L.pushCopy(at: -4)
    do throws(LuaError) { try host.state.rawSet(of: L) } catch {
      L.pop(3)
      throw error
    }
    L.pop()
    share(L)
    L.pop(2)
  }

  /// Keeps the userdata on top of the stack while Swift shares its object. [-0, +0, -]
  ///
  /// For a userdata that keeps values or is an observer, and so has to live as long as its object.
  /// Does nothing for a value that is no object of the host.
  func share(_ L: LuaStack) {
    guard let box = box(at: -1, of: L), let object = box.object else { return }
    if watched[ObjectIdentifier(object)] != nil {
      watched[ObjectIdentifier(object)]!.kept += 1
    } else {
      L.pushCopy(at: -1)
      watched[ObjectIdentifier(object)] = Watched(box: box, anchor: host.anchors.keep(L), kept: 1)
    }
  }

  /// Undoes one `share`. [-0, +0, -]
  func unshare(_ L: LuaStack) {
    if let object = object(at: -1, of: L) { unshare(object, L) }
  }

  private func unshare(_ object: AnyObject, _ L: LuaStack) {
    guard var entry = watched[ObjectIdentifier(object)] else { return }
    entry.kept -= 1
    if entry.kept == 0 {
      host.anchors.release(entry.anchor, L)
      entry.box.isLoose = false
      watched[ObjectIdentifier(object)] = nil
    } else {
      watched[ObjectIdentifier(object)] = entry
    }
  }

  /// Whether the userdata that keeps values for `root` exists. [-0, +0, -]
  func isKnown(_ root: NodeRef) -> Bool {
    let L = host.state.stack
    pushExisting(root, to: L)
    defer { L.pop() }
    return L.isUserdata(at: -1)
  }

  /// Pushes the existing userdata for `root`, or nil. [-0, +1, -]
  ///
  /// A watcher that ends after the userdata was freed must not make a new userdata.
  private func pushExisting(_ root: NodeRef, to L: LuaStack) {
    guard !root.isDead, let model = root.model else { return L.pushNil() }
    L.pushReference(known)
    L.rawGet(address: Unmanaged.passUnretained(model).toOpaque(), at: -1)
    L.remove(-2)
  }

  /// Pushes a value that was kept for the model, or nil. [-0, +1, -]
  func pushKept(_ key: lua_Integer, of root: NodeRef, to L: LuaStack) {
    pushExisting(root, to: L)
    if L.isUserdata(at: -1), L.pushUserValue(at: -1) == .table {
      L.rawGet(index: key, at: -1)
      L.remove(-2)
      L.remove(-2)
    } else {
      L.pop()
      if L.isUserdata(at: -1) { L.pop() }
      L.pushNil()
    }
  }

  func forget(_ key: lua_Integer, of root: NodeRef, _ L: LuaStack) {
    let height = L.height
    defer { L.height = height }
    guard let model = root.model else { return }
    pushExisting(root, to: L)
    if L.isUserdata(at: -1), L.pushUserValue(at: -1) == .table,
      L.rawGet(index: key, at: -1) != .nil
    {
      L.pushNil()
      L.rawSet(index: key, at: -3)
      unshare(model, L)
    }
  }

  // MARK: Sharing

  /// After a cycle of the collector, checks which models Swift shares, and keeps their userdata.
  ///
  /// This allocates nothing in Lua.
  private func collectorCycled() {
    guard !host.isClosed else { return }
    host.engine.watchers.noteOrphans()
    let L = host.state.stack
    for (identifier, entry) in watched {
      let isShared = !isKnownUniquelyReferenced(&entry.box.object)
      if isShared, entry.anchor == 0 {
        L.pushReference(known)
        let address = Unmanaged.passUnretained(entry.box.object!).toOpaque()
        if L.rawGet(address: address, at: -1) == .userdata {
          watched[identifier]?.anchor = host.anchors.keep(L)
          entry.box.isLoose = false
          L.pop()
        } else {
          L.pop(2)
        }
      } else if !isShared, entry.anchor != 0 {
        host.anchors.release(entry.anchor, L)
        watched[identifier]?.anchor = 0
        entry.box.isLoose = true
      }
    }
  }

  /// Ends the scripts' watchers of a model whose userdata is gone.
  private func collected(_ box: Box) {
    let identifier = ObjectIdentifier(box.object!)
    // The object may already have another userdata.
    guard !host.isClosed, watched[identifier]?.box === box else { return }
    watched[identifier] = nil
    host.receiver.stopWatchers(of: box.object!)
  }
}
