#if Records
  /// A column that refers to the key of another table, and the effect of deleting the other row.
  struct ForeignKey {
    enum Action { case cascade, setNull, other }
    let column: String
    /// The name of the referenced table, in lower case.
    let target: String
    let action: Action
    /// The collation of the referenced key.
    let collation: Collation

    /// The columns of a table that refer to primary keys; empty if the connection ignores foreign
    /// keys.
    static func all(of table: String, _ db: Database) throws -> [ForeignKey] {
      guard try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true else { return [] }
      let rows = try Row.fetchAll(
        db, sql: "PRAGMA foreign_key_list(\(table.quotedDatabaseIdentifier))")
      let isSingle = Dictionary(grouping: rows) { $0["id"] as Int }.mapValues { $0.count == 1 }
      return try rows.compactMap { row in
        let target: String = row["table"]
        guard isSingle[row["id"]] == true, try db.tableExists(target) else { return nil }
        let key = try db.primaryKey(target).columns.map { $0.lowercased() }
        let column: String? = row["to"]
        if let column, [column.lowercased()] != key { return nil }
        let action: Action =
          switch row["on_delete"] as String {
          case "CASCADE": .cascade
          case "SET NULL": .setNull
          default: .other
          }
        return ForeignKey(
          column: row["from"], target: target.lowercased(), action: action,
          collation: try TableLayout.keyCollation(of: target, db) ?? .binary)
      }
    }
  }
#endif
