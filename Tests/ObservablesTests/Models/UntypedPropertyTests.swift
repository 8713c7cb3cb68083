import Observables
import Testing

private protocol Named: ObservableModel {
  var name: String { get set }
}

/// Towns with the same number are equal, but they are separate objects.
private final class Town: Named, Hashable {
  static let properties = ModelProperties(for: Town.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
  }
  let observation = ModelObservation()
  let number: Int
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }

  init(_ name: String = "", number: Int = 0) { (self.name, self.number) = (name, number) }

  static func == (a: Town, b: Town) -> Bool { a.number == b.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

private class Place {}

private final class Harbor: Place, ObservableModel {
  static let properties = ModelProperties(for: Harbor.self) {
    Property("depth", get: { $0.depth }, set: { $0.depth = $1 })
  }
  let observation = ModelObservation()
  var depth = 1 { didSet { observation.didSet(0, from: oldValue, to: depth) } }
}

private final class Crate<Value>: ObservableModel {
  static var properties: ModelProperties {
    .shared(for: Crate.self) {
      Property("value", get: { $0.value }, set: { $0.value = $1 })
      Property("computed", lazy: { $0.$computed }, from: ["value"], get: { $0.value })
    }
  }
  let observation = ModelObservation()
  var value: Value { didSet { observation.didSet(0, from: oldValue, to: value) } }
  @Lazy var computed: Value

  init(_ value: Value) { self.value = value }
}

/// A generic class that does not store its `properties`.
private final class Loose<Value>: ObservableModel {
  static var properties: ModelProperties {
    ModelProperties(for: Loose.self) { Property("value", get: { $0.value }) }
  }
  let observation = ModelObservation()
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// A generic class whose values have `==`, and may be objects.
private final class EqualCrate<Value: Equatable>: ObservableModel {
  static var properties: ModelProperties {
    .shared(for: EqualCrate.self) {
      Property("value", get: { $0.value }, set: { $0.value = $1 })
    }
  }
  let observation = ModelObservation()
  var value: Value { didSet { observation.didSet(0, from: oldValue, to: value) } }

  init(_ value: Value) { self.value = value }
}

private final class Map: ObservableModel {
  static let properties = ModelProperties(for: Map.self) {
    Property("named", get: { $0.named }, set: { $0.named = $1 })
    Property("weakly", get: { $0.weakly }, set: { $0.weakly = $1 })
    Property("place", get: { $0.place }, set: { $0.place = $1 })
    Property("anything", get: { $0.anything }, set: { $0.anything = $1 })
    Property("list", get: { $0.list }, set: { $0.list = $1 })
    Property("cities", get: { $0.cities }, set: { $0.cities = $1 })
    Property("byKey", get: { $0.byKey }, set: { $0.byKey = $1 })
    Property("members", get: { $0.members }, set: { $0.members = $1 })
    Property("computed", lazy: { $0.$computed }, from: ["cities"], get: { $0.cities })
    Property("size", get: { $0.size }, set: { $0.size = $1 })
  }
  let observation = ModelObservation()
  var named: (any Named)? { didSet { observation.didSet(0, from: oldValue, to: named) } }
  weak var weakly: (any Named)? { didSet { observation.didSet(1, from: oldValue, to: weakly) } }
  var place: Place? { didSet { observation.didSet(2, from: oldValue, to: place) } }
  var anything: Any? { didSet { observation.didSet(3, from: oldValue, to: anything) } }
  var list: [any Named] = [] { didSet { observation.didSet(4, from: oldValue, to: list) } }
  var cities: [Town] = [] { didSet { observation.didSet(5, from: oldValue, to: cities) } }
  var byKey: [String: Town]? { didSet { observation.didSet(6, from: oldValue, to: byKey) } }
  var members: Set<Town> = [] { didSet { observation.didSet(7, from: oldValue, to: members) } }
  @Lazy var computed: [Town]
  var size: (any Equatable)? { didSet { observation.didSet(9, from: oldValue, to: size) } }
}

/// Properties whose types do not show that they hold a model: types of generic classes, protocols,
/// superclasses.
struct UntypedPropertyTests {
  private let loop = Loop(clock: .virtual)
  private let map = Map()
  private let oslo = Town("Oslo")

  // MARK: Paths

  // P5, P6
  @Test func `a path goes through the property of a generic class and follows replaced objects`()
    throws
  {
    let (box, optional) = (Crate(oslo), Crate<Town?>(nil))
    var events: [String] = []
    try box.observe("value.name", in: loop) { events.append("must \($0.value.name)") }
    try optional.observe("value.name", in: loop) { events.append("may \($0.value?.name ?? "-")") }
    try box.observe("computed.name", in: loop) { events.append("lazy \($0.computed.name)") }
    loop.turn { oslo.name = "Christiania" }
    loop.turn { optional.value = oslo }
    let bergen = Town("Bergen")
    loop.turn { (box.value, optional.value) = (bergen, nil) }
    loop.turn { oslo.name = "silent" }
    loop.turn { bergen.name = "Bryggen" }
    #expect(
      events == [
        "must Christiania", "lazy Christiania", "may Christiania", "must Bergen", "may -",
        "lazy Bergen", "must Bryggen", "lazy Bryggen",
      ])
  }

  // P9
  @Test func `a misspelt name behind a protocol is an error at registration`() {
    map.named = oslo
    for register in [
      { try Crate(oslo).observe("value.nmae", in: loop) { _ in } },
      { try Crate<Town?>(oslo).observe("value.nmae", in: loop) { _ in } },
      { try map.observe("named.nmae", in: loop) { _ in } },
    ] {
      let error = #expect(throws: PathError.self) { _ = try register() }
      #expect(error?.component == 2 && error?.suggestion == "name")
    }
  }

  // P6, L4
  @Test(arguments: ["named", "weakly", "anything"])
  func `a path goes through a property of a protocol`(property: String) throws {
    var calls = 0
    try map.observe(Path("\(property).name"), in: loop) { _ in calls += 1 }
    var city: Town? = Town("Bergen")
    try loop.turn { try Map.properties.set(property, of: map, to: city) }
    loop.turn { city?.name = "Bryggen" }
    #expect(calls == 2)
    loop.turn { oslo.name = "silent" }
    #expect(calls == 2)
    try loop.turn { try Map.properties.set(property, of: map, to: oslo) }
    loop.turn { city?.name = "silent" }
    loop.turn { city = nil }
    loop.turn { oslo.name = "Christiania" }
    #expect(calls == 4)
  }

  // L4
  @Test func `the death of a weakly held object is a change`() throws {
    var city: Town? = Town("Bergen")
    map.weakly = city
    var names: [String?] = []
    try map.observe("weakly.name", in: loop) { names.append($0.weakly?.name) }
    loop.turn { city = nil }
    #expect(names == [nil] && city == nil)
  }

  // P7
  @Test func `a path goes through a property of a superclass if the object is a model`() throws {
    var depths: [Int?] = []
    try map.observe("place.depth", in: loop) { depths.append(($0.place as? Harbor)?.depth) }
    let harbor = Harbor()
    loop.turn { map.place = Place() }
    loop.turn { map.place = harbor }
    loop.turn { harbor.depth = 2 }
    #expect(depths == [nil, 1, 2])
  }

  // C12
  @Test func `a path goes into a collection that a property of any type holds`() throws {
    var events: [String] = []
    try map.observe("anything.*.name", in: loop) { _ in events.append("any") }
    try map.observe("computed.*.name", in: loop) { events.append($0.computed[0].name) }
    let bergen = Town("Bergen")
    loop.turn { (map.anything, map.cities) = ([oslo], [bergen]) }
    loop.turn { oslo.name = "Christiania" }
    loop.turn { bergen.name = "Bryggen" }
    loop.turn { map.anything = 3 }
    loop.turn { oslo.name = "silent" }
    #expect(events == ["any", "Bergen", "any", "Bryggen", "any"])
  }

  // P3
  @Test func `a wildcard reaches the objects of such properties`() throws {
    (map.named, map.place) = (oslo, Harbor())
    var calls = 0
    try map.observe("named.*", in: loop) { _ in calls += 1 }
    loop.turn { oslo.name = "Christiania" }
    let box = Crate(oslo)
    try box.observe("*.name", in: loop) { _ in calls += 1 }
    loop.turn { oslo.name = "Oslo" }
    #expect(calls == 3)
  }

  // L6
  @Test func `an object replaced by another value is released`() throws {
    weak var gone: Town?
    try map.observe("anything.*.name", in: loop) { _ in }
    do {
      let city = Town("Bergen")
      gone = city
      loop.turn { map.anything = [city] }
    }
    loop.turn { map.anything = oslo }
    #expect(gone == nil)
  }

  @Test func `observing a class that makes its properties anew each time traps`() async {
    #expect(Crate<Int>.properties === Crate<Int>.properties)
    #expect(Crate<Int>.properties !== Crate<Double>.properties)
    await #expect(processExitsWith: .failure) {
      _ = try Loose(1).observe("value", in: Loop(clock: .virtual)) { _ in }
    }
  }

  // MARK: Equal values

  // T5
  @Test func `in a property of a protocol the same object is no change, an equal one is`() throws {
    (map.named, map.anything, map.place) = (oslo, oslo, Harbor())
    var calls = 0
    for path: Path in ["named", "anything", "place"] {
      try map.observe(path, in: loop) { _ in calls += 1 }
    }
    loop.turn { (map.named, map.anything, map.place) = (map.named, map.anything, map.place) }
    #expect(calls == 0)
    loop.turn { (map.named, map.anything, map.place) = (Town("Oslo"), Town("Oslo"), Harbor()) }
    #expect(calls == 3)
    loop.turn { (map.named, map.anything, map.place) = (nil, nil, nil) }
    loop.turn { (map.named, map.anything, map.place) = (nil, nil, nil) }
    #expect(calls == 6)
  }

  // T5
  @Test func `values of generic classes and protocols are compared by their dynamic type`() throws {
    let (number, closure) = (Crate(Double.nan), Crate({}))
    var events: [String] = []
    try number.observe("value", in: loop) { events.append("\($0.value)") }
    try number.observe("computed", in: loop) { events.append("computed \($0.computed)") }
    try closure.observe("value", in: loop) { _ in events.append("closure") }
    try map.observe("size", in: loop) { _ in events.append("size") }
    loop.turn { (number.value, map.size) = (.nan, nil) }
    loop.turn { (number.value, map.size) = (1, 1) }
    loop.turn { (number.value, map.size) = (1, 1) }
    loop.turn { map.size = "1" }
    // A value that cannot be compared changes with each write.
    loop.turn { closure.value = closure.value }
    #expect(events == ["1.0", "computed 1.0", "size", "size", "closure"])
  }

  // T5, P6
  @Test func `an equal object is a change, even if a generic class requires only Equatable`()
    throws
  {
    let (box, list) = (EqualCrate<Town?>(oslo), EqualCrate([oslo]))
    var events: [String] = []
    try box.observe("value.name", in: loop) { events.append("one \($0.value!.name)") }
    try list.observe("value.*.name", in: loop) { events.append("list \($0.value[0].name)") }
    loop.turn { (box.value, list.value) = (box.value, [oslo]) }
    #expect(events.isEmpty)
    let other = Town("Bergen")
    loop.turn { (box.value, list.value) = (other, [other]) }
    loop.turn { oslo.name = "silent" }
    loop.turn { other.name = "Bryggen" }
    #expect(events == ["one Bergen", "list Bergen", "one Bryggen", "list Bryggen"])
  }

  // T5, P6
  @Test func `collections are the same if they contain the same objects`() throws {
    let twin = Town("Twin")
    func fill(_ city: Town) {
      (map.list, map.cities, map.byKey) = ([city], [city], ["a": city])
      map.members = [city]
    }
    fill(oslo)
    var events: [String] = []
    for path: Path in ["list.*.name", "cities.*.name", "byKey.a.name", "members.*.name"] {
      try map.observe(path, in: loop) { _ in events.append("\(path)") }
    }
    loop.turn { fill(oslo) }
    #expect(events.isEmpty)
    let all = ["list.*.name", "cities.*.name", "byKey.a.name", "members.*.name"]
    loop.turn { fill(twin) }
    #expect(events == all)
    loop.turn { oslo.name = "silent" }
    loop.turn { twin.name = "heard" }
    #expect(events == all + all)
  }
}
