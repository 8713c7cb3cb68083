/// The identities of some watchers, including some that have ended.
package struct WatcherList {
  private var names: [WatcherID] = []
  /// When the list reaches this length, ended watchers are removed from it.
  private var limit = 64

  package init() {}

  /// Adds a watcher.
  ///
  /// - Complexity: O(1) amortized. The list has at most 64 names, or twice as many as watchers were
  ///   alive when ended ones were last removed.
  package mutating func add(_ name: WatcherID, in watchers: Watchers) {
    names.append(name)
    if names.count < limit { return }
    removeEnded(in: watchers)
    limit = max(64, 2 * names.count)
  }

  mutating func removeEnded(in watchers: Watchers) { names.removeAll { watchers[$0] == nil } }

  /// Calls `body` for the watchers that have not ended, in the order in which they were added;
  /// `body` may end any of them.
  package func forEach(in watchers: Watchers, _ body: (WatcherRef) -> Void) {
    for name in names {
      if let watcher = watchers[name] { body(watcher) }
    }
  }
}
