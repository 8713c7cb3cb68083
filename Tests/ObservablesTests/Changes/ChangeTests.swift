import Foundation
import Observables
import TestSupport
import Testing

@Suite struct `Deep changes` {
  let loop = Loop()

  // X2
  @Test func `are net since the last delivery`() throws {
    let (drawing, log) = (Drawing(), Log())
    let shape = Shape(3)
    drawing.shapes.append(shape)
    try drawing.changes(in: loop) { _, changes in log.note(try encoded(changes)) }
    drawing.title = "a"
    drawing.title = "b"
    shape.sides = 4
    loop.flush()
    shape.sides = 5
    shape.sides = 4
    loop.flush()
    #expect(
      log.events == [
        """
        [{"kind":"set","new":4,"old":3,"path":["shapes",1,"sides"]},\
        {"kind":"set","new":"b","old":"","path":["title"]}]
        """
      ])
  }

  // X2
  @Test func `follow new objects, and leave removed ones`() throws {
    let (drawing, log) = (Drawing(), Log())
    let shape = Shape(3)
    try drawing.changes(in: loop) { _, changes in log.note(try encoded(changes)) }
    drawing.shapes.append(shape)
    drawing.cover = shape
    loop.flush()
    shape.sides = 4
    loop.flush()
    drawing.shapes.removeAll()
    drawing.cover = nil
    loop.flush()
    shape.sides = 5
    loop.flush()
    #expect(
      log.events == [
        """
        [{"kind":"insert","path":["shapes",1],"ref":{"after":["cover"]}},\
        {"kind":"set","model":"Shape","new":{"sides":3},"path":["cover"]}]
        """,
        #"[{"kind":"set","new":4,"old":3,"path":["cover","sides"]}]"#,
        """
        [{"kind":"remove","old_ref":["cover"],"path":["shapes",1]},\
        {"kind":"set","model":"Shape","old":{"sides":4},"path":["cover"]}]
        """,
      ])
  }

  // X2
  @Test(arguments: [(3, 1), (0, 2)])
  func `of a moved element are one move`(from: Int, to: Int) throws {
    let (drawing, log) = (Drawing(), Log())
    drawing.shapes.append(contentsOf: (3...6).map { Shape($0) })
    try drawing.changes(in: loop) { _, changes in log.note(try encoded(changes)) }
    drawing.shapes.move(from: from, to: to)
    loop.flush()
    #expect(log.events == [#"[{"from":\#(from + 1),"kind":"move","path":["shapes",\#(to + 1)]}]"#])
  }

  // X2
  @Test func `come as a sequence`() async throws {
    let loop = Loop()
    let drawing = Drawing()
    var changes = try drawing.changes(in: loop).makeAsyncIterator()
    drawing.title = "a"
    loop.flush()
    let first = await changes.next()
    #expect(first == [DeepChange(path: ["title"], old: "", new: "a")])
  }

  // X2
  @Test func `as a stream end when the watchers of the object are stopped`() async throws {
    let loop = Loop()
    let drawing = Drawing()
    var changes = try drawing.changes(in: loop).makeAsyncIterator()
    drawing.title = "a"
    loop.flush()
    drawing.stopObserving()
    #expect(await changes.next()?.count == 1)
    #expect(await changes.next() == nil)
  }

  // L1
  @Test func `keep nothing after their end, not even the engine's state`() throws {
    weak var engine: AnyObject?
    do {
      let (loop, drawing) = (Loop(), Drawing())
      drawing.shapes.append(Shape(3))
      try drawing.changes(in: loop) { _, _ in }.stop()
      try drawing.changes(in: loop) { _, _ in }
      loop.flush()
      engine = loop.engine
    }
    #expect(engine == nil)
  }

  // L1
  @Test func `keep nothing alive`() throws {
    weak var known: Drawing?
    do {
      let drawing = Drawing()
      drawing.shapes.append(Shape(3))
      try drawing.changes(in: loop) { _, _ in }
      known = drawing
    }
    loop.flush()
    #expect(known == nil)
  }

  // X3
  @Test func `that do not fit are named, and nothing is applied`() throws {
    let drawing = Drawing()
    drawing.shapes.append(Shape(3))
    let fits = DeepChange(path: ["title"], old: "", new: "a")
    for (change, reason) in [
      (DeepChange(path: ["title"], old: "b", new: "c"), "something else was there"),
      (DeepChange(path: ["titel"], new: "c"), "has no property 'titel' (did you mean 'title'?)"),
      (
        DeepChange(path: ["shapes", 3], kind: .insert, new: ["sides": 1], model: "Shape"),
        "position 3 is out of range, the array has 1 elements"
      ),
      (DeepChange(path: ["cover"], new: [:], model: "Shape"), "Shape cannot be made from this"),
      (DeepChange(path: ["cover"], reference: .before(["shapes", 2])), "leads to no object"),
      (DeepChange(path: ["cover", "sides"], old: 1, new: 2), "there is no object at 'cover'"),
      (DeepChange(path: ["tags"], kind: .remove, old: "x"), "the member is not in the set"),
    ] {
      let error = #expect(throws: ChangeError.self) { try drawing.apply([fits, change]) }
      #expect("\(try #require(error))".contains(reason))
      #expect(drawing.title == "")
    }
    #expect(try drawing.apply([fits, fits], force: true) == 1)
    #expect(drawing.title == "a")
  }

  // X3
  @Test func `are one turn for watchers`() throws {
    let (drawing, log) = (Drawing(), Log())
    try drawing.observe("title", "shapes.*", in: loop) { log.note($0.title) }
    try drawing.apply([
      DeepChange(path: ["title"], old: "", new: "a"),
      DeepChange(path: ["shapes", 1], kind: .insert, new: ["sides": 3], model: "Shape"),
    ])
    loop.flush()
    #expect(log.events == ["a"])
    #expect(drawing.shapes.map(\.sides) == [3])
  }
}

/// Changes as JSON, with the keys in order.
func encoded(_ changes: [DeepChange]) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(changes), as: UTF8.self)
}
