import ObservableModels
import Testing

@ObservableModel private final class Shelf {
  var boxes: ObservableArray<Address> = []
  var `default` = 1
  var plain = Plain()
  let stock: ObservableDictionary<String, Int> = [:]
}

private struct Plain { var size = 1 }

/// `#path`.
struct PathMacroTests {
  private let loop = Loop(clock: .virtual)

  // P10
  @Test func `a checked path is the same as its text`() {
    #expect(#path(\Person.name).path == "name")
    #expect(#path(\Person.address?.zip).path == "address.zip")
    #expect(#path(\Manager.team!.zip).path == "team.zip")
    #expect(#path(\Box<Address>.value.zip).path == "value.zip")
    #expect("\(#path(\Person.address?.zip))" == "address.zip")
    #expect(#path(\Person.name) != #path(\Person.age) as PartialKeyPathTo<Person>)
  }

  @Test func `indices, backticks and values that are not models are spelled as in text`() {
    #expect(#path(\Shelf.boxes[0].zip).path == "boxes.0.zip")
    #expect(#path(\Shelf.boxes[slot: 0]?.zip).path == "boxes.#0.zip")
    #expect(#path(\Shelf.boxes.count).path == "boxes.count")
    #expect(#path(\Shelf.`default`).path == "default")
    #expect(#path(\Shelf.plain.size).path == "plain.size")
  }

  @Test func `a key is never a size or an operator`() {
    #expect(#path(\Shelf.stock["tea"]).path == "stock.tea")
    #expect(#path(\Shelf.stock["green.tea"]).path == Path("stock", "green.tea"))
    #expect(#path(\Shelf.stock["sum"]).path == "stock.sum")
    #expect(#path(\Shelf.stock["count"]).path == Path("stock", "count"))
    #expect(#path(\Shelf.stock["count"]).path != #path(\Shelf.stock.count).path)
  }

  @Test func `a checked path has the types of its ends`() {
    let zip: KeyPathTo<Person, String?> = #path(\.address?.zip)
    let names: [PartialKeyPathTo<Person>] = [#path(\.name), #path(\.address?.zip), zip]
    #expect(names.map(\.path) == ["name", "address.zip", "address.zip"])
  }

  @Test func `a checked path registers like its text, and without 'try'`() {
    let ada = Person("Ada")
    var zips: [String?] = []
    ada.observe(#path(\.address?.zip), in: loop) { zips.append($0.address?.zip) }
    loop.turn { ada.address = Address("1") }
    #expect(zips == ["1"])
  }

  @Test func `several paths are one watcher`() {
    let ada = Person("Ada")
    var calls = 0
    let watcher = ada.observe(#path(\.name), #path(\.address?.zip), in: loop) { _ in calls += 1 }
    loop.turn {
      ada.name = "Ada Lovelace"
      ada.address = Address("1")
    }
    loop.turn { ada.address?.zip = "2" }
    #expect(calls == 2)
    #expect(ada.stopObserving([#path(\.name), #path(\.address?.zip)]) == 2)
    #expect(!watcher.isActive)
  }

  @Test func `an observer ends a watcher of a checked path, and options work`() {
    let ada = Person("Ada")
    var observer: Address? = Address("observer")
    var log: [String] = []
    let options = WatcherOptions(initial: true, observer: observer!)
    ada.observe(#path(\.age), in: loop, options: options) { [unowned observer] in
      log.append("\(observer!.zip) \($0.age)")
    }
    ada.observe(#path(\.age), in: loop, options: .init(once: true)) { log.append("once \($0.age)") }
    loop.turn {}
    loop.turn { ada.age = 1 }
    observer = nil
    loop.turn { ada.age = 2 }
    #expect(log == ["observer 0", "observer 1", "once 1"])
  }

  @Test func `immediate watchers accept a checked path`() {
    let ada = Person("Ada")
    let observer = Address("o")
    var log: [String] = []
    ada.observeImmediately(#path(\.age), in: loop) { log.append("\($1.key) \($0.age)") }
    ada.observeImmediately(#path(\.age), #path(\.name), in: loop) { log.append("\($1.path)") }
    let options = WatcherOptions(observer: observer)
    ada.observeImmediately(#path(\.age), in: loop, options: options) { [unowned observer] _, _ in
      log.append(observer.zip)
    }
    ada.age = 5
    #expect(log == ["age 5", "age", "o"])
  }

  @Test func `a subclass has the inherited properties`() {
    let ada = Manager("Ada")
    var calls = 0
    ada.observe(#path(\.name), #path(\.salary), #path(\.team?.zip), in: loop) { _ in calls += 1 }
    loop.turn { ada.name = "A" }
    loop.turn { ada.salary = 2 }
    loop.turn { ada.team = Address("1") }
    #expect(calls == 3)
  }

  @Test func `methods of a class that is not final can use a checked path`() {
    let ada = Watching("Ada")
    ada.watch(loop)
    loop.turn { ada.age = 3 }
    #expect(ada.log == ["Ada 3"])
  }

  // P9
  @Test func `a property that is not observed traps when the path is made`() async {
    await #expect(processExitsWith: .failure) { _ = #path(\Person.log) }
    await #expect(processExitsWith: .failure) { _ = #path(\Person.boss?.log) }
  }

  @Test func `an index beyond the end traps, as it does in a read of the list`() async {
    await #expect(processExitsWith: .failure) {
      let (loop, shelf) = (Loop(clock: .virtual), Shelf())
      shelf.observe(#path(\.boxes[0].zip), in: loop) { _ in }
    }
  }
}

@ObservableModel private class Watching: Person {
  func watch(_ loop: Loop) {
    observe(#path(\.age), in: loop) { $0.log.append("\($0.name) \($0.age)") }
  }
}
