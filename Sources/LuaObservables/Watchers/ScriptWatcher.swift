internal import CLua
internal import Lua
internal import Observables

/// What the bridge remembers about a watcher of a script, at `WatcherRecord.context`.
struct ScriptWatcher {
  /// Where it was registered.
  let site: Site
  /// The write that made it pending last.
  var cause = Site()
  /// The object that owns its callback.
  let root: NodeRef
  /// Under which key that keeps the callback; what else belongs to the watcher comes next.
  let key: lua_Integer
  var hasObserver = false
  var hasName = false
  var hasEnd = false
  var hasEquals = false
  /// A function of the prelude calls the callback.
  var hasDriver = false
  /// It is told edits; `tellsAll`: at the next call all elements, as if they had just come.
  var hasEdits = false
  var tellsAll = false

  /// Its callback is called with the observed object and nil.
  var isPlain: Bool { !hasObserver && !hasDriver && !hasEdits }

  /// What the observed object keeps for a watcher.
  enum Part: Int {
    case callback, equals, end, name, driver
  }

  static func key(_ watcher: WatcherRef, _ part: Part) -> lua_Integer {
    watcher.script.pointee.key + lua_Integer(part.rawValue)
  }
  /// The key of the hook that `on_observed` sets.
  static let hookKey: lua_Integer = -1
}

extension UnsafeMutablePointer<WatcherRecord> {
  /// What the bridge remembers; only of watchers whose receiver is the script's.
  var script: UnsafeMutablePointer<ScriptWatcher> {
    UnsafeMutablePointer<ScriptWatcher>(bitPattern: pointee.context)!
  }
}

/// Calls the callbacks of scripts.
///
/// One for each host.
final class ScriptReceiver: Receiver {
  @exclusivity(unchecked) unowned(unsafe) var host: LuaHost!

  override func deliver(_ watcher: WatcherRef) {
    host.call(watcher, change: nil)
  }

  override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    host.call(watcher, change: (change, path))
  }

  override func accept(
    _ change: ImmediateChange, for watcher: WatcherRef
  ) -> ImmediateChange? { host.accept(change, for: watcher) }

  override func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool {
    host.isEqual(old, new, for: watcher)
  }

  override func save(_ change: Change) -> AnyObject? { host.saved(.written(change)) }

  override func noteCause(of watcher: WatcherRef) { host.noteCause(of: watcher) }

  override func isObserverAlive(_ watcher: WatcherRef) -> Bool {
    guard let root = watcher.pointee.root else { return false }
    // The callbacks of a Swift object belong to its userdata, which the collector may have given up
    // (L8).
    if !host.isTable(root), !host.objects.isKnown(root) { return false }
    guard watcher.script.pointee.hasObserver else { return true }
    let L = host.state.pointer
    defer { clua_pop(L, 1) }
    return host.pushObserver(of: watcher, to: L)
  }

  override func ended(_ watcher: WatcherRef, observedDied path: Path?) {
    host.watcherEnded(watcher, observedDied: path)
  }

  override func reportUnknown(_ error: PathError, of watcher: WatcherRef, in engine: Engine) {
    host.report(
      LuaError(error.description),
      watcher.pointee.flags.contains(.immediate) ? .immediate : .watcher, of: watcher)
  }

  override func title(_ watcher: WatcherRef) -> String {
    let (name, site) = host.title(of: watcher)
    return name == site ? name : "\(name) (\(site))"
  }

  override func label(_ watcher: WatcherRef) -> (name: String, site: String?) {
    let (name, site) = host.title(of: watcher)
    return (name, site)
  }
}

/// What an immediate watcher is told of a change.
enum ChangePart { case key, old, new }

/// The values of a write, kept for a call that has to wait.
final class SavedChange {
  let key: LuaValue
  let old: LuaValue
  let new: LuaValue

  init(key: LuaValue, old: LuaValue, new: LuaValue) {
    (self.key, self.old, self.new) = (key, old, new)
  }

  subscript(part: ChangePart) -> LuaValue {
    switch part {
    case .key: key
    case .old: old
    case .new: new
    }
  }
}

/// What `on_end` has to be told, in a turn of its own (L3).
struct Ending {
  let watcher: UInt64
  /// The slot of the anchor table that holds the callback.
  let slot: Int
  let name: String
  let site: String
}
