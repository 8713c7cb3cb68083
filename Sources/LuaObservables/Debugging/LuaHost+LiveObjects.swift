internal import CLua
internal import Lua
internal import Observables

/// Lists of unfinished objects that scripts have begun.
extension LuaHost {
  /// A moment in time: tells older objects from newer ones.
  package struct Moment {
    fileprivate let watcher: UInt64
    fileprivate let timer, handler, task: Int
  }

  package var moment: Moment {
    Moment(
      watcher: engine.watchers.latestNumber, timer: module.timers.latest,
      handler: module.descriptors.latest, task: module.liveTasks.latest)
  }

  /// Watchers, timers, handlers and tasks that scripts have made since `moment` and that have not
  /// ended, in this order, each kind in order of creation.
  ///
  /// Objects that no code refers to count until they are collected.
  ///
  /// - Complexity: O(live objects)
  package func live(since moment: Moment) -> [LiveObject] {
    (try? state.withStack { _ throws(LuaError) in
      receiver.live(after: moment.watcher) + module.timers.live(after: moment.timer)
        + module.descriptors.live(after: moment.handler)
        + module.liveTasks.live(after: moment.task)
    }) ?? []
  }

  /// The reasons why the loop keeps running, in words; nil if it would end.
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
