import Foundation
import Observables
import Testing

@Suite struct ObservableArrayTests {
  private let loop = Loop()

  /// The number of calls of a watcher of `path` in a turn that makes `change`.
  private func calls<Root: KeyPathObservable>(
    _ root: Root, _ path: Path, _ change: () -> Void
  ) throws -> Int {
    var calls = 0
    let watcher = try root.observe(path, in: loop) { _ in calls += 1 }
    change()
    loop.flush()
    watcher.stop()
    return calls
  }

  // C1
  @Test func `any mutation calls '*' once`() throws {
    let changes: [(ObservableArray<Int>) -> Void] = [
      { $0.append(1) }, { $0.append(contentsOf: [1, 2]) }, { $0.insert(1, at: 0) },
      { $0.insert(contentsOf: [1, 2], at: 1) }, { $0.remove(at: 1) }, { $0.removeFirst() },
      { $0.removeFirst(2) }, { $0.removeLast() }, { $0.removeLast(2) }, { _ = $0.popLast() },
      { $0.removeSubrange(1..<3) }, { $0.removeSubrange(1...) }, { $0.removeAll() },
      { $0.removeAll { $0 > 3 } }, { $0.removeValue(5) }, { $0[1] = 9 }, { $0[0..<2] = [7] },
      { $0.replaceSubrange(1..<2, with: [8, 9]) }, { $0.set([1]) }, { $0.swapAt(0, 2) },
      { $0.move(from: 0, to: 2) }, { $0.sort() }, { $0.sort(by: >) }, { $0.reverse() },
      { _ = $0.partition { $0 > 3 } },
    ]
    for (number, change) in changes.enumerated() {
      var plain = [3, 5, 2, 4]
      let array = ObservableArray(plain)
      var journal: [ArrayEdits<Int>] = []
      let edits = try array.observeEdits(in: loop) { journal.append($1) }
      let count = try calls(array, "*") { change(array) }
      #expect(count == 1, "change \(number)")
      #expect(journal.count == 1, "change \(number)")
      let difference = journal[0].difference
      #expect(plain.applying(difference) == array.elements, "change \(number)")
      journal[0].apply(to: &plain)
      #expect(plain == array.elements, "change \(number)")
      edits.stop()
    }
  }

  @Test func `a mutation that changes nothing calls no watcher`() throws {
    let array: ObservableArray = [1, 2, 3]
    #expect(try calls(array, "*") { array[0] = 1 } == 0)
    #expect(try calls(array, "*") { array.sort() } == 0)
    #expect(try calls(array, "*") { array.swapAt(1, 1) } == 0)
    #expect(try calls(array, "*") { array.set([1, 2, 3]) } == 0)
    #expect(try calls(array, "*") { array.append(contentsOf: []) } == 0)
  }

  // C3
  @Test func `a slot follows the position, whichever object is there`() throws {
    let array: ObservableArray = [1, 2, 2, 3]
    #expect(try calls(array, "#1") { array.remove(at: 0) } == 0, "the same slid in")
    #expect(try calls(array, "#0") { array.insert(5, at: 0) } == 1)
    #expect(try calls(array, "#3") { array.removeFirst() } == 1, "the array got shorter")
    #expect(try calls(array, "#9") { array.append(1) } == 0)
    #expect(try calls(array, "#4") { array.append(contentsOf: [1, 2]) } == 1, "beyond the end")
    #expect(try calls(array, "#0") { array.append(1) } == 0)
  }

  // C4
  @Test func `digits follow the object until it leaves`() throws {
    let (a, b) = (Item(1), Item(2))
    let array = ObservableArray([a, b])
    var log: [String] = []
    try array.observe("1.price", in: loop) { _ in log.append("\(b.price)") }
    array.insert(Item(), at: 0)
    loop.flush()
    #expect(log == [])
    b.price = 3
    loop.flush()
    #expect(log == ["3"])
    array.removeAll { $0 === b }
    loop.flush()
    #expect(log == ["3", "3"])
    array.append(b)
    b.price = 4
    loop.flush()
    #expect(log == ["3", "3"], "putting it in again does not re-arm it")
    #expect(throws: PathError.self) { try array.observe("9", in: loop) { _ in } }
  }

  // C8
  @Test func `a name over an array is that property of every element`() throws {
    let (a, b) = (Item(1), Item(2))
    let order = Order([a])
    #expect(try calls(order, "items.price") { a.price = 5 } == 1)
    #expect(try calls(order, "items.price") { order.items!.append(b) } == 1)
    #expect(try calls(order, "items.*.price") { b.price += 1 } == 1)
    #expect(try calls(order, "items.price") { order.items!.removeAll() } == 1)
    #expect(try calls(order, "items.price") { a.price = 9 } == 0)
  }

  // C7
  @Test func `an object that occurs twice is observed until its last copy has left`() throws {
    let a = Item(1)
    let array = ObservableArray([a, a])
    var calls = 0
    try array.observe("price", in: loop) { _ in calls += 1 }
    a.price = 2
    loop.flush()
    #expect(calls == 1)
    array.removeFirst()
    loop.flush()
    a.price = 3
    loop.flush()
    #expect(calls == 3)
    array.removeFirst()
    loop.flush()
    a.price = 4
    loop.flush()
    #expect(calls == 4)
  }

  // C1
  @Test func `'count' is the size`() throws {
    let array: ObservableArray = [1]
    #expect(try calls(array, "count") { array.append(2) } == 1)
    #expect(try calls(array, "count") { array[0] = 7 } == 0)
    #expect(
      try calls(array, "@count") {
        array.append(1); array.removeLast()
      } == 0)
    #expect(try array.value(at: "count") as? Int == 2)
  }

  // C12
  @Test func `replacing a whole array delivers and moves the wiring`() throws {
    let (a, b) = (Item(1), Item(1))
    let order = Order([a])
    #expect(try calls(order, "items.count") { order.items = [b] } == 1)
    #expect(try calls(order, "items.price") { a.price = 7 } == 0)
    #expect(try calls(order, "items.price") { b.price = 7 } == 1)
    #expect(try calls(order, "items.@sum.price") { order.items = [Item(7)] } == 1)
    #expect(try calls(order, "items.#0.price") { order.items = nil } == 1)
  }

  // C9
  @Test func `an operator calls when its value changed`() throws {
    let (a, b) = (Item(1), Item(2))
    let order = Order([a, b])
    #expect(try calls(order, "items.@sum.price") { a.price = 5 } == 1)
    #expect(
      try calls(order, "items.@sum.price") {
        a.price = 4; b.price = 3
      } == 0)
    #expect(try calls(order, "items.@max.price") { b.price = 1 } == 0)
    #expect(try calls(order, "items.@max.price") { a.price = 0 } == 1, "the largest left")
    #expect(try calls(order, "items.@min.price") { order.items!.append(Item(-1)) } == 1)
    #expect(try calls(order, "items.@any.isGift") { b.isGift = true } == 1)
    #expect(try calls(order, "items.@all.isGift") { a.isGift = true } == 0)
    #expect(try calls(order, "items.@first.price") { a.price = 3 } == 1)
    #expect(try calls(order, "items.@last") { order.items!.append(Item(7)) } == 1)
    #expect(try calls(order, "items.@last.price") { order.items!.insert(Item(7), at: 0) } == 0)
    #expect(try calls(order, "items.@first") { order.items!.removeFirst() } == 1)
    #expect(try order.value(at: "items.@sum.price") as? Int == 10)
    #expect(try order.value(at: "items.@first.price") as? Int == 3)
    #expect(try order.value(at: "items.@count") as? Int == 4)
  }

  @Test func `an operator over the elements follows a replaced collection`() throws {
    let array: ObservableArray = [3, 3]
    #expect(try calls(array, "@sum") { array.set([5, 1]) } == 0)
    var sums: [Int?] = []
    try array.observe("@sum", in: loop) { sums.append(try! $0.value(at: "@sum") as? Int) }
    array.set([5, 1, 5, 4, 4])
    loop.flush()
    array.sort()
    array.append(1)
    loop.flush()
    #expect(sums == [19, 20])
  }

  @Test func `unions of arrays change with the arrays`() throws {
    let (a, b) = (Item(1), Item(2))
    a.tags = ["x", "y"]
    b.tags = ["y"]
    let order = Order([a, b])
    let path: Path = "items.@distinctUnionOfArrays.tags"
    #expect(try order.value(at: path) as? [String] == ["x", "y"])
    #expect(try calls(order, path) { b.tags.append("x") } == 0)
    #expect(try calls(order, path) { b.tags.append("z") } == 1)
    #expect(try calls(order, path) { a.tags = ["x", "y"] } == 0)
    #expect(try calls(order, path) { a.tags = [] } == 0)
    #expect(try calls(order, path) { order.items!.removeLast() } == 1)
    #expect(try order.value(at: "items.@unionOfArrays.tags") as? [String] == [])
    #expect(try calls(order, "items.@unionOfArrays.tags") { a.tags.append("q") } == 1)
  }

  @Test func `operators nest, each over the collections of the outer one`() throws {
    let (a, b) = (Item(1), Item(2))
    (a.tags, b.tags) = (["x", "y"], ["z"])
    let order = Order([a, b])
    #expect(try order.value(at: "items.@sum.tags.@count") as? Int == 3)
    #expect(try calls(order, "items.@sum.tags.@count") { b.tags.append("w") } == 1)
    #expect(try calls(order, "items.@sum.tags.@count") { b.tags[0] = "w" } == 0)
    #expect(try calls(order, "items.@max.tags.count") { a.tags.removeAll() } == 0)
    #expect(throws: PathError.self) {
      try order.observe("items.@count.price", in: loop) { _ in }
    }
    #expect(throws: PathError.self) { try order.observe("items.@summ", in: loop) { _ in } }
    #expect(throws: PathError.self) {
      try order.observe("items.@sum.*.price", in: loop) { _ in }
    }
  }

  @Test func `a sum of unsupported values is an error that names the element`() throws {
    let order = Order([Item(1), Item(2, "two")])
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    var calls = 0
    try order.observe("items.@sum.name", in: loop) { _ in calls += 1 }
    #expect(errors.count == 1)
    #expect(errors[0].contains("element 1"))
    #expect(throws: PathError.self) { try order.value(at: "items.@sum.name") }
    order.items![1].name = nil
    loop.flush()
    #expect(calls == 1, "there was no value before, and now there is one")
    #expect(try order.value(at: "items.@sum.name") as? Int == 0)
    order.items![0].name = "one"
    loop.flush()
    #expect(errors.count == 2)
    order.items![0].name = nil
    loop.flush()
    #expect(calls == 1, "the value is the one that was delivered last")
  }

  // C10
  @Test func `an array with its old contents delivers no edits`() throws {
    let array: ObservableArray = [1, 2, 3]
    var told: [[CollectionEdit<Int>]] = []
    try array.observeEdits(in: loop) { told.append(Array($1)) }
    array.insert(9, at: 0)
    array.remove(at: 0)
    array.reverse()
    array.reverse()
    loop.flush()
    #expect(told == [])
    array.move(from: 0, to: 2)
    loop.flush()
    #expect(told == [[.move(1, from: 0, at: 2)]])
  }

  // C10
  @Test func `edits made in their own callback are delivered by the next call`() throws {
    let array: ObservableArray = [1]
    var told: [[CollectionEdit<Int>]] = []
    try array.observeEdits(in: loop) { array, edits in
      told.append(Array(edits))
      if array.count < 4 { array.append(array.count + 1) }
    }
    array.append(2)
    loop.endTurn()
    #expect(
      told == [[.insert(2, at: 1)], [.insert(3, at: 2)], [.insert(4, at: 3)]])
  }

  // T9
  @Test func `an immediate watcher is called once for one operation`() throws {
    let array: ObservableArray = [1, 2, 3]
    var log: [String] = []
    let watcher = try array.observeImmediately("*", in: loop) { _, change in
      log.append("\(change.key) \(change.old ?? "nil") → \(change.new ?? "nil")")
    }
    try watcher.observe("#1")
    array.insert(9, at: 0)
    array[1] = 5
    #expect(log == ["0 1 → 9", "1 1 → 5"])
  }

  // L7
  @Test func `an encoded array is a plain array, without observations`() throws {
    let array: ObservableArray = [1, 2]
    try array.observe("*", in: loop) { _ in }
    let data = try JSONEncoder().encode(array)
    #expect(String(decoding: data, as: UTF8.self) == "[1,2]")
    let copy = try JSONDecoder().decode(ObservableArray<Int>.self, from: data)
    #expect(copy == array)
    #expect(copy.observedKeys == [])
    #expect(array.copy().observedKeys == [])
  }

  @Test func `a predicate may throw or read the array without losing anything`() throws {
    struct Failure: Error {}
    let array = ObservableArray((0..<20).reversed())
    #expect(throws: Failure.self) {
      try array.sort { _, _ in
        if array.count < 20 { return true }
        throw Failure()
      }
    }
    #expect(array.elements == Array((0..<20).reversed()))
    array.sort { a, b in
      _ = array.popLast()
      return a < b
    }
    #expect(array.elements == Array(0..<20))
  }

  // P8
  @Test func `an array may contain itself`() throws {
    let array = ObservableArray<ObservableCollection>()
    array.append(array)
    array.append(ObservableArray<Int>([1]))
    #expect(try calls(array, "*.*.count") { array.append(ObservableArray<Int>()) } == 1)
    array.removeAll()
  }

  // L4
  @Test func `a removed element is released, and so are the objects observed below it`() throws {
    let order = Order((0..<1000).map { Item($0) })
    weak let one = order.items![500]
    try order.observe("items.price", in: loop) { _ in }
    try order.observe("items.@max.price", in: loop) { _ in }
    try order.items!.observe("500", in: loop) { _ in }
    try order.items!.observeEdits(in: loop) { _, _ in }
    #expect(loop.statistics.observedObjects > 1000)
    order.items!.removeAll()
    loop.endTurn()
    #expect(one == nil)
    #expect(loop.statistics.observedObjects <= 2)
  }

  @Test func `watchers end with their array`() throws {
    var array: ObservableArray<Int>? = [1]
    let watcher = try array!.observe("*", in: loop) { _ in }
    array = nil
    #expect(!watcher.isActive)
  }
}
