#if Records
  /// A model whose objects are rows of a table of SQLite.
  ///
  /// ```swift
  /// @ObservableModel final class Item: ObservableRecord {
  ///   var id: Int64?
  ///   var product: String
  ///   var quantity: Int
  ///   var invoiceID: Int64
  ///   @BelongsTo(\Item.invoiceID) var invoice: Invoice?
  /// }
  /// ```
  ///
  /// The macro writes the list of columns, `init(row:)`, and an initializer for new rows where the
  /// class has none. A column is each stored property that is not private or `@Ignored`: a value of
  /// GRDB's `DatabaseValueConvertible`, or a `Codable` one, which is stored as JSON. Requests are
  /// GRDB's: `Item.filter(Column("quantity") > 1)`. An object belongs to the loop of its
  /// ``RecordStore``, and is used on the thread of that.
  public protocol ObservableRecord: ObservableModel, FetchableRecord, TableRecord {
    /// The name of the property that is the primary key: `id`, unless the class says otherwise.
    static var primaryKeyName: String { get }
    /// The columns and relations; the macro writes them.
    static var recordSchema: RecordSchema { get }
    /// What the store knows of this row; the macro declares it, with a ``RecordHold``.
    var recordState: RecordState { get }
  }

  extension ObservableRecord {
    /// The primary key is `id`.
    public static var primaryKeyName: String { "id" }

    /// The record of the watchers of this row, made when there is something for it to record.
    public var observation: ModelObservation { recordState.observation }

    /// The record of the watchers of this row; nil while there is none.
    @_documentation(visibility: internal)
    public var existingObservation: ModelObservation? { recordState.existingObservation }

    /// The columns of the class, in the order of its properties.
    public static var databaseSelection: [any SQLSelectable] {
      recordSchema.columns.map { Column($0.name) }
    }

    /// Whether the row was deleted: here, or by another user of the database.
    public var isDeleted: Bool { recordState.isDeleted }

    /// Whether the object has changes that are not saved yet.
    public var hasUnsavedChanges: Bool { recordState.hasUnsavedChanges }

    /// The store that the object belongs to; nil for one that is not inserted or whose store is
    /// closed.
    public var store: RecordStore? { recordState.store }
  }

  /// Makes a property the rows of another table that refer to this one: lazy, and kept up to date.
  ///
  /// What is appended gets this row's key, and is inserted if it is new; what is removed loses it,
  /// and is deleted where its column cannot be null.
  @attached(peer)
  public macro HasMany<Other: ObservableRecord, Key>(_ column: KeyPath<Other, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a property the row of another table that refers to this one: lazy, and kept up to date.
  @attached(peer)
  public macro HasOne<Other: ObservableRecord, Key>(_ column: KeyPath<Other, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a property the row that a column of this one refers to: lazy, and kept up to date.
  ///
  /// Assigning another row sets the column.
  @attached(peer)
  public macro BelongsTo<Own: ObservableRecord, Key>(_ column: KeyPath<Own, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a `@Computed` property a column: it is written with what it depends on, in the same
  /// transaction, so that queries may filter and sort by it.
  @attached(peer)
  public macro Stored() =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")
#endif
