import Foundation
import ObservableRecords
import Testing

@ObservableModel final class Branch: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Order.branchID) var orders: ObservableArray<Order>
  @Computed("orders.@sum.total") @Stored var volume: Int
  private func makeVolume() -> Int { orders.reduce(0) { $0 + $1.total } }
}

@ObservableModel final class Order: ObservableRecord {
  var id: Int64?
  var customer: String
  var branchID: Int64?
  @BelongsTo(\Order.branchID) var branch: Branch?
  @HasMany(\Line.orderID) var lines: ObservableArray<Line>
  @Computed("lines.@sum.amount") @Stored var total: Int
  private func makeTotal() -> Int { lines.reduce(0) { $0 + $1.amount } }
}

@ObservableModel final class Line: ObservableRecord {
  var id: Int64?
  var amount: Int
  var orderID: Int64 = 0
  var tagID: Int64?
  @BelongsTo(\Line.orderID) var order: Order?
  @BelongsTo(\Line.tagID) var tag: Tag?
}

@ObservableModel final class Tag: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Line.tagID) var lines: ObservableArray<Line>
  @Computed("lines.count") @Stored var uses: Int
  private func makeUses() -> Int { lines.count }
}

/// Random programs that combine all features, compared with dictionaries of rows.
///
/// A text that never changes names each row, as keys are not known before a save.
struct MixedTests {
  private struct Rows: Equatable {
    struct OrderRow: Equatable { var customer: String; var branch: Int64? }
    struct LineRow: Equatable { var amount: Int; var order: Int64; var tag: Int64? }
    var branches: [Int64: String] = [:]
    var orders: [Int64: OrderRow] = [:]
    var lines: [Int64: LineRow] = [:]
    var tags: [Int64: String] = [:]

    func total(_ order: Int64) -> Int {
      lines.values.filter { $0.order == order }.reduce(0) { $0 + $1.amount }
    }
    func volume(_ branch: Int64) -> Int {
      orders.filter { $0.value.branch == branch }.keys.reduce(0) { $0 + total($1) }
    }
    func uses(_ tag: Int64) -> Int { lines.values.count { $0.tag == tag } }

    mutating func delete(order: Int64) {
      orders[order] = nil
      lines = lines.filter { $0.value.order != order }
    }
    mutating func delete(branch: Int64) {
      branches[branch] = nil
      for id in orders.keys where orders[id]?.branch == branch { orders[id]?.branch = nil }
    }
    /// Gives a tag a name, and deletes another tag with this name.
    mutating func name(tag: Int64, _ name: String) {
      for (id, other) in tags where other == name && id != tag { delete(tag: id) }
      tags[tag] = name
    }
    mutating func delete(tag: Int64) {
      tags[tag] = nil
      for id in lines.keys where lines[id]?.tag == tag { lines[id]?.tag = nil }
    }

    var texts: [String] {
      branches.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) \(volume($0.key))" }
        + orders.sorted { $0.key < $1.key }.map { id, order in
          "\(id) \(order.customer) \(order.branch.map { "\($0)" } ?? "-") \(total(id))"
        }
        + lines.sorted { $0.key < $1.key }.map {
          "\($0.key) \($0.value.amount) \($0.value.order) \($0.value.tag.map { "\($0)" } ?? "-")"
        }
        + tags.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) \(uses($0.key))" }
    }
  }

  private static let tables = """
    CREATE TABLE branch(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, volume INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE "order"(
      id INTEGER PRIMARY KEY, customer TEXT NOT NULL,
      branchID INTEGER REFERENCES branch(id) ON DELETE SET NULL,
      total INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE tag(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT REPLACE,
      uses INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE line(
      id INTEGER PRIMARY KEY, amount INTEGER NOT NULL CHECK(amount >= 0),
      orderID INTEGER NOT NULL REFERENCES "order"(id) ON DELETE CASCADE,
      tagID INTEGER REFERENCES tag(id) ON DELETE SET NULL);
    """

  /// Writes like another program that knows the stored properties, in one transaction.
  private static let totals = """
    UPDATE "order" SET total = (
      SELECT COALESCE(SUM(amount), 0) FROM line WHERE orderID = "order".id);
    UPDATE branch SET volume = (
      SELECT COALESCE(SUM(total), 0) FROM "order" WHERE branchID = branch.id);
    UPDATE tag SET uses = (SELECT COUNT(*) FROM line WHERE tagID = tag.id);
    """

  private static var seeds: Range<Int> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["OBS_SEED"].flatMap(Int.init) ?? 0
    return first..<(first + (environment["OBS_SEEDS"].flatMap(Int.init) ?? 30))
  }

  @Test(arguments: seeds)
  func `objects, lists, queries and the database agree with the program`(
    _ seed: Int
  ) throws {
    var random = Generator(state: UInt64(seed))
    let saving = [RecordStore.Saving.synchronous, .asynchronous, .explicit][seed % 3]
    let folder = Folder()
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    let database: any DatabaseWriter =
      seed % 2 == 0
      ? try DatabasePool(path: folder.file, configuration: configuration)
      : try DatabaseQueue(path: folder.file, configuration: configuration)
    let foreign = try DatabaseQueue(path: folder.file, configuration: configuration)
    try database.write { try $0.execute(sql: MixedTests.tables) }
    let loop = Loop(clock: .virtual)
    let store = try RecordStore(
      database, loop: loop, records: [Branch.self, Order.self, Line.self, Tag.self],
      saving: saving)
    let errors = Ledger.Log()
    store.onError = { errors.texts.append("\($0)") }
    loop.onError = { errors.texts.append("\($0)") }
    var rows = Rows()
    var held: [any ObservableRecord] = []
    var watchers: [Watcher] = []
    var steps: [String] = []

    var low = 1
    var large = try store.query(
      Order.filter(Column("total") >= low).order(Column("total").desc, Column("id")))
    let pages = try store.pages(of: Line.order(Column("amount"), Column("id")), size: 4)
    let all = try store.query(Tag.order(Column("name"), Column("id")))
    // A list that is built from edits alone.
    var mirror = large.elements
    var mirrorWatcher: Watcher?
    func follow() throws {
      mirrorWatcher?.stop()
      mirror = large.elements
      mirrorWatcher = try large.observeEdits(in: loop) { _, edits in
        edits.apply(to: &mirror)
      }
    }
    try follow()

    func look() {
      for _ in 0..<2 {
        store.lookForChanges()
        database.writeWithoutTransaction { _ in }
        loop.run()
      }
    }
    func settle() throws {
      if saving == .explicit { try store.save() }
      loop.run()
      look()
      if saving == .explicit { try store.save() }
      loop.run()
    }
    func keep(_ object: any ObservableRecord) {
      if Int.random(in: 0..<3, using: &random) == 0 { held.append(object) }
    }
    func order(_ id: Int64) throws -> Order {
      guard let found = try store.find(Order.self, id) else {
        Issue.record("no order \(id): \(steps)")
        throw Ledger.Missing()
      }
      keep(found)
      return found
    }
    func line(_ id: Int64) throws -> Line {
      guard let found = try store.find(Line.self, id) else {
        Issue.record("no line \(id): \(steps)")
        throw Ledger.Missing()
      }
      keep(found)
      return found
    }
    func pick(_ keys: some Collection<Int64>) -> Int64? {
      keys.sorted().randomElement(using: &random)
    }

    for step in 0..<40 {
      var added: [(object: any ObservableRecord, enter: (Int64, inout Rows) -> Void)] = []
      var moving: Set<Int64> = []
      // Orders whose lists the program has changed, and whether it has renamed tags: the result of
      // two such changes depends on their order.
      var edited: Set<Int64> = []
      var hasRenamed = false
      steps = ["seed \(seed), step \(step)"]
      /// Applies a change of the turn to rows, both here and in the reference.
      func change(_ rows: inout Rows) throws {
        switch Int.random(in: 0..<17, using: &random) {
        case 0:
          let branch = Branch(name: "b\(step)")
          try store.insert(branch)
          added.append((branch, { $1.branches[$0] = "b\(step)" }))
        case 1:
          let (new, parent) = (Order(customer: "c\(step)"), pick(rows.branches.keys))
          if let parent { new.branch = try store.find(Branch.self, parent) }
          try store.insert(new)
          let first = Line(amount: step)
          if Bool.random(using: &random) {
            new.lines.append(first)
            added.append((new, { $1.orders[$0] = .init(customer: "c\(step)", branch: parent) }))
            added.append(
              (
                first,
                { id, rows in rows.lines[id] = .init(amount: step, order: new.id!, tag: nil) }
              )
            )
          } else {
            added.append((new, { $1.orders[$0] = .init(customer: "c\(step)", branch: parent) }))
          }
          steps.append("new order")
        case 2, 3:
          guard let id = pick(rows.orders.keys) else { return }
          let (new, amount) = (Line(amount: step), step)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: try order(id).lines.append(new)
          case 1:
            // A list holds each row once, and a row is in one list.
            if let other = pick(rows.orders.keys), !edited.contains(id), !edited.contains(other) {
              try order(other).lines.append(contentsOf: [new, new])
              edited.insert(other)
            }
            try order(id).lines.append(new)
            try order(id).lines.insert(new, at: 0)
          default:
            new.orderID = id
            try store.insert(new)
          }
          edited.insert(id)
          added.append((new, { $1.lines[$0] = .init(amount: amount, order: id, tag: nil) }))
          steps.append("new line of \(id)")
        case 4, 5:
          guard let id = pick(rows.lines.keys) else { return }
          let amount = Int.random(in: 0..<20, using: &random)
          try line(id).amount = amount
          rows.lines[id]?.amount = amount
          steps.append("line \(id) amount \(amount)")
        case 6, 7:
          guard let id = pick(rows.lines.keys), let other = pick(rows.orders.keys) else { return }
          guard !moving.contains(id) else { return }
          let moved = try line(id)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: moved.orderID = other
          case 1: moved.order = try order(other)
          default:
            // The effect of its next move depends on when the list is read.
            let list = try order(other).lines
            list.append(moved)
            moving.insert(id)
            edited.insert(other)
          }
          rows.lines[id]?.order = other
          steps.append("line \(id) to order \(other)")
        case 8:
          guard let id = pick(rows.orders.keys) else { return }
          let other = Bool.random(using: &random) ? pick(rows.branches.keys) : nil
          try order(id).branch = try other.flatMap { try store.find(Branch.self, $0) }
          rows.orders[id]?.branch = other
          steps.append("order \(id) to branch \(other ?? 0)")
        case 9:
          guard let id = pick(rows.lines.keys) else { return }
          if Bool.random(using: &random), let known = pick(rows.tags.keys) {
            try line(id).tag = try store.find(Tag.self, known)
            rows.lines[id]?.tag = known
          } else {
            if hasRenamed { return }
            let name = "t\(step % 5).\(added.count)"
            let tag = Tag(name: name)
            let number = Int64(-1 - added.count)
            try line(id).tag = tag
            added.append(
              (
                tag,
                { key, rows in
                  // The key may belong to the tag that it replaces.
                  for (id, other) in rows.tags where other == name { rows.delete(tag: id) }
                  rows.tags[key] = name
                  if rows.lines[id]?.tag == number { rows.lines[id]?.tag = key }
                }
              ))
            rows.lines[id]?.tag = number
          }
          steps.append("line \(id) tagged \(rows.lines[id]?.tag ?? 0)")
        case 10:
          guard let id = pick(rows.lines.keys) else { return }
          if Bool.random(using: &random) {
            store.delete(try line(id))
          } else {
            guard !moving.contains(id) else { return }
            let gone = try line(id)
            try order(rows.lines[id]!.order).lines.removeValue(gone)
            edited.insert(rows.lines[id]!.order)
          }
          rows.lines[id] = nil
          steps.append("line \(id) deleted")
        case 11:
          guard let id = pick(rows.orders.keys),
            !added.contains(where: { $0.object is Line || $0.object is Tag })
          else { return }
          store.delete(try order(id))
          rows.delete(order: id)
          steps.append("order \(id) deleted")
        case 12:
          guard let id = pick(rows.branches.keys),
            !added.contains(where: { ($0.object as? Order) != nil })
          else { return }
          store.delete(try #require(try store.find(Branch.self, id)))
          rows.delete(branch: id)
          steps.append("branch \(id) deleted")
        case 13:
          guard let id = pick(rows.tags.keys), !hasRenamed else { return }
          store.delete(try #require(try store.find(Tag.self, id)))
          rows.delete(tag: id)
          steps.append("tag \(id) deleted")
        case 14, 15:
          guard let a = pick(rows.tags.keys), let b = pick(rows.tags.keys), a != b, !hasRenamed,
            !added.contains(where: { $0.object is Tag })
          else { return }
          hasRenamed = true
          let (first, second) = (
            try #require(try store.find(Tag.self, a)), try #require(try store.find(Tag.self, b))
          )
          held += [first, second]
          let names = (first.name, second.name)
          first.name = names.1
          if Bool.random(using: &random) {
            second.name = names.0
            (rows.tags[a], rows.tags[b]) = (names.1, names.0)
          } else {
            rows.name(tag: a, names.1)
          }
          steps.append("tag \(a) named as \(b)")
        default:
          guard let id = pick(rows.orders.keys) else { return }
          let found = try order(id)
          if Bool.random(using: &random) {
            found.customer = "n\(step)"
            rows.orders[id]?.customer = "n\(step)"
          }
          if let watcher = try? found.observe("lines.*.tag.name", in: loop, { _ in }) {
            watchers.append(watcher)
          }
        }
      }

      let kind = Int.random(in: 0..<12, using: &random)
      // New rows get their keys before others are made.
      try loop.turn {
        let count = Int.random(in: 1...3, using: &random)
        switch kind {
        case 0:
          // A reverted change never happened.
          if saving == .explicit || saving == .synchronous { try store.save() }
          loop.run()
          var lost = rows
          store.revert()
          try store.pauseSaving {
            for _ in 0..<count { try change(&lost) }
            store.revert()
          }
          added = []
          steps.append("reverted")
        case 1:
          // A save that fails, and is corrected.
          if let id = pick(rows.lines.keys) {
            let bad = try line(id)
            bad.amount = -1
            for _ in 0..<count { try change(&rows) }
            if rows.lines[id] != nil, bad.amount == -1 {
              #expect(throws: SaveError.self, "\(steps)") { try store.save() }
            }
            if let row = rows.lines[id] { bad.amount = row.amount }
            try store.save()
            errors.texts = []
          }
          steps.append("failed")
        case 2:
          // A transaction that is rolled back.
          var lost = rows
          struct Stop: Error {}
          #expect(throws: Stop.self) {
            try store.transaction {
              for _ in 0..<count { try change(&lost) }
              throw Stop()
            }
          }
          added = []
          steps.append("transaction")
        case 3:
          try store.transaction { for _ in 0..<count { try change(&rows) } }
        default:
          for _ in 0..<count { try change(&rows) }
        }
      }
      if kind == 4 { loop.turn { _ = held.popLast() } }
      if Int.random(in: 0..<4, using: &random) == 0 { held = [] }
      if Int.random(in: 0..<4, using: &random) == 0 {
        for watcher in watchers { watcher.stop() }
        watchers = []
      }
      if saving == .explicit, !added.isEmpty { try store.save() }
      if !added.isEmpty || Bool.random(using: &random) { loop.run() }
      for (object, enter) in added where !object.isDeleted {
        let key: Int64? =
          switch object {
          case let object as Branch: object.id
          case let object as Order: object.id
          case let object as Line: object.id
          case let object as Tag: object.id
          default: nil
          }
        enter(try #require(key, "\(steps) \(errors.texts)"), &rows)
      }
      for (id, line) in rows.lines where (line.tag ?? 0) < 0 { rows.lines[id]?.tag = nil }

      // Others write, while changes of the last turn may still be in transit.
      if kind >= 9 {
        loop.run()
        if saving == .explicit { try store.save() }
        let writer: any DatabaseWriter = kind == 9 ? database : foreign
        try writer.write { db in
          if let id = pick(rows.lines.keys) {
            let amount = Int.random(in: 0..<20, using: &random)
            try db.execute(
              sql: "UPDATE line SET amount = ? WHERE id = ?", arguments: [amount, id])
            rows.lines[id]?.amount = amount
          }
          if let id = pick(rows.orders.keys) {
            try db.execute(
              sql: "INSERT INTO line(amount, orderID) VALUES (3, ?)", arguments: [id])
            rows.lines[db.lastInsertedRowID] = .init(amount: 3, order: id, tag: nil)
          }
          if kind == 11, rows.lines.count > 6, let id = pick(rows.lines.keys) {
            try db.execute(sql: "DELETE FROM line WHERE id = ?", arguments: [id])
            rows.lines[id] = nil
          }
          if let id = pick(rows.tags.keys), let name = rows.tags[id] {
            let sql = [
              "INSERT OR REPLACE INTO tag(name) VALUES (?)", "INSERT INTO tag(name) VALUES (?)",
              "INSERT INTO tag(name) VALUES (?) ON CONFLICT(name) DO UPDATE SET uses = -1",
            ].randomElement(using: &random)!
            try db.execute(sql: sql, arguments: [name])
            let isUpsert = sql.contains("DO UPDATE")
            if !isUpsert { rows.name(tag: db.lastInsertedRowID, name) }
          }
          try db.execute(sql: MixedTests.totals)
        }
        steps.append("others wrote")
        // Another local change on top, before the store knows of the other writes.
        if let id = pick(rows.lines.keys), let mine = try store.find(Line.self, id) {
          loop.turn { mine.amount += 1 }
          rows.lines[id]?.amount = mine.amount
          held.append(mine)
        }
      }
      try settle()

      #expect(errors.texts == [], "\(steps)")
      #expect(!store.hasUnsavedChanges, "\(steps)")
      let found = try foreign.read { db in
        try [
          "SELECT id, name, volume FROM branch ORDER BY id",
          "SELECT id, customer, branchID, total FROM \"order\" ORDER BY id",
          "SELECT id, amount, orderID, tagID FROM line ORDER BY id",
          "SELECT id, name, uses FROM tag ORDER BY id",
        ].flatMap { sql in
          try Row.fetchAll(db, sql: sql).map { row in
            row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value ?? "")" }
              .joined(separator: " ")
          }
        }
      }
      try #require(found == rows.texts, "\(steps)")
      for object in held where !object.isDeleted {
        switch object {
        case let order as Order:
          let id = try #require(order.id)
          #expect(order.total == rows.total(id), "\(steps)")
          #expect(
            Set(order.lines.compactMap(\.id))
              == Set(rows.lines.filter { $0.value.order == id }.keys), "\(steps)")
          #expect(order.branch?.id == rows.orders[id]?.branch, "\(steps)")
          #expect(order.customer == rows.orders[id]?.customer, "\(steps)")
        case let line as Line:
          let id = try #require(line.id)
          let row = try #require(rows.lines[id], "line \(id) \(steps)")
          #expect(line.amount == row.amount && line.orderID == row.order, "\(steps)")
          #expect(line.order?.id == row.order && line.tag?.id == row.tag, "\(steps)")
          #expect(line.tag?.name == row.tag.flatMap { rows.tags[$0] }, "\(steps)")
        default: break
        }
      }
      let expected = rows.orders.keys.filter { rows.total($0) >= low }
        .sorted { (-rows.total($0), $0) < (-rows.total($1), $1) }
      #expect(large.map(\.id) == expected, "\(steps)")
      #expect(mirror.elementsEqual(large.elements, by: ===), "\(steps)")
      #expect(
        all.map(\.id) == rows.tags.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key))
      let sorted = rows.lines.sorted { ($0.value.amount, $0.key) < ($1.value.amount, $1.key) }
      let page = pages.page
      #expect(
        pages.rows.map(\.id)
          == sorted.dropFirst(page * 4).prefix(4).map(\.key), "\(steps)")
      if Int.random(in: 0..<5, using: &random) == 0 {
        try pages.show(Int.random(in: 0..<4, using: &random))
        low = Int.random(in: 1..<20, using: &random)
        large = try store.query(
          Order.filter(Column("total") >= low).order(Column("total").desc, Column("id")))
        try follow()
      }
    }
    // A new store sees the same.
    try store.close()
    let other = try RecordStore(foreign, loop: loop, records: [Branch.self], pollInterval: nil)
    for branch in try other.fetch(Branch.all()) {
      #expect(branch.volume == rows.volume(try #require(branch.id)))
    }
  }
}
