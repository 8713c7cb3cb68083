import ObservableRecords
import Testing

@ObservableModel final class Box: ObservableRecord {
  var id: Int64?
  var width: Int
  var height: Int
  var area: Int = 0
  var label: String?
}

@ObservableModel final class Stack: ObservableRecord {
  var id: Int64?
  var width: Int
  var area: Int = 0
  @Computed("area") @Stored var size: Int
  private func makeSize() -> Int { area }
}

/// R1: columns that the database computes, and lists that follow it.
struct GeneratedTests {
  private func ledger(_ saving: RecordStore.Saving = .synchronous) throws -> Ledger {
    let ledger = try Ledger(saving: saving)
    try ledger.run(
      """
      CREATE TABLE box(
        id INTEGER PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL,
        area INTEGER NOT NULL GENERATED ALWAYS AS (width * height) STORED,
        label TEXT GENERATED ALWAYS AS (width || ' x ' || height) VIRTUAL,
        unknown INTEGER NOT NULL GENERATED ALWAYS AS (id) VIRTUAL);
      INSERT INTO box(width, height) VALUES (2, 3);
      """)
    return ledger
  }

  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous, .explicit])
  func `a column that the database computes follows its sources`(
    _ saving: RecordStore.Saving
  ) throws {
    let ledger = try ledger(saving)
    func save() throws {
      if saving == .explicit { try ledger.store.save() }
      ledger.loop.run()
    }
    let box = try #require(try ledger.store.find(Box.self, 1))
    #expect(box.area == 6 && box.label == "2 x 3")
    var heard: [String] = []
    try box.observe("area", "label", in: ledger.loop) { heard.append("\($0.area) \($0.label!)") }
    ledger.loop.turn { box.width = 5 }
    try save()
    #expect(heard == ["15 5 x 3"] && !ledger.store.hasUnsavedChanges)
    let other = Box(width: 4, height: 4)
    try ledger.loop.turn { try ledger.store.insert(other) }
    try save()
    #expect(other.area == 16 && other.label == "4 x 4")
    #expect(try ledger.rows("SELECT area, label FROM box") == ["15 5 x 3", "16 4 x 4"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a column that the database computes cannot be written`() throws {
    let ledger = try ledger()
    let box = try #require(try ledger.store.find(Box.self, 1))
    ledger.loop.turn { box.area = 7 }
    #expect(box.area == 6 && !box.hasUnsavedChanges)
    #expect(
      ledger.errors.texts == [
        "table 'box', column 'area', row 1: the column is GENERATED: the database computes it, "
          + "and it cannot be written"
      ])
  }

  @Test func `a stored property cannot depend on a column that the database computes`() throws {
    let ledger = try ledger()
    try ledger.run(
      """
      CREATE TABLE stack(
        id INTEGER PRIMARY KEY, width INTEGER NOT NULL, area INTEGER AS (width * 2),
        size INTEGER NOT NULL)
      """)
    let error = #expect(throws: RecordError.self) { try ledger.store.fetch(Stack.all()) }
    #expect(error?.code == .wrongDependency)
    #expect(error?.detail.contains("is GENERATED: its value is known only after the save") == true)
  }

  @Test func `a text with a zero byte is an error, not a shorter text`() throws {
    let ledger = try ledger()
    try ledger.run("INSERT INTO note(text) VALUES ('a' || char(0) || 'b'), ('a')")
    let error = #expect(throws: RecordError.self) { try ledger.store.find(Note.self, 1) }
    #expect(
      error?.description
        == "table 'note', column 'text', row 1: the text has a zero byte, which ends a text in "
        + "SQLite")
    #expect(try ledger.store.find(Note.self, 2)?.text == "a")
  }

  // R4: only the store changes the list of a query.
  @Test func `a change of a query's list by the program is an error, and is undone`() throws {
    let ledger = try ledger()
    let names = ["Ann", "Bob", "Cid"]
    for name in names { _ = try ledger.addInvoice(name) }
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let sentence =
      "table 'invoice': the list of a query cannot be changed, it follows the database: use the "
      + "store's 'insert' and 'delete' to add and delete rows"
    let edits: [(ObservableArray<Invoice>) -> Void] = [
      { $0.removeLast() }, { $0.append($0[0]) }, { $0[0] = $0[1] }, { $0.removeAll() },
      { $0.insert(Invoice(customer: "x"), at: 1) }, { $0.set([]) },
    ]
    for edit in edits {
      ledger.errors.texts = []
      ledger.loop.turn { edit(all) }
      #expect(ledger.errors.texts == [sentence] && all.map(\.customer) == names)
    }
    // A move is found with the next change.
    ledger.errors.texts = []
    ledger.loop.turn { all.reverse() }
    _ = try ledger.addInvoice("Dan")
    ledger.loop.run()
    #expect(ledger.errors.texts == [sentence] && all.map(\.customer) == names + ["Dan"])
    ledger.errors.texts = []
    ledger.loop.turn { ledger.store.delete(all[1]) }
    ledger.loop.run()
    #expect(all.map(\.customer) == ["Ann", "Cid", "Dan"] && ledger.errors.texts == [])
    // A closed store follows nothing.
    try ledger.store.close()
    ledger.loop.turn { all.removeAll() }
    #expect(all.isEmpty && ledger.errors.texts == [])
  }

  @Test func `the list of a query and its rows end together`() throws {
    let ledger = try ledger()
    _ = try ledger.addInvoice("Ann")
    var all: ObservableArray<Invoice>? = try ledger.store.query(Invoice.all())
    weak let list = all
    weak let row = all?.first
    #expect(list != nil && row != nil)
    all = nil
    #expect(list == nil && row == nil)
  }
}
