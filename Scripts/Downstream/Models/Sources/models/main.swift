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
  // Weak, as it stays.
  weak var friend: User?
  // Read-only by name: for scripts, `bind` and other tools.
  private(set) var visits = 0
  // Both run as they do anywhere, and may write the property: the report comes after them.
  var age = 0 {
    didSet { if age < 0 { age = 0 } }
  }
  // No property of the model.
  @Ignored var cache: [String: Int] = [:]
  private var secret = 0

  // Computed from these two, which are checked when the program is compiled.
  @Computed("first", "last") var full: String
  private func makeFull() -> String { "\(first) \(last)" }

  // Without key paths: computed from what the method has read when it ran last.
  @Computed private(set) var label: String = "(no label)"
  private func makeLabel() throws -> String {
    guard let address else { throw NoAddress() }
    return "\(full), \(address.street), \(address.zip)"
  }

  // Created on first use, configured once; nil has it created again.
  @LazyProperty(configure: "fill") var card: Card?
  private static func makeCard() -> Card { Card() }
  private func fill(_ card: Card) { card.text = full }

  // Stored by a loader, which may serve many.
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

// Encoded as if it were no model, and decoded without observers.
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
