import Lua
import LuaObservables
import Observables

struct UnknownCode: Error { let code: String }

final class Item: ObservableModel {
  static let properties = ModelProperties(for: Item.self) {
    Property("price", get: { $0.price }, set: { $0.price = $1 })
    Property("quantity", get: { $0.quantity }, set: { $0.quantity = $1 })
    // Declared dependencies: two key paths.
    Property("amount", lazy: { $0.$amount }, from: ["price", "quantity"]) { item in
      item.price * item.quantity
    }
  }
  let observation = ModelObservation()
  var price: Int { didSet { observation.didSet(0, from: oldValue, to: price) } }
  var quantity = 1 { didSet { observation.didSet(1, from: oldValue, to: quantity) } }
  @Lazy var amount: Int

  init(price: Int) { self.price = price }
}

final class Receipt: ObservableModel {
  static let properties = ModelProperties(for: Receipt.self) {
    Property("text", get: { $0.text }, set: { $0.text = $1 })
  }
  let observation = ModelObservation()
  var text = "" { didSet { observation.didSet(0, from: oldValue, to: text) } }
}

final class Cart: ObservableModel {
  static let properties = ModelProperties(for: Cart.self) {
    Property("items", get: { $0.items })
    Property("code", get: { $0.code }, set: { $0.code = $1 })
    // A to-many dependency, by an operator: added items, removed items, and changed amounts.
    Property("sum", lazy: { $0.$sum }, from: ["items.@sum.amount"]) { cart in
      cart.items.reduce(0) { $0 + $1.amount }
    }
    // A getter may throw.
    Property("discount", lazy: { $0.$discount }, from: ["code"]) { cart in
      switch cart.code {
      case nil: return 0
      case "HALF": return 50
      case let code?: throw UnknownCode(code: code)
      }
    }
    // Tracked dependencies: the properties that the last run of the getter has read.
    Property("total", tracked: { $0.$total }) { cart in
      cart.isGift ? 0 : cart.sum * (100 - cart.discount) / 100
    }
    Property("isGift", get: { $0.isGift }, set: { $0.isGift = $1 })
    // One loader serves both names, and stores the values itself.
    Property("name", lazy: { $0.$name }, loader: { cart, name in cart.load(name) })
    Property("city", lazy: { $0.$city }, loader: { cart, name in cart.load(name) })
    // Created on first use, and configured once.
    Property(
      "receipt", lazy: { $0.$receipt }, create: { Receipt() },
      configure: { cart, receipt in receipt.text = "\(cart.total) for \(cart.name ?? "nobody")" })
  }
  let observation = ModelObservation()
  let items: ObservableArray<Item> = []
  var code: String? { didSet { observation.didSet(1, from: oldValue, to: code) } }
  // A stored property reports that it is read, so that tracked getters depend on it.
  var isGift: Bool {
    get {
      observation.access(5, of: self)
      return storedIsGift
    }
    set {
      let old = storedIsGift
      storedIsGift = newValue
      observation.didSet(5, from: old, to: newValue)
    }
  }
  private var storedIsGift = false
  @Lazy var sum: Int
  // A plain read returns 0 if the getter throws and there is no previous value.
  @Lazy var discount: Int = 0
  @Lazy var total: Int
  @Lazy var name: String?
  @Lazy var city: String?
  @Lazy var receipt: Receipt?

  func load(_ name: String) {
    print("loading \(name)")
    (self.name, city) = ("Ada", "London")
  }
}

let loop = Loop()
let host = try LuaHost(loop: loop)
let cart = Cart()
loop.onError = { report in print("reported:", report) }

// Nothing is computed before it is read or observed.
print("valid:", cart.validNames)
try cart.observe("total") { cart in print("total:", cart.total) }
print("valid:", cart.validNames)

let tea = Item(price: 4)
loop.turn {
  cart.items.append(tea)
  cart.items.append(Item(price: 10))
}
// Half the price, twice the quantity: the sum is the same, so its dependents stay valid.
loop.turn { (tea.price, tea.quantity) = (2, 2) }
loop.turn { cart.code = "HALF" }

// An assigned value holds until a dependency changes.
loop.turn { cart.total = 5 }
loop.turn { tea.quantity = 5 }

// `get` and dependents receive an error. If there is no reader, it is reported.
loop.turn {
  cart.code = "FREE"
  do { _ = try cart.$discount.get() } catch { print("thrown:", error) }
}
loop.turn { cart.code = nil }
loop.turn { cart.isGift = true }

// Loaded once for two names, and created once.
print(cart.name ?? "none", cart.city ?? "none")
print(cart.$receipt.peek == nil, cart.receipt?.text ?? "none")
cart.receipt = nil
print(cart.$receipt.isValid)

// A script sees all of these as plain properties, and computes from them.
try host.set("cart", to: cart)
try host.run(
  """
  local obs = require "obs"
  shop = { vat = 20 }
  obs.computed(shop, "gross", { { cart, "sum" }, "vat" }, function(self)
    return cart.sum * (100 + self.vat) // 100
  end)
  obs.observe(shop, "gross", function(shop) print("gross: " .. shop.gross) end)
  print(cart.sum, shop.gross, obs.is_valid(cart, "receipt"))
  cart.discount = 10
  """)
loop.turn { cart.isGift = false }
loop.turn { cart.items.removeLast() }
host.close()
