import Foundation
import ObservableRecords
import Testing

enum Mood: String, Codable, DatabaseValueConvertible { case calm, tense }

struct Place: Codable, Equatable {
  var street: String
  var rooms: [Int]
}

@ObservableModel final class Guest: ObservableRecord {
  var id: Int64?
  let code: String
  var name: String?
  var mood: Mood
  var place: Place?
  var tags: [String] = []
  var seen: Date?
  @Ignored var visits = 0
  private var secret = 1

  var secrets: Int { secret }
}

@ObservableModel final class Country: ObservableRecord {
  static let primaryKeyName = "code"
  static let databaseTableName = "countries"
  var code: String
  var name: String
}

@ObservableModel final class Farewell: ObservableRecord {
  var id: Int64?
  var text: String
  @HasMany(\Note.invoiceID) var notes: ObservableArray<Note>

  deinit { text = "gone \(notes.count)" }
}

/// R1: rows are objects.
struct RowTests {
  private func guests() throws -> Ledger {
    let database = try DatabaseQueue()
    try database.write { db in
      try makeTables(db)
      try db.execute(
        sql: """
          CREATE TABLE guest(
            id INTEGER PRIMARY KEY, code TEXT NOT NULL, name TEXT, mood TEXT NOT NULL,
            place TEXT, tags TEXT NOT NULL DEFAULT '[]', seen DATETIME);
          CREATE TABLE countries(code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
          """)
    }
    return try Ledger(database)
  }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no error"
    } catch {
      return "\(error)"
    }
  }

  // R1: one object for each row and store.
  @Test func `a row that is fetched twice is the same object`() throws {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO invoice(id, customer) VALUES (7, 'Ann'), (8, 'Bob')")
    let first = try ledger.invoice(7)
    let again = try ledger.store.fetch(Invoice.order(Column("id")))
    #expect(again.map(\.customer) == ["Ann", "Bob"])
    #expect(again[0] === first)
    #expect(try ledger.store.find(Invoice.self, 9) == nil)
  }

  @Test func `a row that occurs twice in a request is one object, for any order of columns`() throws
  {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO invoice(id, customer) VALUES (7, 'Ann'), (8, 'Bob')")
    let twice = SQLRequest<Invoice>(sql: "SELECT * FROM invoice UNION ALL SELECT * FROM invoice")
    let rows = try ledger.store.fetch(twice)
    #expect(rows.map(\.customer) == ["Ann", "Bob", "Ann", "Bob"])
    #expect(rows[0] === rows[2] && rows[1] === rows[3])
    let other = SQLRequest<Invoice>(sql: "SELECT 1 AS more, total, customer, id FROM invoice")
    #expect(try ledger.store.fetch(other).elementsEqual(rows[..<2], by: ===))
    try ledger.loop.turn { try ledger.invoice(8).customer = "Eve" }
    #expect(rows[3].customer == "Eve")
  }

  @Test func `rows are found by their keys while others come and go`() throws {
    let ledger = try guests()
    let small: [Int64] = Array(-300..<300)
    let keys = small + small.map { $0 &* (1 << 40) + 1000 } + [.min, .max]
    try ledger.database.write { db in
      for key in keys {
        try db.execute(sql: "INSERT INTO note VALUES (?, 'n', NULL)", arguments: [key])
        try db.execute(sql: "INSERT INTO countries VALUES (?, 'c')", arguments: ["\(key)"])
      }
    }
    var notes: [Int64: Note] = [:]
    var countries: [Int64: Country] = [:]
    for round in 0..<12 {
      for (place, key) in keys.enumerated() {
        // Some rows are found again, some for the first time, and some are released.
        if (place * 7 + round * 5) % 3 == 0 {
          notes[key] = try ledger.store.find(Note.self, key)
          countries[key] = try ledger.store.find(Country.self, "\(key)")
        } else if (place + round) % 4 == 0 {
          (notes[key], countries[key]) = (nil, nil)
        }
      }
      #expect(notes.allSatisfy { $0 == $1.id } && countries.allSatisfy { "\($0)" == $1.code })
      let fetched = (try ledger.store.fetch(Note.all()), try ledger.store.fetch(Country.all()))
      #expect(fetched.0.count == keys.count && fetched.1.count == keys.count)
      for note in fetched.0 { if let held = notes[note.id ?? 0] { #expect(held === note) } }
      for country in fetched.1 {
        if let held = countries[Int64(country.code) ?? 0] { #expect(held === country) }
      }
    }
  }

  // R1: another store has other objects.
  @Test func `each store has separate objects`() throws {
    let ledger = try Ledger()
    let id = try ledger.addInvoice("Ann")
    let other = try RecordStore(ledger.database, loop: ledger.loop)
    let own = try ledger.invoice(id)
    #expect(try other.find(Invoice.self, id) !== own)
    #expect(throws: RecordError.self) { try other.insert(own) }
  }

  @Test func `an unobserved row has no record of watchers`() throws {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO note(text) VALUES ('a')")
    let note = try #require(try ledger.store.find(Note.self, 1))
    #expect(note.text == "a" && note.existingObservation == nil)
    ledger.loop.turn { note.text = "b" }
    try ledger.store.transaction { note.text = "c" }
    #expect(note.existingObservation == nil)
    var log: [String] = []
    let watcher = try note.observe("text", in: ledger.loop) { log.append($0.text) }
    ledger.loop.turn { note.text = "d" }
    watcher.stop()
    ledger.loop.turn { note.text = "e" }
    #expect(log == ["d"])
    #expect(try ledger.rows("SELECT text FROM note") == ["e"])
  }

  @Test func `an object can be observed before it belongs to a store, and after`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a")
    var log: [String] = []
    try note.observe("text", in: ledger.loop) { log.append($0.text) }
    ledger.loop.turn { note.text = "b" }
    try ledger.loop.turn { try ledger.store.insert(note) }
    ledger.loop.turn { note.text = "c" }
    try ledger.store.close()
    ledger.loop.turn { note.text = "d" }
    #expect(log == ["b", "c", "d"])
    #expect(try ledger.rows("SELECT text FROM note") == ["c"])
  }

  // R1: writes and reads in its deinit do not keep an object alive.
  @Test func `an object writes and reads its properties in its deinit`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE farewell(id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    try ledger.run("INSERT INTO farewell VALUES (1, 'a')")
    for isInTransaction in [false, true] {
      weak var object: Farewell?
      func use() throws {
        let row = try #require(try ledger.store.find(Farewell.self, 1))
        object = row
        try row.observe("text", in: ledger.loop) { _ in }.stop()
      }
      if isInTransaction { try ledger.store.transaction(use) } else { try use() }
      #expect(object == nil)
      ledger.loop.run()
      #expect(try ledger.rows("SELECT text FROM farewell") == ["a"])
    }
    #expect(ledger.errors.texts.isEmpty)
  }

  // R1: held weakly.
  @Test func `an unreferenced object is released`() throws {
    let ledger = try Ledger()
    let id = try ledger.addInvoice("Ann")
    weak let object = try ledger.invoice(id)
    #expect(object == nil)
  }

  // R1: kept while it has unsaved changes.
  @Test func `an object with unsaved changes stays until they are saved`() throws {
    let ledger = try Ledger(saving: .explicit)
    let id = try ledger.addInvoice("Ann")
    weak var object: Invoice?
    do {
      let invoice = try ledger.invoice(id)
      invoice.customer = "Eve"
      object = invoice
    }
    #expect(object?.customer == "Eve")
    #expect(try ledger.invoice(id).customer == "Eve")
    try ledger.store.save()
    #expect(object == nil)
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Eve"])
  }

  // R1: kept while it is observed.
  @Test func `an observed object stays until its watcher is stopped`() throws {
    let ledger = try Ledger()
    let id = try ledger.addInvoice("Ann")
    weak var object: Invoice?
    var heard: [String] = []
    let watcher: Watcher
    do {
      let invoice = try ledger.invoice(id)
      watcher = try invoice.observe("customer", in: ledger.loop) { heard.append($0.customer) }
      object = invoice
    }
    try ledger.loop.turn { try ledger.invoice(id).customer = "Eve" }
    #expect(heard == ["Eve"])
    #expect(object != nil)
    watcher.stop()
    ledger.loop.turn {}
    #expect(object == nil)
  }

  // R1: reading a computed property does not keep its object.
  @Test func `an object whose computed properties were read is released`() throws {
    let ledger = try Ledger()
    let id = try ledger.addInvoice("Ann", [("tea", 2, 1.5)])
    weak var object: Invoice?
    do {
      let invoice = try ledger.invoice(id)
      #expect(invoice.total == 3)
      object = invoice
    }
    ledger.loop.turn {}
    #expect(object == nil)
  }

  // R1: columns are the stored properties.
  @Test func `columns hold values of the database and JSON`() throws {
    let ledger = try guests()
    let guest = Guest(
      code: "x1", name: nil, mood: .tense, place: Place(street: "S", rooms: [1, 2]))
    guest.tags = ["new", "vip"]
    guest.seen = Date(timeIntervalSince1970: 0)
    try ledger.loop.turn { try ledger.store.insert(guest) }
    #expect(ledger.errors.texts == [])
    #expect(
      try ledger.rows("SELECT * FROM guest") == [
        #"1 x1 - tense {"rooms":[1,2],"street":"S"} ["new","vip"] 1970-01-01 00:00:00.000"#
      ])
    let other = try RecordStore(ledger.database, loop: ledger.loop)
    let read = try #require(try other.find(Guest.self, 1))
    #expect(read.code == "x1" && read.name == nil && read.mood == .tense)
    #expect(read.place == Place(street: "S", rooms: [1, 2]) && read.tags == ["new", "vip"])
    #expect(read.seen == Date(timeIntervalSince1970: 0) && read.secrets == 1 && read.visits == 0)
    ledger.loop.turn { guest.place = nil }
    #expect(try ledger.rows("SELECT place FROM guest") == ["-"])
  }

  // R1: an ignored property is no column.
  @Test func `an ignored property is not saved`() throws {
    let ledger = try guests()
    let guest = Guest(code: "x1", mood: .calm)
    try ledger.loop.turn { try ledger.store.insert(guest) }
    guest.visits = 5
    #expect(!guest.hasUnsavedChanges)
  }

  // R1: the primary key may have another name and type.
  @Test func `a key may be a text`() throws {
    let ledger = try guests()
    try ledger.run("INSERT INTO countries VALUES ('fr', 'France')")
    let france = try #require(try ledger.store.find(Country.self, "fr"))
    try ledger.loop.turn {
      france.name = "La France"
      try ledger.store.insert(Country(code: "es", name: "Spain"))
    }
    #expect(try ledger.store.find(Country.self, "es")?.name == "Spain")
    #expect(
      try ledger.rows("SELECT * FROM countries ORDER BY code") == ["es Spain", "fr La France"])
    try ledger.run("UPDATE countries SET name = 'F' WHERE code = 'fr'")
    ledger.loop.run()
    #expect(france.name == "F")
    #expect(ledger.errors.texts == [])
  }

  // MARK: Rows that do not fit

  // R1: the error names table, column, row, and the expected type.
  @Test func `a value of another type is an error that names its place`() throws {
    let ledger = try guests()
    _ = try ledger.addInvoice("Ann")
    try ledger.run("INSERT INTO item VALUES (5, 'tea', 'many', 1, 1, NULL)")
    try ledger.run("INSERT INTO guest(id, code, mood) VALUES (1, 'a', 'wild')")
    try ledger.run(
      "INSERT INTO guest(id, code, mood, place) VALUES (2, 'a', 'calm', '{\"street\":1}')")
    try ledger.run("INSERT INTO guest(id, code, mood, place) VALUES (3, 'a', 'calm', 'house')")
    #expect(
      message { _ = try ledger.store.find(Item.self, 5) }
        == "table 'item', column 'quantity', row 5: a value of type 'Int' was expected, not the "
        + "text 'many'")
    #expect(
      message { _ = try ledger.store.find(Guest.self, 1) }
        == "table 'guest', column 'mood', row 1: a value of type 'Mood' was expected, not the "
        + "text 'wild'")
    let wrongJSON = message { _ = try ledger.store.find(Guest.self, 2) }
    #expect(
      wrongJSON.hasPrefix(
        "table 'guest', column 'place', row 2: JSON of 'Optional<Place>' was expected, not the "
          + "text '{\"street\":1}' (street: "))
    #expect(
      message { _ = try ledger.store.find(Guest.self, 3) }.hasPrefix(
        "table 'guest', column 'place', row 3: JSON of 'Optional<Place>' was expected, not the "
          + "text 'house' ("))
  }

  @Test func `NULL for a value is an error`() throws {
    let ledger = try Ledger(DatabaseQueue(), records: [])
    try ledger.run("DROP TABLE note")
    try ledger.run("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, invoiceID INTEGER)")
    try ledger.run("INSERT INTO note VALUES (1, NULL, NULL)")
    #expect(
      message { _ = try ledger.store.find(Note.self, 1) }
        == "table 'note', column 'text', row 1: a value of type 'String' was expected, not NULL")
  }

  // Bad input: a text that is not UTF-8.
  @Test func `a text that is not UTF-8 is an error, a replacement character is not`() throws {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO note VALUES (1, CAST(X'61FF62' AS TEXT), NULL)")
    try ledger.run("INSERT INTO note VALUES (2, 'a\u{FFFD}b', NULL)")
    #expect(
      message { _ = try ledger.store.find(Note.self, 1) }
        == "table 'note', column 'text', row 1: the text is not UTF-8")
    #expect(try ledger.store.find(Note.self, 2)?.text == "a\u{FFFD}b")
    #expect(try ledger.rows("SELECT hex(CAST(text AS BLOB)) FROM note WHERE id = 1") == ["61FF62"])
  }

  @Test func `a request that lacks a column is an error`() throws {
    let ledger = try Ledger()
    _ = try ledger.addInvoice("Ann")
    let request = SQLRequest<Invoice>(sql: "SELECT id, total FROM invoice")
    #expect(
      message { _ = try ledger.store.fetch(request) }
        == "table 'invoice', column 'customer', row 1: the request does not read this column "
        + "of 'Invoice'")
  }

  // MARK: Tables that do not fit

  // Bad input: a table that is missing.
  @Test func `a missing table is an error at the first use`() throws {
    let ledger = try Ledger()
    #expect(
      message { _ = try ledger.store.find(Guest.self, 1) }
        == "table 'guest': the database has no such table")
    #expect(message { try ledger.store.insert(Guest(code: "a", mood: .calm)) }.contains("no such"))
  }

  // R1: a class that does not match its table reports each column. Bad input: a column of another
  // type.
  @Test func `a class that does not match its table reports each column`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE guest(
        id INTEGER PRIMARY KEY, code INTEGER NOT NULL, name TEXT, mood TEXT, tags TEXT, seen TEXT,
        owner TEXT NOT NULL)
      """)
    #expect(
      message { _ = try ledger.store.find(Guest.self, 1) }
        == "table 'guest': column 'code': the table declares INTEGER, the property is of type "
        + "'String'; column 'place': 'Guest' has it, the table does not; column 'owner': it cannot "
        + "be NULL, and 'Guest' has no such property")
  }

  @Test func `another primary key, and a table without row numbers, are errors`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE countries(code TEXT, name TEXT, PRIMARY KEY (code, name))")
    #expect(
      message { _ = try ledger.store.find(Country.self, "fr") }
        == "table 'countries': the primary key is (code, name), the class has 'code'")
    try ledger.run("DROP TABLE countries")
    try ledger.run("CREATE TABLE countries(code TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID")
    #expect(
      message { _ = try ledger.store.find(Country.self, "fr") }
        == "table 'countries': a table WITHOUT ROWID cannot be observed: SQLite does not report "
        + "its changes")
  }

  // Bad input: a text that is not UTF-8.
  @Test func `JSON that is not UTF-8 is an error`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE tagged(id INTEGER PRIMARY KEY, tags TEXT NOT NULL);
      INSERT INTO tagged VALUES (1, CAST(x'5b22ff225d' AS TEXT)), (2, '["\u{FFFD}"]')
      """)
    let error = #expect(throws: RecordError.self) { try ledger.store.find(Tagged.self, 1) }
    #expect(error?.code == .notUTF8)
    #expect(error?.description == "table 'tagged', column 'tags', row 1: the text is not UTF-8")
    #expect(try ledger.store.find(Tagged.self, 2)?.tags == ["\u{FFFD}"])
  }

  // Bad input: a missing table of a class that another one leads to.
  @Test func `unusable classes leave no traces in others`() throws {
    let ledger = try Ledger(records: [])
    try ledger.run(
      """
      CREATE TABLE album(id INTEGER PRIMARY KEY);
      CREATE TABLE song(id INTEGER PRIMARY KEY, albumID INTEGER)
      """)
    _ = try ledger.store.find(Song.self, 1)
    for _ in 0..<2 {
      let error = #expect(throws: RecordError.self) { try ledger.store.find(Album.self, 1) }
      #expect(error?.code == .noTable && error?.table == "cover")
    }
    let song = Song()
    try ledger.loop.turn { try ledger.store.insert(song) }
    ledger.loop.turn { song.albumID = 3 }
    try ledger.run("CREATE TABLE cover(id INTEGER PRIMARY KEY, albumID INTEGER)")
    try ledger.run("INSERT INTO album VALUES (3), (4)")
    let albums = try ledger.store.fetch(Album.order(Column("id")))
    #expect(albums.map { $0.songs.count } == [1, 0])
    ledger.loop.turn { song.albumID = 4 }
    #expect(albums.map { $0.songs.count } == [0, 1] && ledger.errors.texts == [])
  }
}

@ObservableModel final class Tagged: ObservableRecord {
  var id: Int64?
  var tags: [String]
}

@ObservableModel final class Album: ObservableRecord {
  var id: Int64?
  @HasMany(\Song.albumID) var songs: ObservableArray<Song>
  @HasMany(\Cover.albumID) var covers: ObservableArray<Cover>
}

@ObservableModel final class Song: ObservableRecord {
  var id: Int64?
  var albumID: Int64?
}

@ObservableModel final class Cover: ObservableRecord {
  var id: Int64?
  var albumID: Int64?
}
