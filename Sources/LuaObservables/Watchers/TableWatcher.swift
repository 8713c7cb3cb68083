public import Lua
public import Observables

/// A Swift watcher of a table of a script.
///
/// The table owns it (L1): dropping the handle ends nothing. It ends with ``stop()``, when the
/// table is collected or the observer gone, or when the host closes. Confined to the loop's thread.
public final class TableWatcher: ObservationCore.Receiver {
  /// What is called: `change` is nil where nothing was written.
  typealias Body = (LuaTable, TableWatcher, _ change: TableChange?) -> Void

  private let reference: HostReference
  private var record: WatcherRef?
  private var body: Body?
  private weak var observer: AnyObject?
  private var equals: ((Any?, Any?) -> Bool)?
  private var endBody: ((Path) -> Void)?
  private let givenName: String?
  private let site: String
  /// How reports name it: what `WatcherOptions.name` gave, or the place of its registration.
  public var name: String { givenName ?? site }

  init(
    host: LuaHost, options: WatcherOptions, observer: AnyObject? = nil, file: StaticString,
    line: UInt, body: @escaping Body
  ) {
    reference = host.reference
    (givenName, site) = (options.name, "\(file):\(line)")
    (equals, endBody) = (options.equals, options.onEnd)
    self.observer = observer
    self.body = body
    super.init()
  }

  var host: LuaHost? { reference.host }
  var observing: AnyObject? { observer }
  var activeRecord: WatcherRef? { record }

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

  private func call(_ watcher: WatcherRef, _ change: TableChange?) {
    guard let host, let body, let root = watcher.pointee.root else { return }
    let L = host.state.stack
    host.observed.push(root, to: L)
    defer { L.pop() }
    guard L.isTable(at: -1), let pin = try? host.state.pin(at: -1, of: L) else { return }
    body(LuaTable(pin: pin), self, change)
  }

  // MARK: Receiver

  @_documentation(visibility: internal)
  public override func deliver(_ watcher: ObservationCore.WatcherRef) { call(watcher, nil) }

  @_documentation(visibility: internal)
  public override func deliver(
    _ watcher: ObservationCore.WatcherRef, _ change: ObservationCore.ImmediateChange, path: Path
  ) {
    guard let saved = host?.receiver.saved(change) else { return }
    call(watcher, TableChange(path: path, key: saved.key, old: saved.old, new: saved.new))
  }

  @_documentation(visibility: internal)
  public override func accept(
    _ change: ObservationCore.ImmediateChange, for watcher: ObservationCore.WatcherRef
  ) -> ObservationCore.ImmediateChange? {
    guard let equals, let host else { return super.accept(change, for: watcher) }
    if case .written(let written) = change, written.values == nil {
      return super.accept(change, for: watcher)
    }
    let saved = host.receiver.saved(change)
    // A literal nil would be the one of Lua.
    func value(_ value: LuaValue) -> Any? { value == .nil ? Any?.none : value }
    return equals(value(saved.old), value(saved.new)) ? nil : change
  }

  @_documentation(visibility: internal)
  public override func isEqual(
    _ old: ObservationCore.Operand, _ new: ObservationCore.Operand,
    for watcher: ObservationCore.WatcherRef
  ) -> Bool {
    func value(_ operand: ObservationCore.Operand) -> Any? {
      let value = LuaValue(operand)
      return value == .nil ? nil : value
    }
    return equals?(value(old), value(new)) ?? false
  }

  @_documentation(visibility: internal)
  public override func save(_ change: ObservationCore.Change) -> AnyObject? {
    host?.receiver.saved(.written(change))
  }

  @_documentation(visibility: internal)
  public override func isObserverAlive(_ watcher: ObservationCore.WatcherRef) -> Bool {
    observer != nil
  }

  @_documentation(visibility: internal)
  public override func ended(_ watcher: ObservationCore.WatcherRef, observedDied path: Path?) {
    record = nil
    (body, equals) = (nil, nil)
    // This may be in the middle of anything.
    if let path, let endBody { host?.loop.deferToNextTurn { endBody(path) } }
    endBody = nil
  }

  @_documentation(visibility: internal)
  public override func title(_ watcher: ObservationCore.WatcherRef) -> String { name }

  @_documentation(visibility: internal)
  public override func label(_ watcher: ObservationCore.WatcherRef) -> (name: String, site: String?)
  {
    (name, site)
  }
}

/// What an immediate watcher of a table is given.
///
/// Coalesced watchers are given none: they read the latest state.
public struct TableChange {
  /// The path on which the change lies, as it was registered.
  public let path: Path
  /// The key that was written; nil where nothing was: for `initial`, or an object that died.
  public let key: LuaValue
  /// The value before the write; nil also where the write came without values.
  public let old: LuaValue
  /// The value after the write; nil also where the write came without values.
  public let new: LuaValue
}
