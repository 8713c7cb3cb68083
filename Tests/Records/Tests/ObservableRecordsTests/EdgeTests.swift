import Foundation
import ObservableRecords
import Testing

@ObservableModel final class Word: ObservableRecord {
  static let primaryKeyName = "text"
  var text: String
  var note: String?
}

@ObservableModel final class Patron: ObservableRecord {
  static let primaryKeyName = "code"
  var code: String
  var name: String = ""
  @HasMany(\Visit.patronCode) var visits: ObservableArray<Visit>
  @HasOne(\Card.patronCode) var card: Card?
  @Computed("visits.count") @Stored var count: Int
  private func makeCount() -> Int { visits.count }
}

@ObservableModel final class Visit: ObservableRecord {
  var id: Int64?
  var place: String
  var patronCode: String = ""
  @BelongsTo(\Visit.patronCode) var patron: Patron?
}

@ObservableModel final class Card: ObservableRecord {
  var id: Int64?
  var patronCode: String?
}

enum Wide: UInt64, DatabaseValueConvertible { case one = 1, all = 0xFFFF_FFFF_FFFF_FFFF }

enum Small: Int, DatabaseValueConvertible { case one = 1, two }

struct Spot: Codable, Equatable { var x = 0; var y = 0 }

@ObservableModel final class Mixed: ObservableRecord {
  var id: Int64?
  var day: Date = Date(timeIntervalSince1970: 0)
  var price: Decimal = 0
  var ratio: Double?
  var size: Float = 0
  var big: UInt64 = 0
  var bigger: UInt?
  var wide: Wide = Wide.one
  var small: Small?
  var label: String = ""
  var key: UUID = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
  var spot: Spot = Spot()
}

/// R1 to R3: values on their way to SQLite and back.
struct EdgeTests {
  private let ledger: Ledger
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  init() throws {
    ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE word(text TEXT PRIMARY KEY NOT NULL, note TEXT);
      CREATE TABLE patron(
        code TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, name TEXT NOT NULL,
        count INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE visit(
        id INTEGER PRIMARY KEY, place TEXT NOT NULL,
        patronCode TEXT NOT NULL REFERENCES patron(code));
      CREATE TABLE card(id INTEGER PRIMARY KEY, patronCode TEXT COLLATE NOCASE);
      CREATE TABLE mixed(
        id INTEGER PRIMARY KEY, day DATETIME, price DECIMAL, ratio DOUBLE, size DOUBLE,
        big INTEGER, bigger INTEGER, wide INTEGER, small TEXT, label NUMERIC, key TEXT, spot TEXT);
      """)
  }

  // R1: texts are compared by their bytes.
  @Test func `keys that only look alike are two rows`() throws {
    let (one, two) = (Word(text: composed, note: "1"), Word(text: decomposed, note: "2"))
    try ledger.loop.turn {
      try ledger.store.insert(one)
      try ledger.store.insert(two)
    }
    ledger.loop.run()
    #expect(ledger.errors.texts == [])
    #expect(try ledger.store.find(Word.self, decomposed) === two)
    #expect(try ledger.store.find(Word.self, composed) === one)
    ledger.loop.turn { two.note = "3" }
    #expect(
      try ledger.rows("SELECT length(CAST(text AS BLOB)), note FROM word ORDER BY note")
        == ["2 1", "3 3"])
    #expect(Set(try ledger.store.fetch(Word.all()).map(\.note)) == ["1", "3"])
  }

  @Test func `a change of spelling is saved, and reported`() throws {
    let word = Word(text: "w", note: composed)
    try ledger.loop.turn { try ledger.store.insert(word) }
    ledger.loop.turn { word.note = decomposed }
    #expect(try ledger.rows("SELECT length(CAST(note AS BLOB)) FROM word") == ["3"])
    try ledger.run("UPDATE word SET note = '\(composed)'")
    ledger.loop.run()
    #expect(word.note?.utf8.count == 2 && !word.hasUnsavedChanges)
  }

  // R5: keys are compared as their column declares.
  @Test func `relations follow the collation of the key`() throws {
    try ledger.run(
      """
      INSERT INTO patron(code, name) VALUES ('Ann', 'A');
      INSERT INTO visit(place, patronCode) VALUES ('x', 'ANN'), ('y', 'ann');
      INSERT INTO card(patronCode) VALUES ('aNN');
      """)
    let ann = try #require(try ledger.store.find(Patron.self, "ANN"))
    #expect(try ledger.store.find(Patron.self, "ann") === ann && ann.code == "Ann")
    #expect(ann.visits.map(\.place) == ["x", "y"] && ann.card?.patronCode == "aNN")
    #expect(ann.visits[0].patron === ann)
    let (y, new) = (ann.visits[1], Visit(place: "n", patronCode: "aNn"))
    try ledger.loop.turn { try ledger.store.insert(new) }
    #expect(ann.visits.map(\.place) == ["x", "y", "n"] && ann.count == 3)
    ledger.loop.turn { ledger.store.delete(y) }
    ledger.loop.run()
    #expect(ann.visits.map(\.place) == ["x", "n"])
    #expect(try ledger.rows("SELECT code, count FROM patron") == ["Ann 2"])
    ledger.errors.texts = []
    let other = Patron(code: "ANN")
    #expect(throws: RecordError.self) { try ledger.store.insert(other) }
  }

  // R1: stored values can be read again.
  @Test func `a value that cannot be read again is an error`() throws {
    let changes: [(String, (Mixed) -> Void)] = [
      ("day", { $0.day = Date(timeIntervalSince1970: .nan) }),
      ("day", { $0.day = Date(timeIntervalSince1970: .infinity) }),
      ("day", { $0.day = Date(timeIntervalSince1970: 1e15) }),
      ("price", { $0.price = .nan }),
      ("ratio", { $0.ratio = .nan }),
      ("size", { $0.size = .nan }),
      ("big", { $0.big = .max }),
      ("bigger", { $0.bigger = .max }),
      ("wide", { $0.wide = .all }),
      ("small", { $0.small = .two }),
      ("label", { $0.label = "007" }),
    ]
    for (column, change) in changes {
      ledger.errors.texts = []
      let (mixed, good) = (Mixed(), Word(text: "good"))
      ledger.store.pauseSaving { try? ledger.store.insert(mixed) }
      change(mixed)
      try ledger.loop.turn {
        if try ledger.store.find(Word.self, "good") == nil { try ledger.store.insert(good) }
      }
      #expect(ledger.errors.texts.count == 1, "\(column): \(ledger.errors.texts)")
      #expect(
        ledger.errors.texts.first?.contains("table 'mixed', column '\(column)'") == true,
        "\(ledger.errors.texts)")
      #expect(try ledger.rows("SELECT * FROM mixed") == [], "\(column)")
      ledger.store.revert()
    }
    #expect(try ledger.rows("SELECT text FROM word") == ["good"])
  }

  @Test func `extreme values come back unchanged`() throws {
    try ledger.run("ALTER TABLE mixed RENAME COLUMN small TO text; ALTER TABLE mixed ADD small INT")
    let mixed = Mixed(
      day: Date(timeIntervalSince1970: -1e9), price: Decimal(string: "-1.25")!,
      ratio: .infinity, size: .greatestFiniteMagnitude, big: UInt64(Int64.max),
      bigger: UInt(Int64.max), small: .two, label: "a7")
    try ledger.loop.turn { try ledger.store.insert(mixed) }
    #expect(ledger.errors.texts == [])
    let other = try RecordStore(ledger.database, loop: ledger.loop)
    let found = try #require(try other.find(Mixed.self, mixed.id))
    #expect(found.day == mixed.day && found.price == mixed.price && found.ratio == .infinity)
    #expect(found.size == mixed.size && found.big == mixed.big && found.small == .two)
    #expect(found.bigger == mixed.bigger && found.label == "a7")
  }

  // R3: only a different value is a conflict.
  @Test func `another spelling of the same value is no conflict`() throws {
    try ledger.run("ALTER TABLE mixed RENAME COLUMN small TO text; ALTER TABLE mixed ADD small INT")
    try ledger.run(
      """
      INSERT INTO mixed VALUES (
        1, '2020-01-01', '1.50', 1, 1, 1, 1, 1, 1, 'a',
        'e621e1f8-c36c-495a-93fc-0c247a3e6e5f', '{ "y": 2, "x": 1 }', 1)
      """)
    let mixed = try #require(try ledger.store.find(Mixed.self, 1))
    var conflicts: [[String]] = []
    ledger.store.onConflict = { conflicts.append($1) }
    ledger.loop.turn {
      mixed.day += 1
      mixed.price += 1
      mixed.spot.x += 1
      mixed.key = UUID()
      // Another writer has changed a different column of the row, and the store does not know it.
      try? ledger.run("UPDATE mixed SET ratio = 7 WHERE id = 1")
    }
    ledger.loop.run()
    #expect(conflicts == [] && ledger.errors.texts == [])
    #expect(mixed.ratio == 7 && mixed.spot == Spot(x: 2, y: 2))
    #expect(!mixed.hasUnsavedChanges)
  }

  // For SQLite a text ends at a NUL.
  @Test func `a text with a NUL finds no row`() throws {
    let word = Word(text: "a")
    try ledger.loop.turn { try ledger.store.insert(word) }
    #expect(try ledger.store.find(Word.self, "a\0b") == nil)
    #expect(try ledger.store.find(Word.self, "a") === word)
    let visit = Visit(place: "x", patronCode: "a\0b")
    ledger.store.pauseSaving { try? ledger.store.insert(visit) }
    #expect(visit.patron == nil)
  }
}
