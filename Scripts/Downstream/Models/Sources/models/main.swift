import Foundation
import ObservableModels

@ObservableModel final class Address: Codable {
  var street: String
  var zip: String

  init(street: String, zip: String) { (self.street, self.zip) = (street, zip) }
}

@ObservableModel class User {
  var first = "Ada"
  var last = "Byron"
  var address: Address?
  // The property remains weak.
  weak var friend: User?
  // Scripts, `bind` and other code that uses its name can only read it.
  private(set) var visits = 0
  // `willSet` and `didSet` run as usual, and may write the property: watchers see the final value.
  var age = 0 {
    didSet { if age < 0 { age = 0 } }
  }
  // Not a property of the model.
  @Ignored var cache: [String: Int] = [:]
  private var secret = 0

  // Computed from two key paths, which the compiler checks.
  @Computed("first", "last") var full: String
  private func makeFull() -> String { "\(first) \(last)" }

  // Without key paths: depends on the properties that the last run of the method has read.
  @Computed private(set) var label: String = "(no label)"
  private func makeLabel() throws -> String {
    guard let address else { throw NoAddress() }
    return "\(full), \(address.street), \(address.zip)"
  }

  // Created on first use, and configured once. After nil is assigned, it is created again.
  @LazyProperty(configure: "fill") var card: Card?
  private static func makeCard() -> Card { Card() }
  private func fill(_ card: Card) { card.text = full }

  // Stored by a loader, which can serve many properties.
  @LazyProperty(loader: "load") var photo: String
  private func load(_ name: String) {
    print("loading \(name)")
    photo = "photo of \(first)"
  }

  func visit() { visits += 1 }
}

@ObservableModel final class Employee: User {
  var salary = 0
}

@ObservableModel final class Card { var text = "" }

@ObservableModel final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

@ObservableModel(.threadSafe) final class Counter { var count = 0 }

struct NoAddress: Error {}

let loop = Loop()
loop.onError = { print("reported: \($0)") }
let user = Employee()

// The compiler checks the key path.
user.observe(#path(\.address?.zip)) { print("zip", $0.address?.zip ?? "-") }
try user.observe("full") { print("full", $0.full) }
try user.observe("salary") { print("salary", $0.salary) }
try user.observe("age") { print("age", $0.age) }

loop.turn {
  user.address = Address(street: "St James's Square", zip: "SW1Y")
  user.last = "Lovelace"
  user.salary += 100
}
loop.turn { user.address?.zip += " 4JH" }
loop.turn { user.age = -5 }
print(user.label, user.photo, user.card?.text ?? "none", separator: "; ")
user.visit()
do { try User.properties.set("visits", of: user, to: 0) } catch { print(error) }
do { try user.observe("frist") { _ in } } catch { print(error) }

// Encoded like any other class, and decoded without observers.
let data = try JSONEncoder().encode(user.address)
print(try JSONDecoder().decode(Address.self, from: data).zip)

let box = Box([1, 2])
try box.observe("value") { print("box", $0.value) }
loop.turn { box.value.append(3) }

// Any thread may write; the watcher is called on the thread of its loop.
let counter = Counter()
try counter.observe("count") { counter in if counter.count == 8 { print("count", counter.count) } }
let group = DispatchGroup()
for _ in 0..<8 { DispatchQueue.global().async(group: group) { counter.count += 1 } }
group.wait()
loop.step()
