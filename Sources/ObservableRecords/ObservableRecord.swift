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
  /// The macro writes the list of columns, `init(row:)`, and an initializer for new rows if the
  /// class has none. Each stored property that is neither private nor `@Ignored` is a column. Its
  /// type conforms to GRDB's `DatabaseValueConvertible`, or to `Codable`, whose values are stored
  /// as JSON. Requests are GRDB's: `Item.filter(Column("quantity") > 1)`. An object belongs to the
  /// loop of its ``RecordStore``, and is used on the loop's thread.
  public protocol ObservableRecord: ObservableModel, FetchableRecord, TableRecord {
    /// The name of the property that is the primary key; `id` by default.
    static var primaryKeyName: String { get }
    /// The columns and relations, written by the macro.
    static var recordSchema: RecordSchema { get }
    /// The state of this row in its store; the macro declares it, with a ``RecordHold``.
    var recordState: RecordState { get }
  }

  extension ObservableRecord {
    /// The primary key is `id`.
    public static var primaryKeyName: String { "id" }

    /// The watchers of this row, created on demand.
    public var observation: ModelObservation { recordState.observation }

    /// The watchers of this row; nil if they have not been created.
    @_documentation(visibility: internal)
    public var existingObservation: ModelObservation? { recordState.existingObservation }

    /// The columns of the class, in the order of its properties.
    public static var databaseSelection: [any SQLSelectable] {
      recordSchema.columns.map { Column($0.name) }
    }

    /// Whether the row was deleted, here or by another user of the database.
    public var isDeleted: Bool { recordState.isDeleted }

    /// Whether the object has changes that are not saved yet.
    public var hasUnsavedChanges: Bool { recordState.hasUnsavedChanges }

    /// The store of the object; nil if the object is not inserted, or its store is closed.
    public var store: RecordStore? { recordState.store }
  }

  /// Makes a property the list of rows of another table that refer to this one, loaded lazily and
  /// kept up to date.
  ///
  /// An appended row gets this row's key, and is inserted if it is new. A removed row loses the
  /// key; if its column cannot be null, it is deleted.
  @attached(peer)
  public macro HasMany<Other: ObservableRecord, Key>(_ column: KeyPath<Other, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a property the row of another table that refers to this one, loaded lazily and kept up
  /// to date.
  @attached(peer)
  public macro HasOne<Other: ObservableRecord, Key>(_ column: KeyPath<Other, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a property the row to which a column of this one refers, loaded lazily and kept up to
  /// date.
  ///
  /// Assigning another row sets the column.
  @attached(peer)
  public macro BelongsTo<Own: ObservableRecord, Key>(_ column: KeyPath<Own, Key>) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Makes a `@Computed` property a column, so that queries can filter and sort by it.
  ///
  /// It is written in the same transaction as the values it depends on.
  @attached(peer)
  public macro Stored() =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")
#endif
