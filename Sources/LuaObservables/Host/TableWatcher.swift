internal import CLua
public import Lua
public import Observables

/// A Swift watcher of a table of a script.
///
/// The table owns it (L1): dropping the handle ends nothing. It ends with ``stop()``, when the table is
/// collected, or when the host closes. Confined to the loop's thread.
public final class TableWatcher: Receiver {
  private let reference: HostReference
  private var record: WatcherRef?
  private var body: ((LuaTable, WatcherRef) -> Void)?
  private let name: String

  init(host: LuaHost, name: String, body: @escaping (LuaTable, WatcherRef) -> Void) {
    reference = host.reference
    self.name = name
    self.body = body
    super.init()
  }

  var host: LuaHost? { reference.host }

  func begin(_ record: WatcherRef) { self.record = record }

  /// Calls can still come.
  public var isActive: Bool { record != nil }

  /// Ends it: no call is made after this returns (T7).
  ///
  /// Harmless when it has ended.
  public func stop() {
    guard let record, let host else { return }
    host.engine.stop(record)
    host.engine.runHooks()
  }

  @_documentation(visibility: internal)
  public override func deliver(_ watcher: WatcherRef) {
    guard let host, let body, let root = watcher.pointee.root else { return }
    let L = host.state.pointer
    host.pushObject(of: root, to: L)
    defer { clua_pop(L, 1) }
    guard lua_type(L, -1) == LUA_TTABLE, let pin = try? host.state.pin(at: -1, of: L) else {
      return
    }
    body(LuaTable(pin: pin), watcher)
  }

  @_documentation(visibility: internal)
  public override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    deliver(watcher)
  }

  @_documentation(visibility: internal)
  public override func ended(_ watcher: WatcherRef, observedDied path: Path?) {
    record = nil
    body = nil
  }

  @_documentation(visibility: internal)
  public override func title(_ watcher: WatcherRef) -> String { name }
}

extension LuaHost {
  /// Calls `callback` at the end of each turn in which an element of `path`, rooted at a table of a
  /// script, changed.
  ///
  /// A Swift path counts from 0. On the loop's thread, at most once per turn (T1). The table is given
  /// to the callback, which must not capture it: the table owns the callback, and Swift's handle would
  /// keep the table (L6).
  ///
  /// - Throws: `PathError` for a component that its object cannot have, `LuaError` for a closed state.
  @discardableResult
  public func observe(
    _ table: LuaTable, _ path: Path, immediate: Bool = false, once: Bool = false,
    file: StaticString = #fileID, line: UInt = #line, _ callback: @escaping (LuaTable) -> Void
  ) throws -> TableWatcher {
    let watcher = TableWatcher(host: self, name: "\(file):\(line)") { table, _ in callback(table) }
    try begin(watcher, of: table, immediate, once) { try engine.add(path, to: $0) }
    return watcher
  }

  func begin(
    _ watcher: TableWatcher, of table: LuaTable, _ immediate: Bool, _ once: Bool,
    _ addPaths: (WatcherRef) throws -> Void
  ) throws {
    var flags: WatcherRecord.Flags = []
    if immediate { flags.insert(.immediate) }
    if once { flags.insert(.once) }
    let root = try state.withStack { L throws(LuaError) in
      try state.push(table.pin, to: L)
      return try tables.node(L)
    }
    let record = engine.makeWatcher(root: root, receiver: watcher, flags: flags)
    watcher.begin(record)
    do {
      try addPaths(record)
    } catch {
      watcher.stop()
      throw error
    }
    engine.runHooks()
  }
}
