#if Records
  /// An error of a store of rows.
  ///
  /// A row does not fit its class, a class does not fit its table, or the store cannot do the
  /// operation in its present state.
  public struct RecordError: Error, Sendable, Equatable {
    /// The kind of an error.
    public enum Code: Sendable {
      /// The database has no such table.
      case noTable
      /// The class has properties that are not columns of the table, or columns of another type; or
      /// the table cannot be used.
      case otherTable
      /// A row has a value that the property cannot have.
      case wrongValue
      /// A text of a row is not UTF-8.
      case notUTF8
      /// The row that was read lacks a column of the class.
      case noColumn
      /// The primary key of a saved row was changed.
      case keyChanged
      /// A stored property depends on something that is not a column.
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
      /// The list of a query was changed by the program.
      case queryList
    }

    /// The kind of the error.
    public let code: Code
    /// The table.
    public let table: String
    /// The column, if the error is about one.
    public let column: String?
    /// The primary key of the row, as text, if the error is about one.
    public let row: String?
    /// A description of the found and the expected value.
    public let detail: String

    init(
      _ code: Code, table: String, column: String? = nil, row: String? = nil, _ detail: String
    ) {
      (self.code, self.table, self.column) = (code, table, column)
      (self.row, self.detail) = (row, detail)
    }
  }

  extension RecordError: CustomStringConvertible {
    /// The message for the user.
    public var description: String {
      let place = [
        table.isEmpty ? nil : "table '\(table)'", column.map { "column '\($0)'" },
        row.map { "row \($0)" },
      ]
      .compactMap { $0 }.joined(separator: ", ")
      return place.isEmpty ? detail : "\(place): \(detail)"
    }
  }

  /// An error about rows that could not be saved.
  ///
  /// The database has none of their changes. They are saved again with the next save.
  public struct SaveError: Error {
    /// The error of the database, or a ``RecordError``.
    public let underlying: any Error
    /// The statement that failed, if it was one.
    public let statement: String?
    // The store hands the objects out on the thread of its loop.
    /// The object whose row failed, followed by the objects that depend on it; if the database
    /// could not be written, all objects of the save.
    ///
    /// Use them on the thread of the store's loop.
    public nonisolated(unsafe) let objects: [any ObservableRecord]
  }

  extension SaveError: CustomStringConvertible {
    /// The message for the user.
    public var description: String {
      let what = statement.map { " in '\($0)'" } ?? ""
      let first = objects.first.map { ", for \($0.recordState.title)" } ?? ""
      return "not saved: \(underlying)\(what)\(first)"
    }
  }
#endif
