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
  let key: Int64
  var hasObserver = false
  var hasName = false
  var hasEnd = false
  var hasEquals = false
  /// A function of the prelude calls the callback.
  var hasDriver = false
  /// It is given edits; `givesAll`: at the next call all elements, as if they had just come.
  var hasEdits = false
  var givesAll = false

  /// Its callback is called with the observed object and nil.
  var isPlain: Bool { !hasObserver && !hasDriver && !hasEdits }

  /// What the observed object keeps for a watcher.
  enum Part: Int {
    case callback, equals, end, name, driver
  }

  static func key(_ watcher: WatcherRef, _ part: Part) -> Int64 {
    watcher.script.pointee.key + Int64(part.rawValue)
  }
  /// The key of the hook that `on_observed` sets.
  static let hookKey: Int64 = -1
}

extension UnsafeMutablePointer<WatcherRecord> {
  /// What the bridge remembers; only of watchers whose receiver is the script's.
  var script: UnsafeMutablePointer<ScriptWatcher> {
    UnsafeMutablePointer<ScriptWatcher>(bitPattern: pointee.context)!
  }
}

/// What an immediate watcher is given of a change.
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
