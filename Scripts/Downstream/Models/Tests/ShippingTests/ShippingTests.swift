import LuaObservables
import Observables
import ScriptFixtures
import Testing

final class Order: ObservableModel {
  static let properties = ModelProperties(for: Order.self) {
    Property("city", get: { $0.city }, set: { $0.city = $1 })
    Property("items", get: { $0.items })
  }
  let observation = ModelObservation()
  let items = ObservableArray<String>()
  var city = "London" { didSet { observation.didSet(0, from: oldValue, to: city) } }
}

@Test(arguments: ScriptFixture.all(in: "Fixtures"))
func `scripts work with orders`(fixture: ScriptFixture) {
  let order = Order()
  fixture.run { host in try host.set("order", to: order) }
  #expect(order.items.count <= 2, "A script left too much in the basket")
}
