internal import CLua
internal import CSandbox
internal import CTables
internal import Lua
internal import Observables

/// The keys of a path as Lua values, in a table.
final class PathKeys: Sendable {
  /// Keeps the table, which leads to no other object; nil if a key is an object.
  let pin: LuaPin?
  /// The number of a key table that the path does not keep, because it may lead back to the path;
  /// otherwise 0.
  ///
  /// Scripts keep the table through the path object they hold, and so does the observed object of
  /// each watcher of the path (L6).
  let number: Int
  let pins: LuaPins
  /// The addresses of keys that are short names; nil for other keys, empty if the path does not
  /// keep the table.
  ///
  /// Lua has a single copy of each short name, and the table keeps it.
  // Only compared with other addresses.
  nonisolated(unsafe) let names: [UnsafeRawPointer?]

  init(_ pin: LuaPin, names: [UnsafeRawPointer?]) {
    (self.pin, number, pins, self.names) = (pin, 0, pin.pins, names)
  }
  init(number: Int, in pins: LuaPins) {
    (pin, self.number, self.pins, names) = (nil, number, pins, [])
  }
}

extension Path {
  /// The keys of a script's path.
  @inline(__always)
  fileprivate var keys: PathKeys? {
    guard let attachment, type(of: attachment) == PathKeys.self else { return nil }
    return unsafeDowncast(attachment, to: PathKeys.self)
  }

  /// Whether some component is an object, which the path does not keep.
  var hasObjectKeys: Bool { keys.map { $0.number > 0 } ?? false }
}

/// A cache of paths by text, so that each text is parsed once; and weak references to observers and
/// to keys of paths.
final class PathCache {
  /// Registry references of Lua tables: from texts to light pointers to paths, from indices to
  /// observers, from numbers to keys.
  @exclusivity(unchecked) private var texts: CInt = 0
  @exclusivity(unchecked) private var observers: CInt = 0
  @exclusivity(unchecked) private var objectKeys: CInt = 0
  @exclusivity(unchecked) private var lastNumber = 0
  @exclusivity(unchecked) private var cached: [Entry] = []
  private let limit = 4096
  @exclusivity(unchecked) private unowned(unsafe) var state: LuaState?
  @exclusivity(unchecked) private unowned(unsafe) var sandboxes: Sandboxes?
  @exclusivity(unchecked) private unowned(unsafe) var pins: LuaPins?

  /// A path, and the memory share that pays for it.
  private struct Entry {
    let path: Path
    let share: LuaState.Share
    let size: Int
  }

  func install(_ host: LuaHost, _ L: LuaStack) throws(LuaError) {
    (state, sandboxes, pins) = (host.state, host.sandboxes, host.state.pins)
    let state = host.state
    texts = try state.makeReference(L)
    observers = try state.makeReference(isWeak: true, L)
    objectKeys = try state.makeReference(isWeak: true, L)
  }

  /// The path of the string at `index`.
  ///
  /// - Throws: `PathError`, or `LuaError` if memory runs out.
  func path(at index: CInt, of L: LuaStack) throws -> Path {
    let index = L.absolute(index)
    L.pushReference(texts)
    L.pushCopy(at: index)
    let type = L.rawGet(at: -2)
    let known = L.userdata(at: -1)
    L.pop(2)
    if type == .lightUserdata, let known {
      return Unmanaged<Path>.fromOpaque(known).takeUnretainedValue()
    }
    let path = try parse(at: index, of: L)
    try remember(path, at: index, L)
    return path
  }

  private func parse(at index: CInt, of L: LuaStack) throws -> Path {
    guard let state, let sandboxes else { throw LuaError.closed }
    try sandboxes.current.quotas.checkPath(at: index, of: L)
    let size = bytes(at: index, of: L)
    // Parsing takes more memory than the resulting path.
    try state.charge(4 * size)
    let share = state.share
    defer { state.discharge(4 * size, from: share) }
    let components = try Path.components(ofScript: state.bytes(at: index, of: L))
    try state.pushTable(elements: components.count, to: L)
    var names: [UnsafeRawPointer?] = []
    for (step, component) in components.enumerated() {
      switch component.kind {
      case .slot, .element: L.push(component.number)
      case .every, .deep: L.push(false)
      default: try state.push(bytes: component.bytes, to: L)
      }
      names.append(component.kind == .name ? clua_shortname(L.pointer, -1) : nil)
      // The array part already exists, so this allocates nothing.
      L.rawSet(index: step + 1, at: -2)
    }
    return try Path(components: components, attachment: keys(L, names: names))
  }

  /// The maximum size in bytes of the path for the text at an index.
  private func bytes(at index: CInt, of L: LuaStack) -> Int {
    let length = Int(clua_plainlen(L.pointer, index))
    return 150 + 2 * length + 48 * Int(clua_pathcomponents(L.pointer, index))
  }

  /// Pops the table of keys. [-1, +0, -]
  private func keys(_ L: LuaStack, names: [UnsafeRawPointer?]) throws -> PathKeys {
    guard let state else { throw LuaError.closed }
    defer { L.pop() }
    return PathKeys(try state.pin(at: -1, of: L), names: names)
  }

  /// The address of a step's key, if it is a short name.
  @inline(__always)
  func name(_ step: Int, of path: Path) -> UnsafeRawPointer? {
    guard let keys = path.keys, step < keys.names.count, keys.pins === pins else {
      return nil
    }
    return keys.names[step]
  }

  /// Numbers the key table on top of the stack, which contains an object. [-0, +0, -]
  private func numberedKeys(_ L: LuaStack) throws(LuaError) -> PathKeys {
    guard let state else { throw .closed }
    lastNumber += 1
    let number = lastNumber
    L.pushReference(objectKeys)
    L.push(number)
    L.pushCopy(at: -3)
    try state.rawSet(of: L)
    L.pop()
    return PathKeys(number: number, in: state.pins)
  }

  private func remember(_ path: Path, at index: CInt, _ L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    if cached.count >= limit {
      // A script that generates many texts would fill the cache, so forget all texts, in Lua and in
      // Swift.
      let fresh = try state.makeReference(L)
      clua_dropreference(L.pointer, texts)
      texts = fresh
      for entry in cached { state.discharge(entry.size, from: entry.share) }
      cached = []
    }
    let size = bytes(at: index, of: L)
    try state.charge(size)
    let entry = Entry(path: path, share: state.share, size: size)
    L.pushReference(texts)
    L.pushCopy(at: index)
    L.push(Unmanaged.passUnretained(path).toOpaque())
    do throws(LuaError) { try state.rawSet(of: L) } catch {
      state.discharge(size, from: entry.share)
      throw error
    }
    L.pop()
    cached.append(entry)
  }

  /// Makes a path of exact keys from the values from index `first` to the top; pushes the table of
  /// keys. [-0, +1, -]
  func exactPath(from first: CInt, of L: LuaStack) throws -> Path {
    guard let state else { throw LuaError.closed }
    let count = L.height - first + 1
    try state.pushTable(elements: Int(count), to: L)
    var components: [Path.Component] = []
    var names: [UnsafeRawPointer?] = []
    var hasObjects = false
    for step in 0..<count {
      let index = first + step
      components.append(try component(at: index, of: L, argument: Int(step + 1)))
      switch L.type(at: index) {
      case .string, .number, .boolean: break
      default: hasObjects = true
      }
      names.append(clua_shortname(L.pointer, index))
      L.pushCopy(at: index)
      L.rawSet(index: Int(step + 1), at: -2)
    }
    if hasObjects { return try Path(components: components, attachment: numberedKeys(L)) }
    L.pushCopy(at: -1)
    return try Path(components: components, attachment: keys(L, names: names))
  }

  /// Pushes the keys of a path that does not keep them itself; returns false for other paths, and
  /// if the keys were collected. [-0, +(0|1), -]
  func pushObjectKeys(of path: Path, to L: LuaStack) -> Bool {
    guard let keys = path.keys, keys.number > 0, keys.pins === pins else { return false }
    pushKeys(numbered: keys.number, to: L)
    if !L.isNil(at: -1) { return true }
    L.pop()
    return false
  }

  /// Pushes a table of keys, or nil if it was collected. [-0, +1, -]
  private func pushKeys(numbered number: Int, to L: LuaStack) {
    L.pushReference(objectKeys)
    L.rawGet(index: number, at: -1)
    L.remove(-2)
  }

  private func component(
    at index: CInt, of L: LuaStack, argument: Int
  ) throws -> Path.Component {
    guard let state else { throw LuaError.closed }
    switch L.type(at: index) {
    case .string:
      return .exactName(state.bytes(at: index, of: L))
    case .number:
      if let number = L.wholeNumber(at: index) {
        return .init(kind: .key, bytes: Array("\(number)".utf8), number: Int(number))
      }
      let float = L.number(at: index)
      guard !float.isNaN else {
        throw LuaError("bad argument #\(argument) to 'path' (NaN is not a key)")
      }
      return .init(
        kind: .key, bytes: Array("\(float)".utf8), number: Int(bitPattern: UInt(float.bitPattern)))
    case .boolean:
      let value = L.boolean(at: index)
      return .init(kind: .key, bytes: Array("\(value)".utf8), number: value ? 1 : 0)
    case .nil:
      throw LuaError("bad argument #\(argument) to 'path' (nil is not a key)")
    default:
      let type = L.typeName(at: index)
      return .init(
        kind: .key, bytes: Array(type.utf8),
        number: Int(bitPattern: UInt(bitPattern: L.address(at: index))))
    }
  }

  /// Pushes the key of one step of a path. [-0, +1, -]
  func pushKey(_ step: Int, of path: Path, to L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    if let keys = path.keys, keys.pins === state.pins {
      if let pin = keys.pin {
        clua_pushpin(L.pointer, state.pinTable, pin.slot)
      } else {
        pushKeys(numbered: keys.number, to: L)
        // A collected object cannot be a key of any table.
        if L.isNil(at: -1) { return }
      }
      L.rawGet(index: step + 1, at: -1)
      L.remove(-2)
      return
    }
    // The path belongs to a Swift program, which counts from 0.
    let component = path.components[step]
    switch component.kind {
    case .slot, .element: L.push(component.number + 1)
    case .every, .deep: L.push(false)
    case .key where component.name == "\(component.number)":
      L.push(component.number)
    default: try state.push(bytes: component.bytes, to: L)
    }
  }

  // MARK: Observers

  /// Pops an observer, and holds it weakly. [-1, +0, -]
  func keepObserver(_ index: Int, _ L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    L.pushReference(observers)
    L.insert(-2)
    L.push(index)
    L.insert(-2)
    try state.rawSet(of: L)
    L.pop()
  }

  /// Pushes the observer of a watcher, or nil. [-0, +1, -]
  func pushObserver(_ index: Int, to L: LuaStack) {
    L.pushReference(observers)
    L.rawGet(index: index, at: -1)
    L.remove(-2)
  }

  func forgetObserver(_ index: Int, _ L: LuaStack) {
    L.pushReference(observers)
    // Assigning nil to an existing key allocates nothing.
    if L.rawGet(index: index, at: -1) != .nil {
      L.pushNil()
      L.rawSet(index: index, at: -3)
    }
    L.pop(2)
  }
}
