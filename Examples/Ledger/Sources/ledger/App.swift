import Foundation
import LuaObservables
import LuaRecords
import ObservableRecords

/// One window on the file: the unpaid invoices, and a script that observes them.
final class App {
  private let store: RecordStore
  private let host: LuaHost
  private let open: ObservableArray<Invoice>

  init(_ file: String, script: String, loop: Loop) throws {
    var configuration = Configuration()
    // The other window may be writing.
    configuration.busyMode = .timeout(5)
    let database = try DatabasePool(path: file, configuration: configuration)
    try migrate(database)
    store = try RecordStore(
      database, loop: loop, records: [Invoice.self], saving: .synchronous, pollInterval: 0.2)
    store.onError = { print("  \($0)") }
    host = try LuaHost(loop: loop)
    host.onError = { print("  script: \($0.error.message)") }
    open = try store.query(
      Invoice.filter(Column("isPaid") == false).order(Column("total").desc, Column("id")))
    let records = try ScriptRecords(
      store, for: host,
      [ScriptRecord(Invoice.self, [.query, .write]), ScriptRecord(Item.self, .query)])
    try host.set("store", to: records)
    let text = try String(contentsOfFile: script, encoding: .utf8)
    try host.run(text, name: "=" + URL(filePath: script).lastPathComponent)
    // Changes by the other window arrive here, too.
    try open.observe("*", "*.*", "items.*", in: loop) { [unowned self] _ in draw() }
    draw()
  }

  private func draw() {
    for invoice in open {
      print("  \(invoice.id ?? 0) \(invoice.customer): \(invoice.total)")
      for item in invoice.items { print("      \(item.quantity) × \(item.product)") }
    }
    // The output may be a pipe.
    fflush(nil)
  }

  /// Performs a command line.
  func perform(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    do {
      switch (words.first, words.count) {
      case ("new", 2): try store.insert(Invoice(customer: words[1]))
      case ("add", 5):
        guard let quantity = Int(words[2]), let price = Double(words[4]), price.isFinite else {
          return print("  add INVOICE QUANTITY PRODUCT PRICE")
        }
        try invoice(words[1])?.items.append(
          Item(product: words[3], quantity: quantity, price: price))
      case ("paid", 2): try invoice(words[1])?.isPaid = true
      case ("drop", 2): if let invoice = try invoice(words[1]) { store.delete(invoice) }
      default: print("  new CUSTOMER | add INVOICE QUANTITY PRODUCT PRICE | paid ID | drop ID")
      }
    } catch {
      print("  \(error)")
    }
  }

  private func invoice(_ text: String) throws -> Invoice? {
    let invoice = try Int64(text).flatMap { try store.find(Invoice.self, $0) }
    if invoice == nil { print("  there is no invoice \(text)") }
    return invoice
  }
}
