import Observables

/// A model with lists, used by the cases of collections.
final class CollectionItem: ObservableModel {
  static let properties = ModelProperties(for: CollectionItem.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("price", get: { $0.price }, set: { $0.price = $1 })
    Property("flag", get: { $0.flag }, set: { $0.flag = $1 })
    Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
    Property("items", get: { $0.items }, set: { $0.items = $1 })
  }
  let observation = ModelObservation()

  var name = "" { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var price = 0 { didSet { observation.didSet(1, from: oldValue, to: price) } }
  var flag = false { didSet { observation.didSet(2, from: oldValue, to: flag) } }
  var tags: ObservableArray<Int>? { didSet { observation.didSet(3, from: oldValue, to: tags) } }
  var items: ObservableArray<CollectionItem>? {
    didSet { observation.didSet(4, from: oldValue, to: items) }
  }
}
