import Lua
import LuaObservables
import Observables
import Shapes

// The engine's types do not conflict with types of other libraries.
let shapes: [Any.Type] = [
  Engine.self, Node.self, NodeRef.self, Child.self, Element.self, NodeKind.self,
  Slot.self, SlotRef.self, WatcherRecord.self, WatcherRef.self, Change.self,
  Receiver.self, DeclaredDependency.self, Computation.self, EngineRecorder.self,
  ImmediateChange.self, Operand.self, Member.self, MemberScope.self,
]
precondition(shapes.count == 19)

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

extension Customer: ScriptModel {
  static let methods = ModelMethods(for: Customer.self) {
    Method("move") { (customer, city: String) in customer.address = Address(city: city) }
  }
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

let host = try LuaHost(loop: loop)
try host.set("customer", to: customer)
try host.run(
  """
  local obs = require "obs"
  heard = {}
  obs.observe(customer, "address.city", function(customer)
    table.insert(heard, customer.address.city)
  end)
  """)
loop.turn { customer.address = Address(city: "York") }
let heard = try host.run("customer.address.city = 'Leeds'; return table.concat(heard, ' ')")
precondition(heard == ["York"], "The script heard \(heard)")
precondition(customer.address?.city == "Leeds", "The script wrote elsewhere")
precondition(cities.last == "Leeds", "Swift did not hear the script")
try host.run("customer:move('Bath')")
precondition(cities.last == "Bath", "The script called no method")
host.close()
