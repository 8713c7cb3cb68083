import Observables

/// A model for fixtures.
final class Counter: ObservableModel {
  static let properties = ModelProperties(for: Counter.self) {
    Property("count", get: { $0.count }, set: { $0.count = $1 })
    Property("step", get: { $0.step }, set: { $0.step = $1 })
  }
  let observation = ModelObservation()
  var count = 0 { didSet { observation.didSet(0, from: oldValue, to: count) } }
  var step = 1 { didSet { observation.didSet(1, from: oldValue, to: step) } }
}
