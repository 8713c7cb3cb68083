import ObservableRecords

/// An invoice: a row of the table `invoice`.
@ObservableModel final class Invoice: ObservableRecord {
  var id: Int64?
  var customer: String
  var isPaid = false
  @HasMany(\Item.invoiceID) var items: ObservableArray<Item>
  @Computed("items.@sum.total") @Stored var total: Double
  private func makeTotal() -> Double { items.reduce(0) { $0 + $1.total } }
}

/// An item of an invoice: a row of the table `item`.
@ObservableModel final class Item: ObservableRecord {
  var id: Int64?
  var product: String
  var quantity: Int
  var price: Double
  var invoiceID: Int64 = 0
  @BelongsTo(\Item.invoiceID) var invoice: Invoice?
  @Computed("quantity", "price") var total: Double
  private func makeTotal() -> Double { Double(quantity) * price }
}

/// Creates the tables of a new file.
func migrate(_ database: any DatabaseWriter) throws {
  var migrator = DatabaseMigrator()
  migrator.registerMigration("invoices and items") { db in
    try db.create(table: "invoice") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("customer", .text).notNull()
      table.column("isPaid", .boolean).notNull().defaults(to: false)
      table.column("total", .double).notNull().defaults(to: 0)
    }
    try db.create(table: "item") { table in
      table.autoIncrementedPrimaryKey("id")
      table.column("product", .text).notNull()
      table.column("quantity", .integer).notNull()
      table.column("price", .double).notNull()
      table.column("invoiceID", .integer).notNull().references("invoice", onDelete: .cascade)
    }
  }
  try migrator.migrate(database)
}
