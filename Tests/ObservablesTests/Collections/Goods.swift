import Observables

/// An element of the collections in these tests.
final class Item: ObservableModel, CustomStringConvertible {
  static let properties = ModelProperties(for: Item.self) {
    Property("price", get: { $0.price }, set: { $0.price = $1 })
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("part", get: { $0.part }, set: { $0.part = $1 })
    Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
    Property("isGift", get: { $0.isGift }, set: { $0.isGift = $1 })
  }
  let observation = ModelObservation()
  var price = 0 { didSet { observation.didSet(0, from: oldValue, to: price) } }
  var name: String? { didSet { observation.didSet(1, from: oldValue, to: name) } }
  var part: Item? { didSet { observation.didSet(2, from: oldValue, to: part) } }
  var tags: ObservableArray<String> = [] {
    didSet { observation.didSet(3, from: oldValue as ObservableArray<String>?, to: tags) }
  }
  var isGift = false { didSet { observation.didSet(4, from: oldValue, to: isGift) } }
  var description: String { name ?? "\(price)" }

  init(_ price: Int = 0, _ name: String? = nil) { (self.price, self.name) = (price, name) }
}

/// An order of items.
final class Order: ObservableModel {
  static let properties = ModelProperties(for: Order.self) {
    Property("items", get: { $0.items }, set: { $0.items = $1 })
    Property("owner", get: { $0.owner }, set: { $0.owner = $1 })
  }
  let observation = ModelObservation()
  var items: ObservableArray<Item>? {
    didSet { observation.didSet(0, from: oldValue, to: items) }
  }
  var owner = "" { didSet { observation.didSet(1, from: oldValue, to: owner) } }

  init(_ items: [Item] = []) { self.items = ObservableArray(items) }
}
