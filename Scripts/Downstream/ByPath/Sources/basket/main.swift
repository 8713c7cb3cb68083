import Observables

final class Item: ObservableModel {
  static let properties = ModelProperties(for: Item.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("price", get: { $0.price }, set: { $0.price = $1 })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var price: Int { didSet { observation.didSet(1, from: oldValue, to: price) } }

  init(_ name: String, price: Int) { (self.name, self.price) = (name, price) }
}

final class Basket: ObservableModel {
  static let properties = ModelProperties(for: Basket.self) {
    Property("items", get: { $0.items })
    Property("stock", get: { $0.stock })
  }
  let observation = ModelObservation()
  let items: ObservableArray<Item> = []
  let stock: ObservableDictionary<String, Int> = [:]
}

let loop = Loop()
let basket = Basket()

@MainActor func watch(_ paths: Path...) throws {
  for path in paths { try basket.observe(path) { _ in print("  \(path)") } }
}

@MainActor func step(_ title: String, _ body: () -> Void) {
  print(title)
  loop.turn(body)
}

try watch("items.*", "items.*.price", "items.count", "items.#0", "items.@sum.price")
try watch("stock.tea", "stock.count")

let tea = Item("tea", price: 4)
let honey = Item("honey", price: 6)
step("append tea and honey") { basket.items.append(contentsOf: [tea, honey]) }
step("rename the tea") { tea.name = "green tea" }
step("raise the price of the tea") { tea.price = 5 }
step("move prices from one to the other") { (tea.price, honey.price) = (6, 5) }
step("swap them") { basket.items.swapAt(0, 1) }

step("stock of coffee") { basket.stock["coffee"] = 10 }
step("stock of tea") { basket.stock["tea"] = 20 }

print("sum:", try basket.value(at: "items.@sum.price") ?? "none")
print("dearest:", try basket.value(at: "items.@max.price") ?? "none")

try basket.items.observe("0.name") { _ in print("  that item") }
step("put rice in front") { basket.items.insert(Item("rice", price: 2), at: 0) }
step("rename the honey") { honey.name = "honey of Provence" }
step("take the honey out") { basket.items.remove(at: 1) }

try basket.stock.observe(Path(.key("green.tea"))) { _ in print("  green.tea") }
step("a key with a dot") { basket.stock["green.tea"] = 3 }

for path in ["items..price", "item.*.price"] {
  do {
    try basket.observe(Path(path)) { _ in }
  } catch {
    print(error)
  }
}
