internal import Lua
internal import Observables

/// Finds the watchers of one object by path, observer or callback, so that `obs.stop` need not look
/// at all of them.
///
/// It may still name watchers that have ended, or that no longer match.
struct WatcherIndex {
  private var byPath: [[Path.Component]: [WatcherID]] = [:]
  private var byValue: [UnsafeRawPointer: [WatcherID]] = [:]
  /// How many paths may be added before the index is made again, without the ended watchers.
  private(set) var room = 64

  /// Whether watchers of the object are alive; they keep the object's number in use.
  func isNeeded(in engine: Engine) -> Bool {
    byPath.values.contains { $0.contains { engine.watchers[$0] != nil } }
  }

  mutating func add(_ watcher: WatcherRef, _ receiver: ScriptReceiver, _ L: LuaStack) {
    guard let root = watcher.pointee.root else { return }
    for path in receiver.engine.inspection.paths(of: watcher) { add(path, of: watcher) }
    receiver.pushObserver(of: watcher, to: L)
    receiver.observed.pushKept(ScriptWatcher.key(watcher, .callback), of: root, to: L)
    for index in [-2, -1] as [CInt] {
      if let value = L.address(at: index) { byValue[value, default: []].append(watcher.identity) }
    }
    L.pop(2)
  }

  mutating func add(_ path: Path, of watcher: WatcherRef) {
    room -= 1
    byPath[path.components, default: []].append(watcher.identity)
  }

  /// Allows as many new paths as there are now, and 64 more.
  mutating func complete() { room = 64 - room + 64 }

  /// The watchers that a filter may select, in order of registration.
  func candidates(for filter: StopFilter, _ L: LuaStack) -> [WatcherID] {
    var choices: [[WatcherID]] = []
    for (isGiven, index) in [
      (filter.hasObserver, filter.observer), (filter.hasCallback, filter.callback),
    ] where isGiven {
      choices.append(L.address(at: index).flatMap { byValue[$0] } ?? [])
    }
    let shortest = choices.min { $0.count < $1.count }
    if filter.paths.isEmpty { return shortest ?? [] }
    let lists = filter.paths.compactMap { byPath[$0.components] }
    if let shortest, shortest.count <= lists.reduce(0, { $0 + $1.count }) { return shortest }
    return Set(lists.joined()).sorted { $0.number < $1.number }
  }
}
