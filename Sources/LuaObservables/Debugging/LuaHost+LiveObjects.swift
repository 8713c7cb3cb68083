internal import CLua
internal import Lua
internal import Observables

/// What scripts have begun, for those who want to know what is left of it.
extension LuaHost {
  /// A moment: what was made after it is newer.
  package struct Moment {
    fileprivate let watcher: UInt64
    fileprivate let timer, handler, task: Int
  }

  package var moment: Moment {
    Moment(
      watcher: engine.watchers.latestNumber, timer: module.timers.latest,
      handler: module.descriptors.latest, task: module.liveTasks.latest)
  }

  /// What scripts have made since then and has not ended: watchers, timers, handlers, tasks, each
  /// in the order in which they were made.
  ///
  /// Objects that no code refers to count until they are collected.
  ///
  /// - Complexity: O(all that is live)
  package func live(since moment: Moment) -> [LiveObject] {
    (try? state.withStack { _ throws(LuaError) in
      receiver.live(after: moment.watcher) + module.timers.live(after: moment.timer)
        + module.descriptors.live(after: moment.handler)
        + module.liveTasks.live(after: moment.task)
    }) ?? []
  }

  /// What keeps the loop running, in words; nil where nothing does.
  package var awaitedEvents: String? {
    guard loop.isAlive else { return nil }
    let objects =
      module.timers.awaited + module.descriptors.awaited + module.liveTasks.live(after: 0)
    let awaited = (loop.isInnerLoopAlive ? ["luv"] : []) + objects.map(\.description)
    guard !awaited.isEmpty else { return "events" }
    let most = 3
    let shown = awaited.prefix(most).joined(separator: ", ")
    return awaited.count > most ? "\(shown) and \(awaited.count - most) more" : shown
  }
}
