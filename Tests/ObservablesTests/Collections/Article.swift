import Observables
import TestSupport

/// An element of the collections that random programs change.
final class Article: ObservableModel {
  static let properties = ModelProperties(for: Article.self) {
    Property("price", get: { $0.price }, set: { $0.price = $1 })
    Property("items", get: { $0.items }, set: { $0.items = $1 })
  }
  let observation = ModelObservation()
  let number: Int
  var price: Int { didSet { observation.didSet(0, from: oldValue, to: price) } }
  var items: ObservableArray<Article>? {
    didSet { observation.didSet(1, from: oldValue, to: items) }
  }
  private let probe: LifetimeProbe?

  init(_ number: Int, price: Int = 0, probe: LifetimeProbe? = nil) {
    (self.number, self.price, self.probe) = (number, price, probe)
    probe?.born()
  }

  deinit { probe?.died() }
}
