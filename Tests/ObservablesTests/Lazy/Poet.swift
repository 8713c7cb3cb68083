import Observables

/// A model with lazy properties of each kind, which counts its computations.
final class Poet: ObservableModel {
  static let properties = ModelProperties(for: Poet.self) {
    Property("first", get: { $0.first }, set: { $0.first = $1 })
    Property("last", get: { $0.last }, set: { $0.last = $1 })
    Property("full", lazy: { $0.$full }, from: ["first", "last"]) { person in
      person.runs["full", default: 0] += 1
      return "\(person.first) \(person.last)"
    }
    Property("shout", tracked: { $0.$shout }) { person in
      person.runs["shout", default: 0] += 1
      return person.full.uppercased()
    }
    Property("nick", lazy: { $0.$nick }) { person in
      person.runs["nick", default: 0] += 1
      return String(person.first.prefix(1))
    }
    Property(
      "size", lazy: { $0.$size },
      loader: { person, name in
        person.runs[name, default: 0] += 1
        (person.size, person.weight) = (3, 70)
      })
    Property(
      "weight", lazy: { $0.$weight },
      loader: { person, name in
        person.runs[name, default: 0] += 1
        (person.size, person.weight) = (4, 80)
      })
    Property(
      "address", lazy: { $0.$address }, create: { Address() },
      configure: { person, address in
        person.runs["address", default: 0] += 1
        address.zip = person.last
      })
    Property("initials", lazy: { $0.$initials }, from: ["full"], isCached: false) { person in
      person.runs["initials", default: 0] += 1
      return person.full.split(separator: " ").map { String($0.prefix(1)) }.joined()
    }
    Property("friend", get: { $0.friend }, set: { $0.friend = $1 })
    Property("both", lazy: { $0.$both }, from: ["full", "friend.full"], isReadOnly: true) {
      person in
      person.runs["both", default: 0] += 1
      return "\(person.full) & \(person.friend?.full ?? "nobody")"
    }
    Property("left", lazy: { $0.$left }, from: ["right"]) { try $0.$right.get() }
    Property("right", tracked: { $0.$right }) { try $0.$left.get() }
  }

  let observation = ModelObservation()
  var first = "" { didSet { observation.didSet(0, from: oldValue, to: first) } }
  var last = "" { didSet { observation.didSet(1, from: oldValue, to: last) } }
  @Lazy var full: String
  @Lazy var shout: String
  @Lazy var nick: String
  @Lazy var size: Int?
  @Lazy var weight: Int?
  @Lazy var address: Address?
  @Lazy var initials: String
  var friend: Poet? { didSet { observation.didSet(9, from: oldValue, to: friend) } }
  @Lazy var both: String
  @Lazy var left: Int
  @Lazy var right: Int

  var runs: [String: Int] = [:]

  init(_ first: String = "Ada", _ last: String = "Lovelace") {
    (self.first, self.last) = (first, last)
  }
}
