import Observables
import TestSupport
import Testing

// S8
@Suite struct `A transaction` {
  let loop = Loop()

  private struct Failure: Error {}

  @Test func `that fails takes back its writes and calls no coalesced watcher`() throws {
    let (drawing, log) = (Drawing(), Log())
    let (first, second) = (Shape(3), Shape(4))
    drawing.shapes.append(first)
    drawing.names["a"] = 1
    try drawing.observe("**", in: loop) { _ in log.note("watcher") }
    try drawing.changes(in: loop) { _, _ in log.note("changes") }
    #expect(throws: Failure.self) {
      try Transaction.run(on: [drawing], in: loop) {
        drawing.title = "b"
        drawing.shapes.insert(second, at: 0)
        second.sides = 5
        first.sides = 6
        drawing.names["a"] = nil
        drawing.names["b"] = 2
        drawing.tags.insert("t")
        throw Failure()
      }
    }
    loop.flush()
    #expect(log.take() == [])
    #expect(drawing.title == "" && drawing.shapes.elements.map(\.sides) == [3])
    #expect(drawing.shapes.first === first && first.sides == 3 && second.sides == 4)
    #expect(drawing.names["a"] == 1 && drawing.names.count == 1 && drawing.tags.isEmpty)
  }

  @Test func `that succeeds keeps its writes and returns the result of its body`() throws {
    let (drawing, log) = (Drawing(), Log())
    try drawing.observe("title", in: loop) { log.note($0.title) }
    let result = try Transaction.run(on: [drawing], in: loop) {
      drawing.title = "b"
      return 7
    }
    #expect(result == 7 && drawing.title == "b")
    loop.flush()
    #expect(log.take() == ["b"])
  }

  @Test func `calls immediate watchers for its rollback when it is over`() throws {
    let (drawing, log) = (Drawing(), Log())
    try drawing.observeImmediately("title", in: loop) { drawing, _ in log.note(drawing.title) }
    try? Transaction.run(on: [drawing], in: loop) {
      drawing.title = "b"
      throw Failure()
    }
    #expect(log.take() == ["b", ""])
  }

  @Test func `inside another one is a savepoint`() throws {
    let drawing = Drawing()
    try Transaction.run(on: [drawing], in: loop) {
      drawing.title = "a"
      try? Transaction.run(on: [drawing], in: loop) {
        drawing.title = "b"
        throw Failure()
      }
      #expect(drawing.title == "a")
    }
    #expect(drawing.title == "a")
    #expect(throws: Failure.self) {
      try Transaction.run(on: [drawing], in: loop) {
        try Transaction.run(on: [drawing], in: loop) { drawing.title = "c" }
        throw Failure()
      }
    }
    #expect(drawing.title == "a")
  }

  @Test func `restores an object that an inner one wrote to before it was below a root`() throws {
    let (drawing, guest) = (Drawing(), Shape(3))
    #expect(throws: Failure.self) {
      try Transaction.run(on: [drawing], in: loop) {
        try? Transaction.run(on: [guest], in: loop) {
          guest.sides = 4
          drawing.cover = guest
          throw Failure()
        }
        guest.sides = 5
        throw Failure()
      }
    }
    #expect(guest.sides == 3 && drawing.cover == nil)
  }

  @Test func `leaves writes to objects that are not below its roots`() throws {
    let (drawing, other) = (Drawing(), Drawing())
    try? Transaction.run(on: [drawing], in: loop) {
      (drawing.title, other.title) = ("a", "b")
      throw Failure()
    }
    #expect(drawing.title == "" && other.title == "b")
  }

  @Test func `refuses a model whose writes it could not roll back`() throws {
    let error = #expect(throws: TransactionError.self) {
      try Transaction.run(on: [Sealed()], in: loop) {}
    }
    #expect(
      "\(try #require(error))"
        == "a transaction could not roll back writes to 'code' of Sealed: it has no setter"
    )
  }

  @Test func `restores numbers with their types`() throws {
    let (list, map) = (ObservableArray<Any>([1, "a"]), ObservableDictionary<String, Any>())
    map["a"] = 1
    try? Transaction.run(on: [list, map], in: loop) {
      list[0] = 1.0
      list[1] = "b"
      map["a"] = 1.0
      throw Failure()
    }
    #expect(list[0] is Int && list[1] as? String == "a" && map["a"] is Int)
  }

  @Test func `refuses a collection that another loop observes, and writes nothing`() throws {
    let (drawing, other) = (Drawing(), Loop())
    let watcher = try drawing.shapes.observe("*", in: other) { _ in }
    for root in [drawing, drawing.shapes] as [any KeyPathObservable] {
      let error = #expect(throws: PathError.self) {
        try Transaction.run(on: [root], in: loop) { drawing.title = "b" }
      }
      #expect("\(try #require(error))".contains("another loop"))
    }
    #expect(drawing.title == "")
    watcher.stop()
    other.turn {}
    try Transaction.run(on: [drawing], in: loop) { drawing.title = "b" }
    #expect(drawing.title == "b")
  }

  @Test func `inside too many others is refused, and each of them ends`() throws {
    let drawing = Drawing()
    var depth = 0
    func nest() throws {
      try Transaction.run(on: [drawing], in: loop) {
        depth += 1
        drawing.title += "x"
        if depth < 1_000 { try nest() }
      }
    }
    for _ in 0..<2 {
      depth = 0
      let error = #expect(throws: TransactionError.self) { try nest() }
      #expect(
        "\(try #require(error))" == "too many nested transactions")
      #expect(depth == 64 && drawing.title == "")
    }
  }

  @Test func `keeps nothing alive`() throws {
    weak var weakShape: Shape?
    let drawing = Drawing()
    do {
      let shape = Shape(3)
      weakShape = shape
      drawing.cover = shape
      try Transaction.run(on: [drawing], in: loop) {
        shape.sides = 4
        drawing.cover = nil
      }
      #expect(weakShape != nil)
    }
    loop.flush()
    #expect(weakShape == nil)
  }
}

/// A model with a property that cannot be set by its name.
private final class Sealed: ObservableModel {
  static let properties = ModelProperties(for: Sealed.self) { Property("code", get: { $0.code }) }
  let observation = ModelObservation()
  var code = 1
}
