/// Records events in order.
package final class Log {
  package private(set) var events: [String] = []
  package init() {}

  package func note(_ event: String) { events.append(event) }
  package func take() -> [String] {
    defer { events = [] }
    return events
  }
}
