import Foundation
import ObservableRecords
import Testing

/// Random programs, beside a naive reference: dictionaries of rows.
struct RandomTests {
  private struct Line: Equatable {
    var product: String
    var quantity: Int
    var price: Double
    var invoice: Int64
  }

  private struct Reference: Equatable {
    var invoices: [Int64: String] = [:]
    var lines: [Int64: Line] = [:]

    func total(_ invoice: Int64) -> Double {
      lines.sorted { $0.key < $1.key }.map(\.value).filter { $0.invoice == invoice }
        .reduce(0) { $0 + Double($1.quantity) * $1.price }
    }

    /// The rows of both tables as texts.
    var rows: [String] {
      invoices.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value) \(total($0.key))" }
        + lines.sorted { $0.key < $1.key }.map { id, line in
          "\(id) \(line.product) \(line.quantity) \(line.price) \(line.invoice)"
        }
    }
  }

  // R1 to R5: after any program, the database, the lists and the queries agree.
  @Test(arguments: 0..<24, [RecordStore.Saving.synchronous, .asynchronous])
  func `the database contains the results of the program`(
    _ seed: Int, _ saving: RecordStore.Saving
  ) throws {
    var random = Generator(state: UInt64(seed) &* 977 &+ 13)
    let folder = Folder()
    let isFile = seed % 3 == 0
    let database: any DatabaseWriter =
      try isFile ? DatabasePool(path: folder.file) : DatabaseQueue()
    let ledger = try Ledger(database, saving: saving)
    var reference = Reference()
    let dear = try ledger.store.query(
      Invoice.filter(Column("total") > 20).order(Column("total"), Column("id")))
    // Some objects are held across turns, others are fetched again.
    var held: [AnyObject] = []
    func invoice(_ id: Int64) throws -> Invoice {
      let invoice = try ledger.invoice(id)
      if Bool.random(using: &random) { held.append(invoice) }
      return invoice
    }

    for step in 0..<60 {
      var added: [(object: any ObservableRecord, enter: (Int64, inout Reference) -> Void)] = []
      try ledger.loop.turn {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let ids = reference.invoices.keys.sorted()
          let lines = reference.lines.keys.sorted()
          switch Int.random(in: 0..<9, using: &random) {
          case 0:
            let new = Invoice(customer: "c\(step)")
            try ledger.store.insert(new)
            added.append((new, { $1.invoices[$0] = "c\(step)" }))
          case 1, 2:
            guard let id = ids.randomElement(using: &random) else { continue }
            let line = Line(
              product: "p\(step)", quantity: Int.random(in: 0...5, using: &random),
              price: Double(Int.random(in: 0...8, using: &random)), invoice: id)
            let item = Item(line.product, line.quantity, line.price)
            try invoice(id).items.append(item)
            added.append((item, { $1.lines[$0] = line }))
          case 3:
            guard let id = lines.randomElement(using: &random) else { continue }
            let item = try #require(try ledger.store.find(Item.self, id))
            item.quantity = Int.random(in: 0...5, using: &random)
            reference.lines[id]!.quantity = item.quantity
          case 4:
            guard let id = lines.randomElement(using: &random),
              let other = ids.randomElement(using: &random)
            else { continue }
            let item = try #require(try ledger.store.find(Item.self, id))
            if Bool.random(using: &random) {
              item.invoiceID = other
            } else {
              item.invoice = try invoice(other)
            }
            reference.lines[id]!.invoice = other
          case 5:
            guard let id = lines.randomElement(using: &random) else { continue }
            ledger.store.delete(try #require(try ledger.store.find(Item.self, id)))
            reference.lines[id] = nil
          case 6:
            guard let id = ids.randomElement(using: &random) else { continue }
            let list = try invoice(id).items
            guard let item = list.elements.first(where: { $0.id != nil }) else { continue }
            list.removeValue(item)
            reference.lines[item.id!] = nil
          case 7:
            guard let id = ids.randomElement(using: &random) else { continue }
            try invoice(id).customer = "n\(step)"
            reference.invoices[id] = "n\(step)"
          default:
            _ = held.popLast()
          }
        }
      }
      if saving == .synchronous || step % 3 == 0 || !added.isEmpty { ledger.loop.run() }
      for (object, enter) in added {
        let id = (object as? Invoice)?.id ?? (object as? Item)?.id
        let key = try #require(id, "step \(step): \(ledger.errors.texts)")
        enter(key, &reference)
      }
      if step % 5 == 4 {
        ledger.loop.run()
        try ledger.run("UPDATE item SET price = price + 1 WHERE id % 4 = \(step % 4)")
        for id in reference.lines.keys where id % 4 == Int64(step % 4) {
          reference.lines[id]!.price += 1
        }
        ledger.loop.run()
        // The other writer does not update totals.
        try ledger.store.refreshStored(Invoice.self)
        ledger.loop.run()
      }
    }
    ledger.loop.run()
    #expect(ledger.errors.texts == [])
    #expect(
      try ledger.rows("SELECT id, customer, total FROM invoice ORDER BY id")
        + ledger.rows("SELECT id, product, quantity, price, invoiceID FROM item ORDER BY id")
        == reference.rows)
    for id in reference.invoices.keys {
      let invoice = try ledger.invoice(id)
      #expect(invoice.total == reference.total(id))
      #expect(
        Set(invoice.items.compactMap(\.id))
          == Set(reference.lines.filter { $0.value.invoice == id }.keys))
    }
    let expected = reference.invoices.keys.filter { reference.total($0) > 20 }
      .sorted { (reference.total($0), $0) < (reference.total($1), $1) }
    #expect(dear.map(\.id) == expected)
  }
}
