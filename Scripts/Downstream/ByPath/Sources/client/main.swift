import Lua
import LuaObservables
import Observables

final class Address: ObservableModel {
  static let properties = ModelProperties(for: Address.self) {
    Property("city", get: { $0.city }, set: { $0.city = $1 })
  }
  let observation = ModelObservation()
  var city: String { didSet { observation.didSet(0, from: oldValue, to: city) } }

  init(city: String) { self.city = city }
}

final class Customer: ObservableModel {
  static let properties = ModelProperties(for: Customer.self) {
    Property("address", get: { $0.address }, set: { $0.address = $1 })
  }
  let observation = ModelObservation()
  var address: Address? { didSet { observation.didSet(0, from: oldValue, to: address) } }
}

let loop = Loop()
let customer = Customer()
var cities: [String?] = []
try customer.observe("address.city") { customer in cities.append(customer.address?.city) }

loop.turn {
  customer.address = Address(city: "London")
  customer.address?.city = "Oxford"
}
loop.turn { customer.address?.city = "Cambridge" }
loop.turn { customer.address = nil }
precondition(cities == ["Oxford", "Cambridge", nil], "The watcher was told \(cities)")

let state = try LuaState()
try state.globals.set("twice", to: try state.function("twice") { (n: Int) in 2 * n })
let answer = try state.run("return twice(21)", as: Int.self)
precondition(answer == 42, "Lua answered \(answer) instead of 42")
