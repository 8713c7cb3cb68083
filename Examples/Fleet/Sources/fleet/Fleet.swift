import Observables

final class Robot: ObservableModel, Codable {
  static let properties = ModelProperties(for: Robot.self) {
    Property("battery", get: { $0.battery }, set: { $0.battery = $1 })
    Property("task", get: { $0.task }, set: { $0.task = $1 })
  }
  let observation = ModelObservation()
  var battery: Int { didSet { observation.didSet(0, from: oldValue, to: battery) } }
  var task: String? { didSet { observation.didSet(1, from: oldValue, to: task) } }

  init(battery: Int) { self.battery = battery }

  private enum CodingKeys: CodingKey { case battery, task }
}

final class Fleet: ObservableModel {
  static let properties = ModelProperties(for: Fleet.self) {
    Property("robots", get: { $0.robots })
    Property("alarms", get: { $0.alarms })
  }
  let observation = ModelObservation()
  /// The robots by their names; this program writes them.
  let robots = ObservableDictionary<String, Robot>()
  /// The names of robots that need help; the script writes them.
  let alarms = ObservableDictionary<String, String>()
}
