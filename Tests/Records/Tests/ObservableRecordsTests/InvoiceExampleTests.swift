import ObservableRecords
import Testing

/// The members that the example of derived properties uses, in memory and in a database.
protocol ExampleItem: ObservableModel {
  var quantity: Int { get set }
  var price: Double { get set }
  var total: Double { get }
}

protocol ExampleInvoice: ObservableModel {
  associatedtype Line: ExampleItem
  var customer: String { get set }
  var items: ObservableArray<Line> { get }
  var total: Double { get }
}

@ObservableModel final class MemoryItem: ExampleItem {
  var product: String
  var quantity: Int
  var price: Double
  @Computed("quantity", "price") private(set) var total: Double
  private func makeTotal() -> Double { Double(quantity) * price }

  init(_ product: String, _ quantity: Int, _ price: Double) {
    (self.product, self.quantity, self.price) = (product, quantity, price)
  }
}

@ObservableModel final class MemoryInvoice: ExampleInvoice {
  var customer: String
  let items = ObservableArray<MemoryItem>()
  @Computed("items.@sum.total") private(set) var total: Double
  private func makeTotal() -> Double { items.reduce(0) { $0 + $1.total } }

  init(_ customer: String) { self.customer = customer }
}

extension Item: ExampleItem {}
extension Invoice: ExampleInvoice {}

/// Derived properties and to-many dependencies: first in memory, then on the rows of a database.
struct InvoiceExampleTests {
  /// The same assertions for both.
  private func check<Bill: ExampleInvoice>(
    _ invoice: Bill, _ loop: Loop, _ make: (String, Int, Double) -> Bill.Line
  ) throws {
    var totals: [Double] = []
    try invoice.observe("total", in: loop) { totals.append($0.total) }
    let tea = make("tea", 2, 1.5)
    loop.turn {
      invoice.items.append(tea)
      invoice.items.append(make("honey", 1, 4))
    }
    #expect(totals == [7] && invoice.total == 7)
    loop.turn { tea.quantity = 4 }
    #expect(tea.total == 6 && totals == [7, 10])
    loop.turn {
      tea.quantity = 2
      tea.price = 3
    }
    #expect(totals == [7, 10] && invoice.total == 10)
    loop.turn { invoice.items[1].price = 5 }
    #expect(totals == [7, 10, 11])
    loop.turn { _ = invoice.items.remove(at: 0) }
    #expect(totals == [7, 10, 11, 5])
    loop.turn { invoice.customer = "Eve" }
    #expect(totals.count == 4)
  }

  @Test func `in memory`() throws {
    try check(MemoryInvoice("Ann"), Loop(clock: .virtual)) { MemoryItem($0, $1, $2) }
  }

  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous, .explicit])
  func `on rows of a database`(_ saving: RecordStore.Saving) throws {
    let ledger = try Ledger(saving: saving)
    let invoice = Invoice(customer: "Ann")
    try ledger.store.insert(invoice)
    try check(invoice, ledger.loop) { Item($0, $1, $2) }
    ledger.loop.run()
    if saving == .explicit { try ledger.store.save() }
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Eve 5.0"])
    #expect(try ledger.rows("SELECT product, quantity, price FROM item") == ["honey 1 5.0"])
    #expect(ledger.errors.texts == [])
  }
}
