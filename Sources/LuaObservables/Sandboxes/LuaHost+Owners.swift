internal import Observables

/// The owners of watchers and lazy properties (S5).
extension LuaHost {
  /// The number of the sandbox whose script registered a watcher, or declared a lazy property; 0
  /// for the host, Swift, and the module itself.
  func owner(of watcher: WatcherRef) -> UInt32 {
    if watcher.pointee.traits.contains(.lazy) { return lazies.sandbox(of: watcher) }
    guard receiver.isScript(watcher), !watcher.script.pointee.isInternal else { return 0 }
    return watcher.script.pointee.sandbox
  }

  /// Whether the running scripts may stop and explain a watcher or lazy property.
  func isOwn(_ watcher: WatcherRef) -> Bool { sandboxes.mayManage(owner(of: watcher)) }

  /// A placeholder for the name of a watcher or lazy property that the running scripts must not
  /// know; nil if they may know everything about it.
  func stranger(_ watcher: WatcherRef) -> String? {
    if isOwn(watcher) { return nil }
    return receiver.isScript(watcher) || lazies.isScript(watcher) ? "another script" : "the program"
  }
}
