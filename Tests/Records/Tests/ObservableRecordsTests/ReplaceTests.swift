import ObservableRecords
import Testing

@ObservableModel final class Squad: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Member.squadID) var members: ObservableArray<Member>
  @Computed("members.count") @Stored var size: Int
  private func makeSize() -> Int { members.count }
}

@ObservableModel final class Member: ObservableRecord {
  var id: Int64?
  var name: String
  var shirt: Int?
  var squadID: Int64?
  @BelongsTo(\Member.squadID) var squad: Squad?
}

/// R2 to R5: replaced rows, and rows that are added to lists twice.
struct ReplaceTests {
  private let ledger: Ledger
  private let red = Squad(name: "red")
  private let blue = Squad(name: "blue")

  /// Two squads; `unique` declares the unique columns of a member.
  private init(_ unique: String, saving: RecordStore.Saving = .synchronous) throws {
    ledger = try Ledger(saving: saving)
    try ledger.run(
      """
      CREATE TABLE squad(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE member(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, shirt INTEGER,
        squadID INTEGER REFERENCES squad(id), \(unique));
      """)
    try ledger.loop.turn {
      try ledger.store.insert(red)
      try ledger.store.insert(blue)
    }
    ledger.loop.run()
  }

  init() throws { try self.init("UNIQUE(name) ON CONFLICT REPLACE") }

  private func sizes() throws -> [String] {
    ledger.loop.run()
    return try ledger.rows(
      """
      SELECT size, (SELECT COUNT(*) FROM member WHERE squadID = squad.id) FROM squad ORDER BY id
      """)
  }

  // R2, R5: SQLite does not report rows that a constraint replaces.
  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous])
  func `a row that a new one replaces leaves lists and sizes`(
    _ saving: RecordStore.Saving
  ) throws {
    let tests = try ReplaceTests("UNIQUE(name) ON CONFLICT REPLACE", saving: saving)
    let (ledger, red, blue) = (tests.ledger, tests.red, tests.blue)
    let (first, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    ledger.loop.turn { red.members.append(contentsOf: [first, bob]) }
    #expect(try tests.sizes() == ["2 2", "0 0"])
    let second = Member(name: "Ann")
    ledger.loop.turn { red.members.append(second) }
    #expect(try tests.sizes() == ["2 2", "0 0"])
    #expect(first.isDeleted && red.members.map(\.name) == ["Bob", "Ann"])
    #expect(red.members[1] === second)
    // From another list, by an update.
    let cid = Member(name: "Cid")
    ledger.loop.turn { blue.members.append(cid) }
    ledger.loop.run()
    ledger.loop.turn { cid.name = "Bob" }
    #expect(try tests.sizes() == ["1 1", "1 1"])
    #expect(bob.isDeleted && red.members.elements.map(\.name) == ["Ann"])
    #expect(red.size == 1 && blue.size == 1 && ledger.errors.texts == [])
  }

  @Test func `a row that is not in memory is replaced, too`() throws {
    try ledger.run("INSERT INTO member(name, squadID) VALUES ('Ann', 2)")
    ledger.loop.run()
    try ledger.store.refreshStored(Squad.self)
    #expect(try sizes() == ["0 0", "1 1"])
    ledger.loop.turn { red.members.append(Member(name: "Ann")) }
    #expect(try sizes() == ["1 1", "0 0"])
    #expect(blue.size == 0 && blue.members.isEmpty)
  }

  // R3: statements of other writers.
  @Test(arguments: [
    "INSERT OR REPLACE INTO member(name, squadID) VALUES ('Ann', 1)",
    "REPLACE INTO member(id, name, squadID) VALUES (2, 'Ann', 1)",
    "UPDATE OR REPLACE member SET name = 'Ann' WHERE id = 2",
    "INSERT INTO member(id, name, squadID) VALUES (9, 'Ann', 1) ON CONFLICT(id) DO NOTHING",
  ])
  func `a row replaced by a statement of others is gone`(_ sql: String) throws {
    let isUpsert = sql.contains("ON CONFLICT")
    let tests = try ReplaceTests("UNIQUE(name)" + (isUpsert ? " ON CONFLICT REPLACE" : ""))
    let (ledger, red) = (tests.ledger, tests.red)
    let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    ledger.loop.turn { red.members.append(contentsOf: [ann, bob]) }
    let all = try ledger.store.query(Member.order(Column("id")))
    try ledger.run(sql)
    ledger.loop.run()
    let rows = try ledger.rows("SELECT id, name FROM member ORDER BY id")
    #expect(ann.isDeleted && !all.contains { $0 === ann })
    #expect(all.map { "\($0.id!) \($0.name)" } == rows)
    #expect(Set(red.members.compactMap(\.id)) == Set(all.compactMap(\.id)))
    #expect(ledger.errors.texts == [])
  }

  @Test func `a row that a trigger replaces is gone`() throws {
    try ledger.run(
      """
      CREATE TRIGGER twin AFTER UPDATE ON squad WHEN new.name = 'twin' BEGIN
        INSERT OR REPLACE INTO member(name, squadID) VALUES ('Ann', new.id);
      END
      """)
    let ann = Member(name: "Ann")
    ledger.loop.turn { red.members.append(ann) }
    ledger.loop.turn { blue.name = "twin" }
    ledger.loop.run()
    #expect(ann.isDeleted && red.members.isEmpty && blue.members.map(\.name) == ["Ann"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `of two new rows with one unique value the last stays`() throws {
    let (first, second) = (Member(name: "Ann"), Member(name: "Ann"))
    ledger.loop.turn { red.members.append(contentsOf: [first, second]) }
    #expect(try sizes() == ["1 1", "0 0"] && first.isDeleted && !second.isDeleted)
    #expect(red.members.count == 1 && red.members[0] === second && ledger.errors.texts == [])
  }

  // R5: the row that it referred to before the turn loses it, wherever it was moved in between.
  @Test func `a row moved to a new owner and deleted leaves the stored size`() throws {
    let ann = Member(name: "Ann")
    ledger.loop.turn { red.members.append(ann) }
    let green = Squad(name: "green")
    ledger.loop.turn {
      ann.squad = green
      ledger.store.delete(ann)
    }
    #expect(try sizes() == ["0 0", "0 0", "0 0"])
  }

  // R2: only the end of a turn counts.
  @Test func `two rows that swap unique values both stay`() throws {
    let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    ledger.loop.turn { red.members.append(contentsOf: [ann, bob]) }
    ledger.loop.turn { (ann.name, bob.name) = ("Bob", "Ann") }
    #expect(try sizes() == ["2 2", "0 0"] && !ann.isDeleted && !bob.isDeleted)
    #expect(try ledger.rows("SELECT id, name FROM member ORDER BY id") == ["1 Bob", "2 Ann"])
  }

  // R5: a to-many list holds each row once.
  @Test func `a row that is added to a list twice is in it once`() throws {
    let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    var seen: [[String]] = []
    try red.members.observeEdits(in: ledger.loop) { list, _ in
      seen.append(list.elements.map(\.name))
    }
    ledger.loop.turn {
      red.members.append(ann)
      red.members.append(ann)
      red.members.append(bob)
      red.members.insert(bob, at: 0)
    }
    #expect(try sizes() == ["2 2", "0 0"])
    #expect(red.members.elements.map(\.name) == ["Bob", "Ann"] && seen.last == ["Bob", "Ann"])
    ledger.loop.turn { red.members.append(ann) }
    #expect(try sizes() == ["2 2", "0 0"])
    #expect(red.members.elements.map(\.name) == ["Bob", "Ann"] && red.size == 2)
    ledger.loop.turn {
      red.members.append(ann)
      ledger.store.delete(ann)
      #expect(red.members.elements.map(\.name) == ["Bob"])
    }
    #expect(try sizes() == ["1 1", "0 0"] && red.members.map(\.name) == ["Bob"])
  }

  @Test(arguments: [false, true])
  func `a row that is added to two lists is in the last one`(_ isSaved: Bool) throws {
    let ann = Member(name: "Ann")
    if isSaved { ledger.loop.turn { red.members.append(ann) } }
    let green = Squad(name: "green")
    ledger.loop.turn {
      if isSaved { red.members.removeAll() }
      red.members.append(ann)
      blue.members.append(ann)
    }
    #expect(try sizes() == ["0 0", "1 1"])
    #expect(red.members.isEmpty && blue.members.elements.map(\.name) == ["Ann"])
    try ledger.loop.turn {
      red.members.append(ann)
      green.members.append(ann)
      green.members.append(ann)
      try ledger.store.insert(green)
    }
    #expect(try sizes() == ["0 0", "0 0", "1 1"])
    #expect(red.members.isEmpty && blue.members.isEmpty && green.members.count == 1)
    #expect(ann.squad === green)
    ledger.loop.turn {
      red.members.append(ann)
      ledger.store.delete(ann)
    }
    #expect(try sizes() == ["0 0", "0 0", "0 0"])
    #expect(red.members.isEmpty && green.members.isEmpty && ledger.errors.texts == [])
  }
}
