internal import Observables

/// Who has registered or declared what (S5).
extension LuaHost {
  /// The number of the sandbox whose script has registered a watcher, or declared a lazy property;
  /// 0 where the host, Swift, or the module itself has.
  func owner(of watcher: WatcherRef) -> UInt32 {
    if watcher.pointee.traits.contains(.lazy) { return lazies.sandbox(of: watcher) }
    guard receiver.isScript(watcher), !watcher.script.pointee.isInternal else { return 0 }
    return watcher.script.pointee.sandbox
  }

  /// Whether the scripts that run now may stop and explain a watcher or lazy property.
  func isOwn(_ watcher: WatcherRef) -> Bool { sandboxes.mayManage(owner(of: watcher)) }

  /// The text that stands for a watcher or lazy property in texts for the scripts that run now; nil
  /// where they may know all about it.
  func stranger(_ watcher: WatcherRef) -> String? {
    if isOwn(watcher) { return nil }
    return receiver.isScript(watcher) || lazies.isScript(watcher) ? "another script" : "the program"
  }
}
