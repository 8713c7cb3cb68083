import Observables
import TestSupport
import Testing

// X5
@Suite struct `A history` {
  let loop = Loop()

  @Test func `has a step for each turn`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    let shape = Shape(3)
    drawing.shapes.append(shape)
    loop.endTurn()
    shape.sides = 4
    drawing.title = "a"
    loop.endTurn()
    #expect(history.undo())
    #expect(shape.sides == 3 && drawing.title == "")
    #expect(history.undo())
    #expect(drawing.shapes.isEmpty)
    #expect(!history.undo())
    #expect(history.redo() && history.redo() && !history.redo())
    #expect(drawing.shapes.first === shape)
    #expect(shape.sides == 4 && drawing.title == "a")
  }

  // T3
  @Test func `and changes come after all watchers, and add no calls`() throws {
    let (drawing, log) = (Drawing(), Log())
    let history = try ChangeHistory(of: drawing, in: loop)
    try drawing.changes(in: loop) { _, changes in
      log.note(changes.map { $0.path.last!.description }.joined(separator: " "))
    }
    let shape = Shape(3)
    #expect(loop.statistics.calls == 0)
    drawing.shapes.append(shape)
    #expect(loop.statistics.calls == 0)
    loop.endTurn()
    #expect(loop.statistics.calls == 1)
    try drawing.observe("title", in: loop) { shape.sides = $0.title.count }
    drawing.title = "abcd"
    #expect(loop.statistics.calls == 1)
    let before = loop.statistics.calls
    loop.endTurn()
    #expect(log.take() == ["1", "sides title"])
    #expect(loop.statistics.calls == before + 2)
    #expect(history.undo())
    #expect(shape.sides == 3 && drawing.title == "")
  }

  @Test func `makes no step of its writes, and drops undone steps at the next change`() throws {
    let (drawing, log) = (Drawing(), Log())
    let history = try ChangeHistory(of: drawing, in: loop)
    try drawing.observe("title", in: loop) { log.note($0.title) }
    try history.observe("canUndo", "canRedo", in: loop) {
      log.note("\($0.canUndo) \($0.canRedo)")
    }
    drawing.title = "a"
    loop.endTurn()
    loop.endTurn()
    history.undo()
    loop.endTurn()
    drawing.title = "b"
    loop.endTurn()
    #expect(!history.redo())
    #expect(log.events == ["a", "true false", "", "false true", "b", "true false"])
  }

  @Test func `goes back to a mark, and groups changes between begin and commit`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    history.mark("new")
    history.begin()
    drawing.title = "a"
    loop.endTurn()
    drawing.tags.insert("x")
    loop.endTurn()
    history.commit()
    history.mark("saved")
    drawing.names["n"] = 1
    loop.endTurn()
    drawing.names["n"] = 2
    #expect(history.undo(to: "saved"))
    #expect(drawing.names.isEmpty && drawing.title == "a")
    #expect(history.undo(to: "new"))
    #expect(drawing.title == "" && drawing.tags.isEmpty)
    #expect(!history.undo(to: "unknown"))
  }

  @Test func `goes back to the end of a step that was named when it began`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    history.begin("typed")
    drawing.title = "a"
    loop.endTurn()
    history.begin("inner")
    drawing.title = "ab"
    loop.endTurn()
    history.commit()
    history.commit()
    history.begin("nothing")
    history.commit()
    drawing.title = "abc"
    #expect(!history.undo(to: "inner") && !history.undo(to: "nothing"))
    #expect(history.undo(to: "typed"))
    #expect(drawing.title == "ab")
    #expect(history.undo() && drawing.title == "")
  }

  @Test func `goes back to the start of its oldest step, and no further`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop, limit: 2)
    history.mark("none")
    for name in ["a", "b", "c"] {
      drawing.title = name
      loop.endTurn()
      history.mark(name)
    }
    #expect(!history.undo(to: "none"))
    #expect(drawing.title == "c")
    #expect(history.undo(to: "a"))
    #expect(drawing.title == "a")
    for name in ["d", "e", "f"] {
      drawing.title = name
      loop.endTurn()
    }
    #expect(!history.undo(to: "a"))
  }

  @Test func `undoes the changes of an object that left and came back`() throws {
    let drawing = Drawing()
    let shape = Shape(3)
    drawing.shapes.append(shape)
    let history = try ChangeHistory(of: drawing, in: loop)
    drawing.shapes.removeAll()
    loop.endTurn()
    // This write belongs to no step.
    shape.sides = 4
    loop.endTurn()
    shape.sides = 5
    drawing.cover = shape
    loop.endTurn()
    shape.sides = 6
    loop.endTurn()
    #expect(history.undo() && shape.sides == 5)
    #expect(history.undo() && shape.sides == 4 && drawing.cover == nil)
    #expect(history.undo() && drawing.shapes.first === shape && shape.sides == 4)
    #expect(!history.undo())
    #expect(history.redo() && history.redo())
    #expect(drawing.cover === shape && shape.sides == 5)
  }

  @Test func `undoes the removal of a part that an object lost outside`() throws {
    let drawing = Drawing()
    drawing.cover = Shape(3, next: Shape(4))
    let shape = drawing.cover!
    let history = try ChangeHistory(of: drawing, in: loop)
    drawing.cover = nil
    loop.endTurn()
    shape.next = nil
    drawing.cover = shape
    loop.endTurn()
    #expect(history.undo() && shape.next?.sides == 4)
    #expect(history.undo() && drawing.cover?.next?.sides == 4)
  }

  @Test func `names a step that begins and ends within a turn`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    for name in ["a", "b"] {
      history.begin(name)
      drawing.title = name
      history.commit()
    }
    drawing.title = "c"
    #expect(history.undo(to: "a") && drawing.title == "a")
  }

  @Test func `may be used by an immediate watcher of undone writes`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    for title in ["a", "b", "c"] {
      drawing.title = title
      loop.endTurn()
    }
    let watcher = try drawing.observeImmediately("title", in: loop) { _, _ in
      if drawing.title == "b" { history.undo() }
    }
    #expect(history.undo() && drawing.title == "a")
    watcher.stop()
    #expect(history.undo() && drawing.title == "" && !history.undo())
    #expect(history.redo() && history.redo() && history.redo() && drawing.title == "c")
    #expect(!history.redo())
    try drawing.observeImmediately("title", in: loop) { _, _ in history.clear() }
    #expect(history.undo() && !history.canUndo && !history.canRedo)
  }

  // L6
  @Test func `keeps and follows an object that left only while it can bring it back`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop, limit: 2)
    drawing.cover = Shape(3)
    weak let shape = drawing.cover
    loop.endTurn()
    drawing.cover = nil
    loop.endTurn()
    #expect(shape != nil)
    let observed = loop.statistics.observedObjects
    for name in ["a", "b"] {
      drawing.title = name
      loop.endTurn()
    }
    #expect(shape == nil)
    #expect(loop.statistics.observedObjects == observed - 1)
    history.stop()
  }

  @Test func `makes one step of a turn with several flushes`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    for name in ["a", "b"] {
      drawing.title = name
      loop.flush()
    }
    loop.endTurn()
    #expect(history.undo() && drawing.title == "" && !history.canUndo)
    #expect(history.redo() && drawing.title == "b")
    loop.endTurn()
    drawing.tags.insert("x")
    loop.flush()
    drawing.tags.remove("x")
    loop.endTurn()
    #expect(history.undo() && drawing.title == "" && !history.canUndo)
  }

  @Test func `makes no step of an object that came and left within it`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    let shape = Shape(3)
    func comeAndLeave() {
      drawing.cover = shape
      loop.flush()
      shape.sides += 1
      loop.flush()
      drawing.cover = nil
      loop.flush()
    }
    comeAndLeave()
    #expect(!history.canUndo)
    comeAndLeave()
    drawing.cover = shape
    loop.endTurn()
    #expect(history.undo() && drawing.cover == nil)
    #expect(history.redo() && drawing.cover === shape && shape.sides == 5)
  }

  @Test func `regards an object that no step can bring back as a guest in each step`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    weak var guest: Shape?
    drawing.title = "a"
    for _ in 1...2 {
      var shape: Shape? = guest ?? Shape(3)
      guest = shape
      drawing.cover = shape
      loop.flush()
      shape!.sides += 1
      loop.flush()
      (drawing.cover, shape) = (nil, nil)
      loop.endTurn()
    }
    #expect(guest == nil)
    #expect(history.undo() && drawing.title == "" && !history.canUndo)
  }

  @Test func `contains in a group what happened to its objects outside of the tree`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    let shape = Shape(3)
    history.begin()
    drawing.cover = shape
    loop.flush()
    shape.sides = 4
    loop.endTurn()
    drawing.cover = nil
    loop.endTurn()
    shape.sides = 7
    loop.endTurn()
    drawing.cover = shape
    history.commit()
    #expect(history.undo() && drawing.cover == nil)
    #expect(history.redo() && drawing.cover === shape && shape.sides == 7)
  }

  @Test func `drops a step that no longer fits`() throws {
    let drawing = Drawing()
    let history = try ChangeHistory(of: drawing, in: loop)
    let (shape, log) = (Shape(3), Log())
    history.onMisfit = { log.note($0) }
    drawing.cover = shape
    loop.endTurn()
    shape.sides = 4
    loop.endTurn()
    drawing.cover = nil
    loop.endTurn()
    shape.sides = 7
    #expect(history.undo())
    #expect(!history.undo())
    #expect(
      log.events == [
        "a step of the history no longer fits, and was dropped: 'sides' has a different value now"
      ])
    #expect(shape.sides == 7)
  }

  @Test func `restores objects that it alone has kept, and releases them in the end`() throws {
    weak var shape: Shape?
    weak var next: Shape?
    let drawing = Drawing()
    drawing.shapes.append(Shape(3, next: Shape(4)))
    drawing.cover = Shape(5)
    (shape, next) = (drawing.shapes[0], drawing.shapes[0].next)
    let history = try ChangeHistory(of: drawing, in: loop)
    loop.turn {
      drawing.shapes[0].next = nil
      drawing.shapes.removeAll()
      drawing.cover = nil
    }
    #expect(history.undo())
    #expect(drawing.shapes.elements.map(\.sides) == [3] && drawing.cover?.sides == 5)
    #expect(drawing.shapes.first === shape && shape?.next === next && next?.sides == 4)
    loop.turn { drawing.shapes.removeAll() }
    history.clear()
    #expect(shape == nil && next == nil && drawing.cover != nil)
  }

  @Test func `restores lists that a setter has written on the way`() throws {
    let page = Page()
    page.shapes.append(Shape(3))
    let history = try ChangeHistory(of: page, in: loop)
    loop.turn { page.title = "a" }
    #expect(page.shapes.isEmpty && page.titles == [""])
    for _ in 0..<2 {
      #expect(history.undo())
      #expect(page.title == "" && page.shapes.count == 1 && page.titles.isEmpty)
      #expect(history.redo())
      #expect(page.title == "a" && page.shapes.isEmpty && page.titles == [""])
    }
  }

  @Test func `restores lists with elements that are nil`() throws {
    let page = Page()
    page.numbers.append(contentsOf: [1, nil])
    let history = try ChangeHistory(of: page, in: loop)
    loop.turn { page.numbers[0] = nil }
    #expect(history.undo() && page.numbers == [1, nil])
    #expect(history.redo() && page.numbers == [nil, nil])
  }

  @Test func `keeps no objects that its model holds weakly`() throws {
    weak var owner: Page?
    let history: ChangeHistory
    do {
      let (outer, inner) = (Page(), Page())
      (outer.inner, inner.outer, owner) = (inner, outer, outer)
      history = try ChangeHistory(of: inner, in: loop)
      loop.turn { inner.title = "a" }
    }
    #expect(owner == nil && history.undo() == false)
  }

  @Test func `may be held by its object without keeping it alive`() throws {
    weak var known: Page?
    do {
      let page = Page()
      known = page
      page.history = try ChangeHistory(of: page, in: loop, grouping: 10)
      for title in ["a", "b"] { loop.turn { page.title = title } }
      #expect(page.history?.undo() == true && page.title == "")
    }
    loop.endTurn()
    #expect(known == nil)
  }

  @Test func `keeps no object alive, and ends`() throws {
    weak var known: Drawing?
    weak var shape: Shape?
    let history: ChangeHistory
    do {
      let drawing = Drawing()
      drawing.shapes.append(Shape(3))
      history = try ChangeHistory(of: drawing, in: loop)
      (known, shape) = (drawing, drawing.shapes[0])
    }
    loop.endTurn()
    #expect(known == nil && shape == nil)
    history.stop()
    #expect(!history.undo() && !history.canUndo)
  }
}

/// A model whose setter writes to its lists, and whose owner it holds weakly.
private final class Page: ObservableModel {
  static let properties = ModelProperties(for: Page.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("inner", get: { $0.inner }, set: { $0.inner = $1 })
    Property("outer", get: { $0.outer }, set: { $0.outer = $1 })
    Property("shapes", get: { $0.shapes })
    Property("titles", get: { $0.titles })
    Property("numbers", get: { $0.numbers })
  }
  let observation = ModelObservation()
  var history: ChangeHistory?
  var title = "" {
    didSet {
      observation.didSet(0, from: oldValue, to: title)
      shapes.removeAll()
      titles.append(oldValue)
    }
  }
  var inner: Page? { didSet { observation.didSet(1, from: oldValue, to: inner) } }
  weak var outer: Page? { didSet { observation.didSet(2, from: oldValue, to: outer) } }
  let shapes = ObservableArray<Shape>()
  let titles = ObservableArray<String>()
  let numbers = ObservableArray<Int?>()
}
