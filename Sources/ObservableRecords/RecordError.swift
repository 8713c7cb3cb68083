#if Records
  /// A row does not fit its class, or a class its table.
  public struct RecordError: Error, Sendable, Equatable {
    /// What is wrong.
    public enum Code: Sendable {
      /// The database has no such table.
      case noTable
      /// The class has properties that are no columns of the table, columns of another type, or
      /// the table cannot be used.
      case otherTable
      /// A row has a value that the property cannot have.
      case wrongValue
      /// A text of a row is no UTF-8.
      case notUTF8
      /// The row that was read lacks a column of the class.
      case noColumn
      /// The primary key of a saved row was changed.
      case keyChanged
      /// A stored property depends on something that is no column.
      case wrongDependency
      /// The store is closed.
      case closed
      /// The object belongs to another store.
      case otherStore
      /// The object is deleted.
      case deleted
      /// A value cannot be stored.
      case notStorable
      /// A transaction of the store is under way.
      case inTransaction
    }

    /// What is wrong.
    public let code: Code
    /// The table.
    public let table: String
    /// The column, where it is one.
    public let column: String?
    /// The primary key of the row, as text, where it is one.
    public let row: String?
    /// What was found, and what was expected.
    public let detail: String

    init(
      _ code: Code, table: String, column: String? = nil, row: String? = nil, _ detail: String
    ) {
      (self.code, self.table, self.column) = (code, table, column)
      (self.row, self.detail) = (row, detail)
    }
  }

  extension RecordError: CustomStringConvertible {
    /// The sentence that a user sees.
    public var description: String {
      let place = [
        table.isEmpty ? nil : "table '\(table)'", column.map { "column '\($0)'" },
        row.map { "row \($0)" },
      ]
      .compactMap { $0 }.joined(separator: ", ")
      return place.isEmpty ? detail : "\(place): \(detail)"
    }
  }

  /// Rows could not be saved: nothing of them is in the database, and the objects are tried again
  /// with the next save.
  public struct SaveError: Error {
    /// The error of the database, or a ``RecordError``.
    public let underlying: any Error
    /// The statement that failed, where it was one.
    public let statement: String?
    // The store hands the objects out on the thread of its loop.
    /// The object whose row it was, first, and then those that depend on it; where the database
    /// could not be written, all that were to be saved.
    ///
    /// They are to be used on the thread of the store's loop.
    public nonisolated(unsafe) let objects: [any ObservableRecord]
  }

  extension SaveError: CustomStringConvertible {
    /// The sentence that a user sees.
    public var description: String {
      let what = statement.map { " in '\($0)'" } ?? ""
      let first = objects.first.map { ", for \($0.recordState.title)" } ?? ""
      return "not saved: \(underlying)\(what)\(first)"
    }
  }
#endif
