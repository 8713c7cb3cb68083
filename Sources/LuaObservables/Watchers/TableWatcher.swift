public import Lua
public import Observables

/// The watcher of a table of a script: calls a Swift closure.
///
/// It also ends when the host closes.
final class TableWatcher: Watcher {
  /// The callback: `change` is nil where nothing was written.
  typealias Body = (LuaTable, TableWatcher, _ change: TableChange?) -> Void

  private let reference: HostReference
  private var body: Body?

  init(
    host: LuaHost, options: WatcherOptions, observer: AnyObject? = nil, file: StaticString,
    line: UInt, body: @escaping Body
  ) {
    reference = host.reference
    self.body = body
    super.init(.init(host.engine, options, observer: observer, file, line))
  }

  var host: LuaHost? { reference.host }

  private func call(_ watcher: WatcherRef, _ change: TableChange?) {
    guard let host, let body, let root = watcher.pointee.root else { return }
    let L = host.state.stack
    host.observed.push(root, to: L)
    defer { L.pop() }
    guard L.isTable(at: -1), let pin = try? host.state.pin(at: -1, of: L) else { return }
    body(LuaTable(pin: pin), self, change)
  }

  // MARK: Receiver

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
    guard let equals, let host else { return super.accept(change, for: watcher) }
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
    return equals?(value(old), value(new)) ?? false
  }

  override func save(_ change: Change) -> AnyObject? {
    host?.receiver.saved(.written(change))
  }

  override func dropCallback() { body = nil }
}

/// The change that is delivered to an immediate watcher of a table.
///
/// Coalesced watchers do not get it: they read the latest state.
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
