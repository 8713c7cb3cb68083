import LuaObservables
import Observables

/// The greenhouse that the server controls, and that all plugins share.
final class Greenhouse: ObservableModel {
  static let properties = ModelProperties(for: Greenhouse.self) {
    Property("temperature", get: { $0.temperature }, set: { $0.temperature = $1 })
    Property("humidity", get: { $0.humidity }, set: { $0.humidity = $1 })
    Property("window", get: { $0.window })
  }
  let observation = ModelObservation()
  let window = Window()
  var temperature = 18.0 { didSet { observation.didSet(0, from: oldValue, to: temperature) } }
  var humidity = 60.0 { didSet { observation.didSet(1, from: oldValue, to: humidity) } }
}

final class Window: ObservableModel {
  static let properties = ModelProperties(for: Window.self) {
    Property("isOpen", get: { $0.isOpen }, set: { $0.isOpen = $1 })
  }
  let observation = ModelObservation()
  var isOpen = false { didSet { observation.didSet(0, from: oldValue, to: isOpen) } }
}

extension Window: ScriptModel {
  static let methods = ModelMethods(for: Window.self) {
    Method("open") { window in window.isOpen = true }
    Method("close") { window in window.isOpen = false }
  }
}
