import Observables
import TestSupport

/// The models that the tests observe, written by hand as `ObservableModel` documents.
class Person: ObservableModel {
  class var properties: ModelProperties { personProperties }
  private static let personProperties = ModelProperties(for: Person.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("age", get: { $0.age }, set: { $0.age = $1 })
    Property("address", get: { $0.address }, set: { $0.address = $1 })
    Property("friend", get: { $0.friend }, set: { $0.friend = $1 })
    Property("boss", get: { $0.boss }, set: { $0.boss = $1 })
    Property("score", get: { $0.score }, set: { $0.score = $1 })
    Property("tag", get: { $0.tag })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var age = 0 { didSet { observation.didSet(1, from: oldValue, to: age) } }
  var address: Address? { didSet { observation.didSet(2, from: oldValue, to: address) } }
  var friend: Person? { didSet { observation.didSet(3, from: oldValue, to: friend) } }
  weak var boss: Person? { didSet { observation.didSet(4, from: oldValue, to: boss) } }
  var score = 0.0 { didSet { observation.didSet(5, from: oldValue, to: score) } }
  var tag: Opaque? { didSet { observation.didSet(6, from: oldValue, to: tag) } }
  private let probe: LifetimeProbe?

  init(_ name: String = "", address: Address? = nil, probe: LifetimeProbe? = nil) {
    self.name = name
    self.address = address
    self.probe = probe
    probe?.born()
  }

  deinit { probe?.died() }
}

/// A model that inherits from a model.
final class Employee: Person {
  override class var properties: ModelProperties { employeeProperties }
  private static let employeeProperties = ModelProperties(
    for: Employee.self, inheriting: Person.properties
  ) {
    Property("salary", get: { $0.salary }, set: { $0.salary = $1 })
  }
  var salary = 0 { didSet { observation.didSet(7, from: oldValue, to: salary) } }
}

/// Addresses with the same zip are equal, which must not affect wiring (P6).
final class Address: ObservableModel, Equatable {
  static let properties = ModelProperties(for: Address.self) {
    Property("zip", get: { $0.zip }, set: { $0.zip = $1 })
    Property("city", get: { $0.city }, set: { $0.city = $1 })
  }
  let observation = ModelObservation()
  var zip: String { didSet { observation.didSet(0, from: oldValue, to: zip) } }
  var city: City? { didSet { observation.didSet(1, from: oldValue, to: city) } }

  init(_ zip: String = "", city: City? = nil) {
    self.zip = zip
    self.city = city
  }

  static func == (a: Address, b: Address) -> Bool { a.zip == b.zip }
}

final class City: ObservableModel {
  static let properties = ModelProperties(for: City.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("mayor", get: { $0.mayor }, set: { $0.mayor = $1 })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var mayor: Person? { didSet { observation.didSet(1, from: oldValue, to: mayor) } }

  init(_ name: String = "") { self.name = name }
}

/// A class that cannot be observed (P7).
final class Opaque {
  var zip = ""
}
