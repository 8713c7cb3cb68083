import Lua
import LuaObservables
import Observables
import Testing

/// A type that the user makes convertible: a list of two numbers for scripts.
private struct Point: Equatable, LuaConvertible {
  var x, y: Double

  init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

  func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    try [x, y].luaValue(in: state)
  }

  init(luaValue: LuaValue) throws(LuaError) {
    let numbers = try [Double](luaValue: luaValue)
    guard numbers.count == 2 else { throw LuaError.point(numbers.count) }
    self.init(x: numbers[0], y: numbers[1])
  }
}

extension LuaError {
  fileprivate static func point(_ count: Int) -> LuaError {
    LuaError("a point has 2 numbers, not \(count)")
  }
}

private enum Kind: String, Codable, CaseIterable { case home, work }

private struct Address: Codable, Equatable {
  var street: String
  var zip: String?
  var kind = Kind.home
  var bytes: [UInt8] = []
  var position: Position?
  var tags: Set<String> = []
  var rooms: [String: Room] = [:]

  struct Position: Codable, Equatable { var x: Int, y: Double }
  struct Room: Codable, Equatable { var sizes: [Double] }
}

private final class Person: ScriptModel {
  static let properties = ModelProperties(for: Person.self) {
    Property("address", get: { $0.address }, set: { $0.address = $1 })
    Property("others", get: { $0.others }, set: { $0.others = $1 })
    Property("byName", get: { $0.byName }, set: { $0.byName = $1 })
    Property("point", get: { $0.point }, set: { $0.point = $1 })
    Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
    Property("kinds", get: { $0.kinds }, set: { $0.kinds = $1 })
    Property("friends", get: { $0.friends }, set: { $0.friends = $1 })
    Property("deep", get: { $0.deep }, set: { $0.deep = $1 })
    Property("strange", get: { $0.strange })
  }
  static let methods = ModelMethods(for: Person.self) {
    Method("moved") { (person, address: Address) -> Address in
      var address = address
      address.street += "!"
      return address
    }
    Method("sum") { (_, points: [Point]) in
      points.reduce(Point(x: 0, y: 0)) { Point(x: $0.x + $1.x, y: $0.y + $1.y) }
    }
    Method("count") { (_, people: [Person], kinds: Set<Kind>) in (people.count, kinds.count) }
  }
  struct Strange {}
  let observation = ModelObservation()
  var address = Address(street: "High Street") {
    didSet { observation.didSet(0, from: oldValue, to: address) }
  }
  var others: [Address] = []
  var byName: [String: Address] = [:]
  var point: Point? = Point(x: 1, y: 2.5)
  var tags: Set<Int> = []
  var kinds: Set<Kind> = []
  var friends: [Person] = []
  var deep: Int?? = .some(nil)
  let strange = Strange()
}

/// B1, B2: values of Swift types as properties, arguments and results.
struct ConversionTests {
  private let test: TestHost
  private let person = Person()

  init() throws {
    test = try TestHost()
    test.host["person"] = person
  }

  @Test func `a structure is a plain table, in both directions`() throws {
    try test.host.run(
      """
      local address = person.address
      assert(address.street == "High Street" and address.zip == nil and address.kind == "home")
      address.zip, address.kind, address.bytes = "N1", "work", "a\\0b"
      address.position = {x = 3, y = 1.0}
      address.tags = {"new", "new", "near"}
      address.rooms = {hall = {sizes = {1, 2.5}}}
      assert(person.address.zip == nil, "it was a copy")
      person.address = address
      """)
    #expect(
      person.address
        == Address(
          street: "High Street", zip: "N1", kind: .work, bytes: [97, 0, 98],
          position: .init(x: 3, y: 1), tags: ["new", "near"],
          rooms: ["hall": .init(sizes: [1, 2.5])]))
    try test.host.run(
      """
      local address = person:moved(person.address)
      assert(address.street == "High Street!" and address.bytes == "a\\0b")
      assert(math.type(address.position.x) == "integer" \
      and math.type(address.position.y) == "float")
      assert(#address.tags == 2 and address.rooms.hall.sizes[2] == 2.5)
      """)
  }

  @Test func `structures may be elements of lists and dictionaries`() throws {
    try test.host.run(
      """
      person.others = {person.address, person.address}
      person.byName = {home = person.address}
      assert(#person.others == 2 and person.byName.home.street == "High Street")
      person.others, person.byName = {}, {}
      """)
    #expect(person.others == [] && person.byName == [:])
  }

  @Test func `a type of the user has the representation that the user defines`() throws {
    try test.host.run(
      """
      assert(person.point[1] == 1.0 and person.point[2] == 2.5)
      person.point = {3, 4}
      local sum = person:sum {{1, 2}, {3, 4}}
      assert(sum[1] == 4 and sum[2] == 6)
      """)
    #expect(person.point == Point(x: 3, y: 4))
    try test.host.run("person.point = nil")
    #expect(person.point == nil)
  }

  @Test func `sets are lists without order`() throws {
    try test.host.run(
      """
      person.tags, person.kinds = {3, 1, 3}, {"work", "home"}
      local tags = person.tags
      table.sort(tags)
      assert(#tags == 2 and tags[1] == 1 and tags[2] == 3 and #person.kinds == 2)
      """)
    #expect(person.tags == [1, 3] && person.kinds == [.home, .work])
  }

  @Test func `lists may hold models, and results may be several`() throws {
    try test.host.run(
      """
      person.friends = {person, person}
      local people, kinds = person:count({person}, {"home"})
      assert(people == 1 and kinds == 1)
      """)
    #expect(person.friends.count == 2)
    person.friends = []
  }

  @Test func `nil in an optional of an optional is nil`() throws {
    try test.host.run("assert(person.deep == nil); person.deep = 3; assert(person.deep == 3)")
    #expect(person.deep == .some(.some(3)))
    try test.host.run("person.deep = nil; assert(person.deep == nil)")
    #expect(person.deep.flatMap { $0 } == nil)
  }

  // B1
  @Test func `values pass through a structure unchanged`() throws {
    let state = test.host.state
    struct Every: Codable, Equatable {
      var small = Int8.min
      var large = Int.max
      var whole = 1.0
      var infinite = -Double.infinity
      var text = "ä\u{0}"
      var flag = true
      var nothing: Int?
      var nested = [[1], []]
      var numbered = [1: "a", 10: "b"]
      var double: String?? = "x"
    }
    let value = try state.encode(Every())
    #expect(try value.decode(Every.self) == Every())
    guard case .table(let table) = value else { return }
    #expect(try table["whole"] == .number(1) && table["large"] == .integer(.max))
    try test.host.state.globals.set("value", to: value)
    try test.host.run("assert(value.numbered[10] == 'b' and math.type(value.whole) == 'float')")
  }

  @Test func `a class shares a table with its parent, and may nest`() throws {
    class Base: Codable { var a = 1 }
    final class Derived: Base {
      var b = 2
      enum Key: CodingKey { case b, list }
      override init() { super.init() }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        b = try container.decode(Int.self, forKey: .b)
        var list = try container.nestedUnkeyedContainer(forKey: .list)
        let first = try list.decode(Int.self)
        let isNil = try list.decodeNil()
        b += isNil && list.isAtEnd ? first : 0
        try super.init(from: decoder)
      }
      override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(b, forKey: .b)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(40)
      }
    }
    let value = try test.host.state.encode(Derived())
    guard case .table(let table) = value else { return }
    #expect(try table["a"] == 1 && table["b"] == 2)
    let copy = try value.decode(Derived.self)
    #expect(copy.a == 1 && copy.b == 42)
  }

  @Test(arguments: [
    ("person.address = 5", "property 'address' of Person takes Address, not number"),
    ("person.address = {street = 1}", "takes Address: street: String expected, got number"),
    ("person.address = {}", "street: String expected, got nil"),
    (
      "local a = person.address a.position = {x = 1.5, y = 1} person.address = a",
      "position.x: number has no integer representation"
    ),
    (
      "local a = person.address a.rooms = {hall = {sizes = {1, 'x'}}} person.address = a",
      "rooms.hall.sizes: element 2: number expected, got string"
    ),
    ("local a = person.address a.kind = 'far' person.address = a", "kind: "),
    (
      "local a = person.address a.position = 7 person.address = a",
      "position: Position expected, got number"
    ),
    (
      "person.others = {person.address, {street = 1}}",
      "takes Array<Address>: element 2: street: String expected, got number"
    ),
    ("person.byName = {home = 1}", "value of 'home': Address expected, got number"),
    ("person.others = 1", "property 'others' of Person takes Array<Address>, not number"),
    ("person.kinds = {'home', 'x'}", "element 2: Kind (home, work) expected, got 'x'"),
    ("person.friends = {person, {}}", "element 2: Person expected, got table"),
    (
      "person:moved {street = 1}",
      "bad argument #1 to 'moved' (street: String expected, got number)"
    ),
    ("person:moved()", "bad argument #1 to 'moved' (Address expected, got no value)"),
    ("person.point = {1}", "property 'point' of Person takes Point: a point has 2 numbers, not 1"),
    (
      "require 'obs'.set(person, 'point', {1})",
      "script:1: property 'point' of Person takes Point: a point has 2 numbers, not 1"
    ),
    (
      "require 'obs'.set(person, 'address', 5)",
      "script:1: property 'address' of Person takes Address, not number"
    ),
    (
      "require 'obs'.set({ p = person }, 'p.strange', 5)",
      "script:1: property 'strange' of Person is read-only"
    ),
    (
      "person:sum {{1, 2}, {3}}",
      "script:1: bad argument #1 to 'sum' (element 2: a point has 2 numbers, not 1)"
    ),
    ("person.point = 'x'", "property 'point' of Person takes Point, not string"),
    (
      "return person.strange",
      "property 'strange' of Person: a value of type Strange cannot be given to a script"
    ),
    ("person.address = person", "property 'address' of Person takes Address, not Person"),
  ])
  func `a value that doesn't fit is an error with place and reason`(script: String, text: String) {
    let message = test.message(script)
    #expect(message.contains(text), "\(message)")
    #expect(person.address == Address(street: "High Street") && person.others == [])
  }

  // B3
  @Test func `a table that contains itself is an error, not a trap`() throws {
    final class Link: Codable { var next: Link? }
    let loop = try test.host.run("local t = {} t.next = t return t")[0]
    let error = #expect(throws: LuaError.self) { try loop.decode(Link.self) }
    #expect(error?.message.contains("nested deeper than 200 levels") == true)
    let endless = try test.host.run(
      "return setmetatable({}, {__len = function() return 1 << 60 end})")
    #expect(throws: LuaError.self) { try endless[0].decode([Address].self) }
    let raising = try test.host.run(
      "return setmetatable({}, {__index = function() error 'no' end})")
    #expect(throws: LuaError.self) { try raising[0].decode(Address.self) }
  }

  // T5
  @Test func `a watcher is called when a structure changes`() throws {
    try test.host.run(
      """
      calls = 0
      require("obs").observe(person, "address", function() calls = calls + 1 end)
      person.address = person.address
      """)
    #expect(test.host["calls"] == 0)
    try test.host.run("local a = person.address a.zip = 'N1' person.address = a")
    #expect(test.host["calls"] == 1)
  }
}

private enum Grade: String { case good, bad }

/// A model with a property of type `Any`.
private final class Holder: ScriptModel {
  static let properties = ModelProperties(for: Holder.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
    Property("optional", get: { $0.optional }, set: { $0.optional = $1 })
    Property("lua", get: { $0.lua }, set: { $0.lua = $1 })
    Property("small", get: { $0.small }, set: { $0.small = $1 })
    Property("strange", get: { $0.strange })
    Property("wide", get: { $0.wide })
    Property("last", get: { $0.last })
    Property("points", get: { $0.points })
    Property("grades", get: { $0.grades })
  }
  static let methods = ModelMethods(for: Holder.self) {
    Method("type") { (_, value: Any, other: Any?) in
      "\(type(of: value)), \(other.map { "\(type(of: $0))" } ?? "none")"
    }
    Method("float") { (_, value: Float) in value }
  }
  struct Strange {}
  let observation = ModelObservation()
  var value: Any = 0
  var optional: Any? = 0
  var lua = LuaValue.nil
  var small: Float = 1
  let strange = Strange()
  let wide = UInt64.max
  let last = "last"
  let points = ObservableArray<Point>([])
  let grades = ObservableDictionary<Grade, Point>([:])
}

/// B1, B2: values whose Swift type says too little about them.
struct LooseValueTests {
  private let test: TestHost
  private let holder = Holder()

  init() throws {
    test = try TestHost()
    test.host["holder"] = holder
  }

  @Test func `a property of any type holds the value, not an optional of it`() throws {
    try test.host.run("holder.value, holder.optional = 'x', 2")
    #expect(type(of: holder.value) == String.self && holder.optional as? Int == 2)
    #expect("\(holder.value) \(holder.optional.map { "\(type(of: $0))" } ?? "nil")" == "x Int")
    try test.host.run("holder.optional, holder.value = nil, holder")
    #expect(holder.optional == nil && holder.value as? Holder === holder)
    #expect(
      test.message("holder.value = nil")
        == "script:1: property 'value' of Holder takes Any, not nil")
    try test.host.run("holder.value, holder.lua = true, 1 holder.lua = nil")
    #expect(holder.value as? Bool == true && holder.lua == .nil)
  }

  @Test func `an argument of any type is the value`() throws {
    #expect(try test.host.run("return holder:type(1.5, 'x')") == ["Double, String"])
    #expect(try test.host.run("return holder:type({})") == ["LuaTable, none"])
    #expect(
      test.message("holder:type()")
        == "script:1: bad argument #1 to 'type' (Any expected, got no value)"
    )
  }

  @Test func `a number that is too large for a Float is an error`() throws {
    try test.host.run("holder.small = 1.5 assert(holder:float(1/0) == math.huge)")
    #expect(
      test.message("holder.small = 1e300")
        == "script:1: property 'small' of Holder takes Float: number is out of the range of Float")
    #expect(
      test.message("holder:float(-1e39)").contains("#1 to 'float' (number is out of the range"))
    #expect(holder.small == 1.5)
    let pull = try test.host.state.function("pull") { (value: Float) in Double(value) }
    try test.host.state.globals.set("pull", to: pull)
    #expect(
      test.message("pull(1e300)").contains("#1 to 'pull' (number is out of the range of Float)"))
  }

  @Test func `a loop over properties reports a value that cannot be converted, and continues`()
    throws
  {
    try test.host.run(
      """
      seen = {}
      for name, value in pairs(holder) do seen[name] = value end
      assert(seen.last == "last" and seen.small == 1)
      """)
    #expect(
      try test.host.run("return tostring(seen.strange), tostring(seen.wide)")
        == [
          """
          script:2: property 'strange' of Holder: a value of type Strange cannot be given to a \
          script; make it LuaEncodable or Codable
          """,
          """
          script:2: property 'wide' of Holder: 18446744073709551615 does not fit into an integer \
          of Lua
          """,
        ])
  }

  @Test func `elements and keys are converted like properties`() throws {
    try test.host.run(
      """
      holder.points:append({1, 2})
      holder.points[2] = {3, 4}
      assert(#holder.points == 2 and holder.points:index_of({3, 4}) == 2)
      holder.grades.good = {5, 6}
      assert(holder.grades.good[2] == 6 and holder.grades.bad == nil)
      """)
    #expect(holder.points[1] == Point(x: 3, y: 4) && holder.grades[.good] == Point(x: 5, y: 6))
    #expect(
      test.message("holder.points:append({1})") == """
        script:1: ObservableArray<Point> takes values of type Point: \
        a point has 2 numbers, not 1
        """
    )
    #expect(
      test.message("holder.grades.fair = {1, 2}").contains("has keys of type Grade, not string"))
  }
}
