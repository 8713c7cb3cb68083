import Lua
import LuaObservables
import Observables

/// A hand-written model, as in a host program.
final class Creature: ObservableModel {
  static let properties = ModelProperties(for: Creature.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("age", get: { $0.age }, set: { $0.age = $1 })
    Property("weight", get: { $0.weight }, set: { $0.weight = $1 })
    Property("isTame", get: { $0.isTame }, set: { $0.isTame = $1 })
    Property("nickname", get: { $0.nickname }, set: { $0.nickname = $1 })
    Property("friend", get: { $0.friend }, set: { $0.friend = $1 })
    Property("legs", get: { $0.legs })
  }
  let observation = ModelObservation()

  var name = "" { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var age = 0 { didSet { observation.didSet(1, from: oldValue, to: age) } }
  var weight = 0.0 { didSet { observation.didSet(2, from: oldValue, to: weight) } }
  var isTame = false { didSet { observation.didSet(3, from: oldValue, to: isTame) } }
  var nickname: String? { didSet { observation.didSet(4, from: oldValue, to: nickname) } }
  var friend: Creature? { didSet { observation.didSet(5, from: oldValue, to: friend) } }
  let legs = 4

  init(name: String = "") { self.name = name }
}
