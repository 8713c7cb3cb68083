internal import CTables
internal import LibC
internal import Lua

/// The owner of running code and of registrations: a sandbox, and one of its modules.
struct ScriptOwner: Hashable {
  var sandbox: UInt32
  /// The number of the module's loading; 0 for code outside of modules.
  var module: UInt32 = 0
}

/// Knows which module's code runs (H2).
///
/// Code of a module is its chunk while it is loaded, and the callbacks that belong to the module. A
/// module gets a new number each time it is loaded.
final class ScriptModules {
  private let numbers: UnsafeMutablePointer<clua_modules>
  /// The loads of the library's `require`: name to number, negative during the loading, and number
  /// to file.
  private var loads: LuaTable?
  /// The library's search for a loader, through `package.searchers`.
  private var finder: LuaFunction?
  /// The other loads, by the sandbox's number and the name.
  private var others: [Name: UInt32] = [:]
  /// The modules among `others` that are being loaded.
  private var underWay: Set<Name> = []

  /// The numbers of modules that were loaded again by their own code, which is still running.
  var retired: Set<UInt32> = []

  private struct Name: Hashable {
    let sandbox: UInt32
    let text: String
  }

  /// The program's main script, if it can be loaded again like a module.
  private var main: (path: String, arguments: [String])?

  /// How a module was loaded last.
  struct Load {
    let number: UInt32
    let file: String?
    /// Whether `require` is still loading it.
    var isUnderWay = false
    /// The arguments of the chunk; nil for a module, which gets its name and file.
    var arguments: [String]?
  }

  init() {
    numbers = .allocate(capacity: 1)
    numbers.initialize(to: clua_modules())
  }

  deinit { numbers.deallocate() }

  /// The number of the module whose code runs; 0 for other code.
  var running: UInt32 {
    get { numbers.pointee.running }
    set { numbers.pointee.running = newValue }
  }

  /// Replaces the function `require` of the library `package`, which is on top of the stack.
  /// [-0, +0, -]
  func install(_ state: LuaState, _ L: LuaStack) throws(LuaError) {
    L.pushCopy(at: -1)
    try state.check(clua_try_setrequire(L.pointer, numbers), L)
    loads = LuaTable(pin: try state.pin(at: -1, of: L))
    finder = LuaFunction(pin: try state.pin(at: -2, of: L))
    L.pop(2)
  }

  /// Called when the host closes.
  func end() { (loads, finder, others) = (nil, nil, [:]) }

  func forget(_ sandbox: UInt32) { others = others.filter { $0.key.sandbox != sandbox } }

  /// A number for a new loading.
  func next() -> UInt32 {
    numbers.pointee.last += 1
    return numbers.pointee.last
  }

  /// Runs `body` as code of a module.
  func running<Result, Failure: Error>(
    _ number: UInt32, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = running
    running = number
    defer { running = outer }
    return try body()
  }

  /// Runs the chunk of a module that the host program offers, for the first time.
  func loading<Result, Failure: Error>(
    _ name: String, of sandbox: UInt32, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let key = Name(sandbox: sandbox, text: name)
    let number = next()
    others[key] = number
    underWay.insert(key)
    defer { underWay.remove(key) }
    return try running(number, body)
  }

  /// Notes the number with which a module was loaded, or loaded again.
  func note(_ name: String, of sandbox: UInt32, as number: UInt32) {
    if sandbox == 0, let loads, let former = try? loads.get(name, as: Int?.self) {
      try? loads.set(Int(number), to: loads.get(former, as: LuaValue.self))
      try? loads.set(former, to: LuaValue.nil)
      try? loads.set(name, to: Int(number))
      return
    }
    others[Name(sandbox: sandbox, text: name)] = number
  }

  /// The number with which a module was loaded last, and its file; nil if it was not loaded as
  /// Lua code.
  func load(of name: String, in sandbox: UInt32) -> Load? {
    let known = others[Name(sandbox: sandbox, text: name)]
    if let known, isMain(name), sandbox == 0 {
      return Load(number: known, file: name, arguments: main?.arguments)
    }
    guard sandbox == 0, let loads, let number = try? loads.get(name, as: Int?.self) else {
      let isUnderWay = underWay.contains(Name(sandbox: sandbox, text: name))
      return known.map { Load(number: $0, file: nil, isUnderWay: isUnderWay) }
    }
    let file = try? loads.get(abs(number), as: String?.self)
    return Load(
      number: UInt32(truncatingIfNeeded: abs(number)), file: file, isUnderWay: number < 0)
  }

  /// The loader that the library's `require` would call for a module, and its data.
  ///
  /// - Throws: the message of one searcher, or of all.
  func loader(of name: String) throws(LuaError) -> [LuaValue] {
    guard let finder else { return [] }
    do throws(LuaError) { return try finder.callPlainly(name) } catch {
      // Lua's searcher for files puts the name and the file before the message, which has the file.
      let parts = error.message.split(separator: "\n\t", maxSplits: 1)
      guard !error.isStop, parts.count == 2, parts[0].hasPrefix("error loading module ") else {
        throw error
      }
      throw LuaError(String(parts[1]))
    }
  }

  /// Runs the main script as a module whose name is its path.
  func runMain<Result>(_ path: String, _ arguments: [String], _ body: () -> Result) -> Result {
    main = (path, arguments)
    let number = next()
    note(path, of: 0, as: number)
    return running(number, body)
  }

  func isMain(_ name: String) -> Bool { main?.path == name }

  /// The names of the modules, including the main script, that were loaded from a file, whose path
  /// has no links.
  func names(ofFile path: String) -> [String] {
    names(in: 0).filter { name in
      guard let file = load(of: name, in: 0)?.file, let resolved = realpath(file, nil) else {
        return false
      }
      defer { free(resolved) }
      return String(cString: resolved) == path
    }
  }

  /// Forgets a module, which `require` loads again.
  func forget(_ name: String, of sandbox: UInt32) {
    others[Name(sandbox: sandbox, text: name)] = nil
    guard sandbox == 0, let loads, let number = try? loads.get(name, as: Int?.self) else { return }
    try? loads.set(abs(number), to: LuaValue.nil)
    try? loads.set(name, to: LuaValue.nil)
  }

  /// The names of the modules that were loaded as Lua code.
  func names(in sandbox: UInt32) -> [String] {
    var names = Set(others.keys.lazy.filter { $0.sandbox == sandbox }.map(\.text))
    if sandbox == 0 {
      try? loads?.forEach { key, _ in
        if case .string(let name) = key { names.insert(name.shown) }
      }
    }
    return names.sorted()
  }
}
