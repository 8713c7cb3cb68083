import ObservableModels
import Testing

protocol Named: ObservableModel {
  var name: String { get set }
}

@ObservableModel final class Town: Named {
  var name: String
  @Ignored var log: [String] = []

  init(_ name: String) { self.name = name }
}

/// A model whose values are models, and may be compared by `==`.
@ObservableModel final class Pair<First: Named, Second>
where Second: AnyObject & Equatable {
  var first: First?
  weak var second: Second?
  var all: [First] = []
  let fixed: First

  init(_ fixed: First) { self.fixed = fixed }

  @ObservableModel final class Side {
    var owner: Pair?
    unowned(unsafe) var town: First
    init(_ town: First) { self.town = town }
  }
}

@ObservableModel final class Map {
  var named: (any Named)?
  var must: any Named
  weak var weakly: (any Named)?
  var list: [any Named] = []
  var byKey: [String: (any Named)?] = [:]
  var box: Box<Town?>?
  var boxes: [Box<Town>] = []
  var implicit: Town!
  @Computed("named") var computed: (any Named)?
  private func makeComputed() -> (any Named)? { named }
  @Computed var towns: [Town]
  private func makeTowns() -> [Town] { list.compactMap { $0 as? Town } }

  init(_ must: any Named) { self.must = must }
}

/// Models by macro with properties whose types do not show that they hold models.
struct GenericModelTests {
  private let loop = Loop(clock: .virtual)
  private let oslo = Town("Oslo")

  // P5
  @Test(arguments: [
    "named.name", "must.name", "weakly.name", "list.*.name", "byKey.a.name", "box.value.name",
    "boxes.*.value.name", "implicit.name", "computed.name", "towns.*.name",
  ])
  func `a path goes through properties of protocols and generic classes`(path: String) throws {
    let map = Map(Town("Bergen"))
    var calls = 0
    try map.observe(Path(path), in: loop) { _ in calls += 1 }
    loop.turn {
      (map.named, map.must, map.weakly) = (oslo, oslo, oslo)
      (map.list, map.byKey, map.implicit) = ([oslo], ["a": oslo], oslo)
      (map.box, map.boxes) = (Box(oslo), [Box(oslo)])
    }
    #expect(calls == 1)
    loop.turn { oslo.name = "Christiania" }
    #expect(calls == 2)
    // T5: all values stay the same.
    loop.turn {
      (map.named, map.must, map.weakly) = (map.named, map.must, map.weakly)
      (map.list, map.byKey, map.implicit) = ([oslo], ["a": oslo], oslo)
      map.box?.value = oslo
      map.boxes[0].value = oslo
    }
    #expect(calls == 2)
    loop.turn {
      (map.named, map.must, map.weakly) = (nil, Town("Bergen"), nil)
      (map.list, map.byKey, map.implicit) = ([], [:], nil)
      map.box?.value = nil
      map.boxes = []
    }
    #expect(calls == 3)
    loop.turn { oslo.name = "silent" }
    #expect(calls == 3)
  }

  // P10
  @Test func `a checked path goes through protocols and generic classes, too`() throws {
    let map = Map(oslo)
    #expect(#path(\Map.named?.name).path == "named.name")
    #expect(#path(\Map.list[0].name).path == "list.0.name")
    #expect(#path(\Map.box?.value?.name).path == "box.value.name")
    #expect(#path(\Pair<Town, Town>.fixed.name).path == "fixed.name")
    #expect(#path(\Pair<Town, Town>.Side.owner?.first?.name).path == "owner.first.name")
    var names: [String] = []
    map.observe(#path(\.must.name), in: loop) { names.append($0.must.name) }
    loop.turn { oslo.name = "Christiania" }
    #expect(names == ["Christiania"])
  }

  // P9
  @Test func `an unobserved name behind such a property is refused`() async throws {
    let map = Map(oslo)
    map.box = Box(oslo)
    for path: Path in ["must.nmae", "box.value.nmae"] {
      let error = #expect(throws: PathError.self) { try map.observe(path, in: loop) { _ in } }
      #expect(error?.suggestion == "name")
    }
    // Its type is known where the path is made.
    await #expect(processExitsWith: .failure) { _ = #path(\Map.box?.value?.log) }
    await #expect(processExitsWith: .failure) { _ = #path(\Map.boxes[0].value.log) }
  }

  // P5, L4
  @Test func `constraints, weak properties and nested classes`() throws {
    let pair = Pair<Town, Town>(oslo)
    let side = Pair<Town, Town>.Side(oslo)
    var log: [String] = []
    for path: Path in ["first.name", "second", "all.*.name", "fixed.name"] {
      try pair.observe(path, in: loop) { _ in log.append("\(path)") }
    }
    for path: Path in ["owner.first.name", "town.name"] {
      try side.observe(path, in: loop) { _ in log.append("side \(path)") }
    }
    loop.turn { (pair.first, pair.second, pair.all, side.owner) = (oslo, oslo, [oslo], pair) }
    #expect(
      log == ["first.name", "second", "all.*.name", "side owner.first.name"])
    log = []
    loop.turn { (pair.first, pair.second, pair.all) = (oslo, oslo, [oslo]) }
    #expect(log.isEmpty)
    loop.turn { oslo.name = "Christiania" }
    #expect(
      log == [
        "first.name", "all.*.name", "fixed.name", "side owner.first.name", "side town.name",
      ])
  }

  @Test func `a property may have a name that the class uses`() throws {
    let record = Record()
    var log: [Int] = []
    try record.observe("properties", in: loop) { log.append($0.properties) }
    loop.turn { record.properties = 2 }
    #expect(Record.properties.names == ["properties", "value", "old"] && log == [2])
  }
}

extension Town: Equatable {
  static func == (a: Town, b: Town) -> Bool { a.name == b.name }
}

@ObservableModel private final class Record {
  var properties = 1
  var value = 1
  var old = 1
}
