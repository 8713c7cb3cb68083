public import Lua
public import Observables

/// A watcher of a script's table that calls a Swift closure.
///
/// It also ends when the host closes.
// Its additional state is used only on the loop's thread.
final class TableWatcher: Watcher, @unchecked Sendable {
  /// The callback; `change` is nil if there was no write.
  ///
  /// An error that it throws is reported to the host (T10).
  typealias Body = (LuaTable, TableWatcher, _ change: TableChange?) throws -> Void

  private let reference: HostReference
  /// The sandbox that gets the reports of errors.
  private let sandbox: UInt32
  private let isImmediate: Bool
  private var body: Body?
  /// The place in a script that last made the watcher pending.
  private var cause = Site()

  init(
    scope: ScriptScope, options: WatcherOptions, isImmediate: Bool, file: StaticString, line: UInt,
    body: @escaping Body
  ) {
    (reference, sandbox) = (scope.host.reference, scope.sandbox.number)
    self.isImmediate = isImmediate
    self.body = body
    super.init(.init(scope.host.engine, options, file, line))
  }

  var host: LuaHost? { reference.host }

  private func call(_ watcher: WatcherRef, _ change: TableChange?) {
    guard isActive, let host, let body, let root = watcher.pointee.root else { return }
    let L = host.state.stack
    host.observed.push(root, to: L)
    defer { L.pop() }
    guard L.isTable(at: -1), let pin = try? host.state.pin(at: -1, of: L) else { return }
    do {
      try holdingObserver { try body(LuaTable(pin: pin), self, change) }
    } catch {
      report(error)
    }
  }

  override func report(_ error: any Error) {
    guard let host, !host.isClosed else { return super.report(error) }
    // An immediate watcher is called inside the write, unless it was delayed.
    if isImmediate, host.state.stack.hasRoom(for: 8) {
      let current = host.sources.current(host.state.stack)
      if current.line > 0 { cause = current }
    }
    // A closed sandbox has no handler any more.
    host.sandboxes.entered(host.sandboxes.isOpen(sandbox) ? sandbox : 0) {
      host.reports.report(
        (error as? LuaError) ?? LuaError(.runtime, "\(error)", underlying: error),
        isImmediate ? .immediate : .watcher, name: name, site: site,
        cause: cause.line > 0 ? host.sources.text(cause) : nil)
    }
  }

  // MARK: Receiver

  override func noteCause(of watcher: WatcherRef) {
    guard let host, !host.isClosed, host.state.stack.hasRoom(for: 8) else { return }
    cause = host.sources.current(host.state.stack)
  }

  override func deliver(_ watcher: WatcherRef) { call(watcher, nil) }

  override func deliver(
    _ watcher: WatcherRef, _ change: ImmediateChange, path: Path
  ) {
    guard let saved = host?.receiver.saved(change) else { return }
    call(watcher, TableChange(path: path, key: saved.key, old: saved.old, new: saved.new))
  }

  override func accept(
    _ change: ImmediateChange, for watcher: WatcherRef
  ) -> ImmediateChange? {
    guard isActive, let equals, let host else { return super.accept(change, for: watcher) }
    if case .written(let written) = change, written.values == nil {
      return super.accept(change, for: watcher)
    }
    let saved = host.receiver.saved(change)
    // A literal `nil` would be `LuaValue.nil`.
    func value(_ value: LuaValue) -> Any? { value == .nil ? Any?.none : value }
    return equals(value(saved.old), value(saved.new)) ? nil : change
  }

  override func isEqual(
    _ old: Operand, _ new: Operand,
    for watcher: WatcherRef
  ) -> Bool {
    func value(_ operand: Operand) -> Any? {
      let value = LuaValue(operand)
      return value == .nil ? nil : value
    }
    return isActive && (equals?(value(old), value(new)) ?? false)
  }

  override func save(_ change: Change) -> AnyObject? {
    host?.receiver.saved(.written(change))
  }

  override func keep(_ saved: AnyObject, whilePaused watcher: WatcherRef, isDerived: Bool)
    -> AnyObject
  { host?.receiver.kept(saved, by: watcher, isDerived: isDerived) ?? saved }

  override func takeKept(_ saved: AnyObject, of watcher: WatcherRef) -> AnyObject? {
    host?.receiver.taken(saved, of: watcher)
  }

  override func dropCallback() { body = nil }
}

/// The change for an immediate watcher of a table.
///
/// Coalesced watchers do not get changes: they read the latest state.
public struct TableChange {
  /// The path of the change, as it was registered.
  public let path: Path
  /// The key that was written; nil without a write: for `initial`, or an object that died.
  public let key: LuaValue
  /// The value before the write; nil if the write came without values.
  public let old: LuaValue
  /// The value after the write; nil if the write came without values.
  public let new: LuaValue
}
