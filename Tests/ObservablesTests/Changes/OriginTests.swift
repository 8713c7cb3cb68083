import Foundation
import Observables
import TestSupport
import Testing

@Suite struct `Origins of changes` {
  let loop = Loop()
  let drawing = Drawing()
  let log = Log()

  /// Logs the changes of each turn, and the origins.
  @discardableResult
  private func watch(skip: AnyHashable? = "x", _ options: WatcherOptions = WatcherOptions()) throws
    -> Watcher
  {
    try drawing.changes(in: loop, skip: skip, options: options) { [log] _, changes, delivery in
      log.note("\(try encoded(changes)) \(delivery.origins)")
    }
  }

  // X2
  @Test func `are left out by watchers that skip them, while other writes are delivered`() throws {
    try watch()
    try drawing.apply([DeepChange(path: ["title"], old: "", new: "a")], origin: "x")
    loop.flush()
    try drawing.apply([DeepChange(path: ["title"], old: "a", new: "b")], origin: "y")
    loop.flush()
    try drawing.apply([DeepChange(path: ["title"], old: "b", new: "c")])
    loop.flush()
    #expect(
      log.events == [
        #"[{"kind":"set","new":"b","old":"a","path":["title"]}] [AnyHashable("y")]"#,
        #"[{"kind":"set","new":"c","old":"b","path":["title"]}] []"#,
      ])
  }

  // X2
  @Test func `are left out only if they wrote a key last`() throws {
    try watch()
    try drawing.apply([DeepChange(path: ["title"], old: "", new: "a")], origin: "x")
    drawing.title = "b"
    drawing.names["n"] = 1
    try drawing.apply([DeepChange(path: ["names", "n"], old: 1, new: 2)], origin: "x")
    loop.flush()
    #expect(
      log.events == [
        #"[{"kind":"set","new":"b","old":"a","path":["title"]}] []"#
      ])
  }

  // X2
  @Test func `are left out for elements of lists and members of sets`() throws {
    drawing.shapes.append(contentsOf: [Shape(3), Shape(4)])
    try watch()
    try drawing.apply(
      [
        DeepChange(path: ["shapes", 1], kind: .insert, new: ["sides": 8], model: "Shape"),
        DeepChange(path: ["shapes", 3], kind: .remove, old: ["sides": 4], model: "Shape"),
        DeepChange(path: ["shapes", 1], kind: .move, from: 2),
        DeepChange(path: ["tags"], kind: .insert, new: "t"),
      ], origin: "x")
    drawing.shapes.insert(Shape(5), at: 1)
    drawing.tags.insert("u")
    drawing.shapes[2].sides = 9
    loop.flush()
    #expect(
      log.events == [
        """
        [{"kind":"set","new":9,"old":8,"path":["shapes",2,"sides"]},\
        {"kind":"insert","model":"Shape","new":{"sides":5},"path":["shapes",2]},\
        {"kind":"insert","new":"u","path":["tags"]}] []
        """
      ])
  }

  // X2
  @Test func `leave local edits of a list at their positions in the origin's list`() throws {
    drawing.shapes.append(contentsOf: [Shape(3), Shape(4)])
    try watch()
    drawing.shapes.insert(Shape(5), at: 0)
    try drawing.apply(
      [
        DeepChange(path: ["shapes", 3], kind: .insert, new: ["sides": 8], model: "Shape"),
        DeepChange(path: ["shapes", 2], kind: .remove, old: ["sides": 3], model: "Shape"),
      ], origin: "x")
    loop.flush()
    #expect(
      log.events == [
        #"[{"kind":"insert","model":"Shape","new":{"sides":5},"path":["shapes",1]}] []"#
      ])
    #expect(drawing.shapes.map(\.sides) == [5, 8, 4])
    _ = log.take()
    drawing.shapes.remove(at: 1)
    try drawing.apply(
      [
        DeepChange(path: ["shapes", 1], kind: .remove, old: ["sides": 5], model: "Shape"),
        DeepChange(path: ["shapes", 1], kind: .insert, new: ["sides": 6], model: "Shape"),
      ], origin: "x")
    loop.flush()
    #expect(
      log.events == [
        #"[{"kind":"remove","model":"Shape","old":{"sides":8},"path":["shapes",2]}] []"#
      ])
  }

  // X2
  @Test func `leave local writes to objects that they brought`() throws {
    try watch()
    try drawing.apply(
      [DeepChange(path: ["cover"], new: ["sides": 3, "next": ["sides": 4]], model: "Shape")],
      origin: "x")
    drawing.cover?.next?.sides = 5
    loop.flush()
    drawing.cover?.next?.sides = 6
    loop.flush()
    drawing.shapes.append(Shape(7))
    try drawing.apply([DeepChange(path: ["shapes", 1, "sides"], old: 7, new: 8)], origin: "x")
    loop.flush()
    #expect(
      log.events == [
        """
        [{"kind":"set","new":5,"old":4,"path":["cover","next","sides"]}] []
        """,
        #"[{"kind":"set","new":6,"old":5,"path":["cover","next","sides"]}] []"#,
        """
        [{"kind":"insert","model":"Shape","new":{"sides":8},"path":["shapes",1]}] \
        []
        """,
      ])
  }

  // X3
  @Test func `are not listed if nothing was applied`() throws {
    try watch()
    #expect(throws: ChangeError.self) {
      try drawing.apply(
        [
          DeepChange(path: ["title"], old: "", new: "a"),
          DeepChange(path: ["title"], old: "b", new: "c"),
        ], origin: "x")
    }
    drawing.title = "d"
    loop.flush()
    #expect(log.events == [#"[{"kind":"set","new":"d","old":"","path":["title"]}] []"#])
  }

  // X2
  @Test func `are listed once, in order, with the number of the turn`() throws {
    let loop = Loop(clock: .virtual)
    try drawing.changes(in: loop, skip: 7) { [log] _, _, delivery in
      log.note("\(delivery.turn): \(delivery.origins.map { "\($0)" })")
    }
    try loop.turn {
      try drawing.apply([DeepChange(path: ["title"], old: "", new: "a")], origin: "b")
      try drawing.apply([DeepChange(path: ["names", "n"], new: 1)], origin: 7.0)
      try drawing.apply([DeepChange(path: ["title"], old: "a", new: "c")], origin: "b")
      try drawing.apply([DeepChange(path: ["names", "m"], new: 1)], origin: 8.5)
    }
    let turns = loop.statistics.turns
    loop.turn { drawing.title = "d" }
    #expect(log.events == [#"\#(turns): ["b", "8.5"]"#, "\(turns + 1): []"])
  }

  // X2
  @Test func `are in snapshots, local writes are not`() throws {
    drawing.shapes.append(contentsOf: [Shape(3), Shape(4)])
    drawing.shapes[0].next = drawing.shapes[1]
    drawing.cover = drawing.shapes[0]
    let watcher = try watch()
    drawing.title = "local"
    try drawing.apply([DeepChange(path: ["cover", "sides"], old: 3, new: 9)], origin: "x")
    let snapshot = try #require(watcher.snapshot())
    #expect(
      snapshot.value == [
        "title": "", "cover": ["sides": 9, "next": ["sides": 4]], "shapes": [], "names": [:],
        "tags": [],
      ])
    #expect(
      try encoded(snapshot.references) == """
        [{"kind":"insert","path":["shapes",1],"ref":{"after":["cover"]}},\
        {"kind":"insert","path":["shapes",2],"ref":{"after":["cover","next"]}}]
        """)
    let data = try JSONEncoder().encode(snapshot)
    #expect(try JSONDecoder().decode(ChangeSnapshot.self, from: data) == snapshot)
    watcher.stop()
    #expect(watcher.snapshot() == nil)
  }

  // X2
  @Test func `are in copies of snapshots, which share objects as the tree does`() throws {
    let shape = Shape(3, next: Shape(4))
    let watcher = try shape.changes(in: loop) { _, _ in }
    shape.next?.next = shape.next
    loop.flush()
    let copy = try #require(watcher.snapshot()).copy(as: Shape.self)
    #expect(copy.next?.sides == 4)
    #expect(copy.next?.next === copy.next)
    for shape in [shape, copy] { shape.next?.next = nil }
  }

  // L1
  @Test func `keep nothing alive`() throws {
    weak var known: Drawing?
    do {
      let drawing = Drawing()
      try drawing.changes(in: loop, skip: "x") { _, _ in }
      try drawing.apply([DeepChange(path: ["title"], old: "", new: "a")], origin: "x")
      known = drawing
    }
    loop.flush()
    #expect(known == nil)
  }
}
