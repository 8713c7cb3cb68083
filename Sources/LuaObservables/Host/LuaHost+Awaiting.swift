internal import Observables

extension LuaHost {
  /// What keeps the loop running, in words; nil where nothing does.
  package var awaitedEvents: String? {
    guard loop.isAlive else { return nil }
    let events = [
      text(of: module.timers.awaited(byTasks: false), "a timer", "timers"),
      text(of: module.timers.awaited(byTasks: true), "a task", "tasks"),
      text(of: module.descriptors.awaited, "a handler", "handlers"),
      loop.isInnerLoopAlive ? "handles of luv" : nil,
    ].compactMap(\.self)
    return events.isEmpty ? "events" : events.joined(separator: "; ")
  }

  /// The number of events of a kind, and the places where the first of them were registered.
  private func text(of events: [String], _ one: String, _ several: String) -> String? {
    guard !events.isEmpty else { return nil }
    let most = 3
    let places = events.prefix(most).joined(separator: ", ")
    let more = events.count > most ? " and \(events.count - most) more" : ""
    return "\(events.count == 1 ? one : "\(events.count) \(several)"): \(places)\(more)"
  }
}
