#if Records
  public import ObservableRecords

  /// What scripts may do with the rows of a class.
  public struct RecordRights: OptionSet, Sendable {
    /// The rights as bits.
    public let rawValue: Int

    /// Rights from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Scripts may ask for rows: `query`, `find`.
    public static let query = RecordRights(rawValue: 1)
    /// Scripts may set the columns of rows, and change lists that have them.
    public static let write = RecordRights(rawValue: 2)
    /// Scripts may make rows.
    public static let insert = RecordRights(rawValue: 4)
    /// Scripts may delete rows, also by taking them out of lists.
    public static let delete = RecordRights(rawValue: 8)
    /// All of that.
    public static let all: RecordRights = [.query, .write, .insert, .delete]
  }

  /// A class of rows that scripts may use, and how.
  public struct ScriptRecord {
    let record: any ObservableRecord.Type
    let rights: RecordRights

    /// Lets scripts use a class; without rights they read what they are given.
    public init(_ record: any ObservableRecord.Type, _ rights: RecordRights = .query) {
      (self.record, self.rights) = (record, rights)
    }

    var name: String { "\(record)" }
  }
#endif
