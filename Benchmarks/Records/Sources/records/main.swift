import Foundation
import ObservableRecords

@ObservableModel final class Item: ObservableRecord {
  var id: Int64?
  var product: String
  var quantity: Int
  var price: Double
  var invoiceID: Int64
}

/// The same rows as a GRDB record class.
class PlainItem: Record {
  var id: Int64?
  var product: String
  var quantity: Int
  var price: Double
  var invoiceID: Int64

  override class var databaseTableName: String { "item" }

  required init(row: Row) throws {
    id = row["id"]
    product = row["product"]
    quantity = row["quantity"]
    price = row["price"]
    invoiceID = row["invoiceID"]
    try super.init(row: row)
  }

  override func encode(to container: inout PersistenceContainer) throws {
    container["id"] = id
    container["product"] = product
    container["quantity"] = quantity
    container["price"] = price
    container["invoiceID"] = invoiceID
  }
}

/// The same rows as a plain class that reads columns by name.
final class NamedItem: FetchableRecord, TableRecord {
  static let databaseTableName = "item"
  var id: Int64?
  var product: String
  var quantity: Int
  var price: Double
  var invoiceID: Int64

  init(row: Row) throws {
    id = row["id"]
    product = row["product"]
    quantity = row["quantity"]
    price = row["price"]
    invoiceID = row["invoiceID"]
  }
}

let folder = NSTemporaryDirectory() + "records-\(ProcessInfo.processInfo.processIdentifier)"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
// The time of the disk is excluded.
var configuration = Configuration()
configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
let database = try DatabaseQueue(path: folder + "/items.sqlite", configuration: configuration)
let loop = Loop()

try database.write { db in
  try db.execute(
    sql: """
      CREATE TABLE item(
        id INTEGER PRIMARY KEY, product TEXT NOT NULL, quantity INTEGER NOT NULL,
        price DOUBLE NOT NULL, invoiceID INTEGER NOT NULL)
      """)
  for number in 0..<100_000 {
    try db.execute(
      sql: "INSERT INTO item(product, quantity, price, invoiceID) VALUES (?, ?, ?, ?)",
      arguments: ["product number \(number)", number % 50, Double(number) / 8, number / 10])
  }
}

/// The median time, in milliseconds.
func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] * 1000 }

func median(_ rounds: Int = 15, _ body: () throws -> Double) rethrows -> Double {
  median(try (0..<rounds).map { _ in try body() })
}

/// The medians of two operations that alternate, as the load of the machine may vary.
func medians(
  _ rounds: Int = 15, _ own: () throws -> Double, _ other: () throws -> Double
) rethrows -> (own: Double, other: Double) {
  var (ownTimes, otherTimes): ([Double], [Double]) = ([], [])
  for _ in 0..<rounds {
    otherTimes.append(try other())
    ownTimes.append(try own())
  }
  return (median(ownTimes), median(otherTimes))
}

func time(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}

func report(_ what: String, _ own: Double, _ other: Double, _ name: String, limit: Double) {
  let ratio = own / other
  let texts = [own, other, ratio].map { String(format: "%.2f", $0) }
  print("\(what): \(texts[0]) ms, \(name) \(texts[1]) ms: \(texts[2]) ×, at most \(limit)")
}

/// The memory of the process in bytes, without the pages of the program and its libraries.
func memory() -> Int {
  let text = try! String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  let pages = text.split(separator: " ").compactMap { Int($0) }
  return (pages[1] - pages[2]) * 4096
}

/// The selected parts of this program; all by default.
let parts = Set(CommandLine.arguments.dropFirst())
func runs(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }

// MARK: Memory of live objects, measured first, as other parts leave free memory

if runs("memory") {
  let store = try RecordStore(database, loop: loop, pollInterval: nil)
  let before = memory()
  let rows = try store.fetch(Item.all())
  let own = (memory() - before) / rows.count
  let middle = memory()
  let plainRows = try database.read { try NamedItem.fetchAll($0) }
  let plain = (memory() - middle) / plainRows.count
  withExtendedLifetime(rows) {}
  print("memory of a live object: \(own) bytes, a plain one \(plain) bytes; at most 300")
}

// MARK: 100,000 rows fetched

@MainActor func fetchNamed() throws -> Double {
  var rows: [NamedItem] = []
  let seconds = try time { rows = try database.read { try NamedItem.fetchAll($0) } }
  precondition(rows.count == 100_000)
  return seconds
}

@MainActor func fetchOwn() throws -> Double {
  let store = try RecordStore(database, loop: loop, saving: .synchronous, pollInterval: nil)
  _ = try store.find(Item.self, 1)
  var rows: [Item] = []
  let seconds = try time { rows = try store.fetch(Item.all()) }
  precondition(rows.count == 100_000)
  return seconds
}

if runs("fetch") {
  let fetches = try medians {
    try fetchOwn()
  } _: {
    try fetchNamed()
  }
  report(
    "100,000 rows fetched", fetches.own, fetches.other, "a plain class by name", limit: 1.5)
}

// MARK: 10,000 rows changed and saved in one turn

if runs("save") {
  let saves = try medians {
    let store = try RecordStore(database, loop: loop, saving: .synchronous, pollInterval: nil)
    store.onError = { fatalError("\($0)") }
    let rows = try store.fetch(Item.limit(10_000))
    defer { precondition(!store.hasUnsavedChanges) }
    return time { loop.turn { for row in rows { row.quantity += 1 } } }
  } _: {
    let rows = try database.read { try PlainItem.limit(10_000).fetchAll($0) }
    return try time {
      try database.write { db in
        for row in rows {
          row.quantity += 1
          try row.updateChanges(db)
        }
      }
    }
  }
  report("10,000 rows changed and saved", saves.own, saves.other, "updateChanges", limit: 1.3)
}

// MARK: One change by another user in a live query of 10,000

let request = Item.filter(Column("id") <= 10_000).order(Column("product"))
let plainRequest = PlainItem.filter(Column("id") <= 10_000).order(Column("product"))

func change(_ number: Int) throws {
  try database.write {
    try $0.execute(
      sql: "UPDATE item SET product = ? WHERE id = ?",
      arguments: ["product number x\(number)", 1 + number * 13 % 10_000])
  }
}

final class Seen: @unchecked Sendable {
  // One thread at a time uses it, as the semaphore ensures.
  var count = 0
  var rows: [PlainItem] = []
  let signal = DispatchSemaphore(value: 0)
}
struct Handed: @unchecked Sendable {
  let value: [PlainItem]
  init(_ value: [PlainItem]) { self.value = value }
}

extension PlainItem {
  static func all(
    _ request: QueryInterfaceRequest<PlainItem>, _ db: Database
  ) throws -> [PlainItem] { try request.fetchAll(db) }
}

@MainActor func measureLive() throws {
  var changes = 0
  let plainLive = try {
    let seen = Seen()
    let queue = DispatchQueue(label: "observation")
    let observation = ValueObservation.tracking { try Handed(PlainItem.all(plainRequest, $0)) }
    let cancellable = observation.start(in: database, scheduling: .async(onQueue: queue)) { error in
      fatalError("\(error)")
    } onChange: { rows in
      let difference = rows.value.difference(from: seen.rows) {
        $0.id == $1.id && $0.product == $1.product
      }
      seen.rows = rows.value
      seen.count += difference.count
      seen.signal.signal()
    }
    seen.signal.wait()
    defer { cancellable.cancel() }
    return try median {
      changes += 1
      let (number, before) = (changes, seen.count)
      let seconds = try time {
        try change(number)
        seen.signal.wait()
      }
      precondition(seen.count > before)
      return seconds
    }
  }()
  let ownLive = try {
    let store = try RecordStore(database, loop: loop, pollInterval: nil)
    let list = try store.query(request)
    var count = 0
    try list.observeEdits(in: loop) { _, edits in
      count += edits.count
      loop.stop()
    }
    return try median {
      changes += 1
      let (number, before) = (changes, count)
      let seconds = try time {
        try change(number)
        loop.retain()
        loop.run()
        loop.release()
      }
      precondition(count > before)
      return seconds
    }
  }()
  report("one change in a query of 10,000", ownLive, plainLive, "ValueObservation", limit: 1)
}
if runs("live") { try measureLive() }

try FileManager.default.removeItem(atPath: folder)
