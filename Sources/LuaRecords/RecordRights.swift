#if Records
  public import ObservableRecords

  /// The rights of scripts on the rows of a class.
  public struct RecordRights: OptionSet, Sendable {
    /// The rights as bits.
    public let rawValue: Int

    /// Creates rights from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Scripts may ask for rows: `query`, `find`.
    public static let query = RecordRights(rawValue: 1)
    /// Scripts may set the columns of rows, and change lists that have them.
    public static let write = RecordRights(rawValue: 2)
    /// Scripts may insert rows.
    public static let insert = RecordRights(rawValue: 4)
    /// Scripts may delete rows, and remove them from lists.
    public static let delete = RecordRights(rawValue: 8)
    /// All rights.
    public static let all: RecordRights = [.query, .write, .insert, .delete]
  }

  /// A class of rows for scripts, with their rights.
  public struct ScriptRecord {
    let record: any ObservableRecord.Type
    let rights: RecordRights

    /// Lets scripts use a class; without rights they can only read the rows passed to them.
    public init(_ record: any ObservableRecord.Type, _ rights: RecordRights = .query) {
      (self.record, self.rights) = (record, rights)
    }

    var name: String { "\(record)" }
  }
#endif
