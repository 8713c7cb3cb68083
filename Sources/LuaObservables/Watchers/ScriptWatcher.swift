internal import CTables
internal import Lua
internal import Observables

/// The bridge's record of a script's watcher, at `WatcherRecord.context`.
struct ScriptWatcher {
  /// The place where the watcher was registered.
  let site: Site
  /// The write that last made the watcher pending.
  var cause = Site()
  /// The object that owns the callback.
  let root: NodeRef
  /// The key under which `root` keeps the callback; the next keys are for the watcher's other
  /// parts.
  let key: Int64
  /// The code that registered the watcher.
  let owner: ScriptOwner
  var sandbox: UInt32 { owner.sandbox }
  /// Whether others made it pending, so that it may have to wait for the next turn.
  var isCausedByOthers = false
  /// Bytes of scripts' memory that the watcher's records take, besides its paths and links.
  static let charge = 400
  /// Whether the prelude registered it for internal use: it counts for no quota, and is called even
  /// when scripts must stop.
  let isInternal: Bool
  /// Whether a task waits for its call, and has to be woken if the watcher ends before that.
  var isAwaited: Bool
  /// Its parts besides paths and callback.
  var parts: Parts = []
  /// Whether its next call delivers all elements as insertions.
  var givesAll = false

  init(
    _ site: Site, _ root: NodeRef, key: Int64, owner: ScriptOwner,
    _ request: RegisteringFunctions.Request, _ options: ObserveOptions
  ) {
    (self.site, self.root, self.key, self.owner) = (site, root, key, owner)
    (isInternal, isAwaited) = (request.isInternal, request.isWait)
    if options.hasObserver { parts.insert(.observer) }
  }

  /// Whether a coalesced call passes just the observed object and nil.
  var isPlain: Bool { parts.isDisjoint(with: [.observer, .driver, .edits, .objects]) }

  struct Parts: OptionSet {
    let rawValue: UInt8
    static let observer = Parts(rawValue: 1)
    static let name = Parts(rawValue: 2)
    /// `on_end`.
    static let end = Parts(rawValue: 4)
    static let equals = Parts(rawValue: 8)
    /// The observed object keeps components of its paths.
    static let keys = Parts(rawValue: 16)
    /// A function of the prelude calls the callback.
    static let driver = Parts(rawValue: 32)
    /// The watcher gets edits.
    static let edits = Parts(rawValue: 64)
    /// The callback gets the written object, not the root; nil if objects were written while it
    /// ran.
    static let objects = Parts(rawValue: 128)
  }

  /// The parts of a watcher that the observed object keeps: at most `CLUA_KEY_STRIDE`.
  enum Part: Int {
    case callback, equals, end, name, driver, keys, probed, missed
  }

  static func key(_ watcher: WatcherRef, _ part: Part) -> Int64 {
    watcher.script.pointee.key + Int64(part.rawValue)
  }
  /// The key for the object keys that a debugger's watcher keeps of its path.
  static func key(ofProbe watcher: WatcherRef) -> Int64 {
    Int64(watcher.pointee.index) * Int64(CLUA_KEY_STRIDE) + Int64(Part.probed.rawValue)
  }
  /// The key for the values of the changes that a paused watcher has missed.
  static func key(ofMissed watcher: WatcherRef) -> Int64 {
    Int64(watcher.pointee.index) * Int64(CLUA_KEY_STRIDE) + Int64(Part.missed.rawValue)
  }
  /// The key of the hook that a sandbox sets by `on_observed`.
  static func hookKey(of sandbox: UInt32) -> Int64 { -1 - Int64(sandbox) }
}

extension UnsafeMutablePointer<WatcherRecord> {
  /// The bridge's record; only for watchers whose receiver is a `ScriptReceiver`.
  var script: UnsafeMutablePointer<ScriptWatcher> {
    UnsafeMutablePointer<ScriptWatcher>(bitPattern: pointee.context)!
  }
}

/// A part of a change for an immediate watcher.
enum ChangePart { case key, old, new }

/// The values of a write, kept for a call that has to wait.
final class SavedChange: EventValues {
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

  /// Its values are kept by the observed object of a paused watcher.
  final class Kept {
    /// The index of the first one in the table that has them.
    let first: Int
    init(first: Int) { self.first = first }
  }

  var size: Int {
    [key, old, new].reduce(128) { $0 + $1.heapSize }
  }
}

extension LuaValue {
  /// Bytes outside Lua's memory that it takes besides its own size.
  fileprivate var heapSize: Int {
    switch self {
    case .nil, .boolean, .integer, .number, .lightUserdata: 0
    case .string(let text): text.bytes.count + 32
    case .table, .function, .userdata, .thread: 64
    }
  }
}
