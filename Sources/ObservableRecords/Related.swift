#if Records
  public import Observables

  /// A type of relations, with a value for missing or unreadable rows.
  public protocol RelatedValue {
    /// The value without rows.
    static var withoutRows: Self { get }
  }

  extension ObservableArray: RelatedValue {
    /// An empty list.
    public static var withoutRows: ObservableArray { ObservableArray() }
  }

  extension Optional: RelatedValue {
    /// nil.
    public static var withoutRows: Wrapped? { nil }
  }

  /// A property with rows that refer to this one; the macro writes it for `@HasMany` and `@HasOne`.
  @propertyWrapper
  public struct Related<Value: RelatedValue> {
    // Most objects of a query are never asked for their relations.
    fileprivate var made: Lazy<Value>?

    /// Creates a property that is not loaded.
    public init() {}

    /// Only a property of a record can have rows.
    @available(*, unavailable, message: "relations are for properties of ObservableRecord")
    public var wrappedValue: Value { fatalError("relations are for properties of records") }

    /// Only a property of a record can have rows.
    @available(*, unavailable, message: "relations are for properties of ObservableRecord")
    public var projectedValue: LazyHandle<Value> {
      fatalError("relations are for properties of records")
    }

    /// The rows; none if they cannot be read, and the loop's `onError` gets the error.
    public static subscript<Model: ObservableRecord>(
      _enclosingInstance model: Model, wrapped wrapped: KeyPath<Model, Value>,
      storage storage: ReferenceWritableKeyPath<Model, Related>
    ) -> Value {
      model.recordState.store?.relations.keepUntilTurnEnd(model)
      return model[keyPath: storage].made.make().rows(of: model)
    }

    /// A handle of the lazy property, whose `get()` throws errors.
    public static subscript<Model: ObservableRecord>(
      _enclosingInstance model: Model, projected projected: KeyPath<Model, LazyHandle<Value>>,
      storage storage: ReferenceWritableKeyPath<Model, Related>
    ) -> LazyHandle<Value> {
      let lazy = model[keyPath: storage].made.make()
      lazy.join(model)
      return LazyHandle(lazy, of: model)
    }
  }

  /// A property with the row to which a column refers; the macro writes it for `@BelongsTo`.
  @propertyWrapper
  public struct Referenced<Value: RelatedValue> {
    private let column: String
    fileprivate var made: Lazy<Value>?

    /// Creates a property that is not loaded.
    public init(_ column: String) { self.column = column }

    /// Only a property of a record can have rows.
    @available(*, unavailable, message: "relations are for properties of ObservableRecord")
    public var wrappedValue: Value {
      get { fatalError("relations are for properties of records") }
      set { _ = newValue }
    }

    /// Only a property of a record can have rows.
    @available(*, unavailable, message: "relations are for properties of ObservableRecord")
    public var projectedValue: LazyHandle<Value> {
      fatalError("relations are for properties of records")
    }

    /// The row; nil if it does not exist, or cannot be read, which the loop's `onError` reports.
    ///
    /// Assigning a row sets the column to its key.
    public static subscript<Model: ObservableRecord>(
      _enclosingInstance model: Model, wrapped wrapped: ReferenceWritableKeyPath<Model, Value>,
      storage storage: ReferenceWritableKeyPath<Model, Referenced>
    ) -> Value {
      get {
        model[keyPath: storage].made.make().rows(of: model)
      }
      set {
        let other = (newValue as any RelatedValue) as? any ObservableRecord
        model.recordState.refer(model, model[keyPath: storage].column, to: other)
      }
    }

    /// A handle of the lazy property, whose `get()` throws errors.
    public static subscript<Model: ObservableRecord>(
      _enclosingInstance model: Model, projected projected: KeyPath<Model, LazyHandle<Value>>,
      storage storage: ReferenceWritableKeyPath<Model, Referenced>
    ) -> LazyHandle<Value> {
      let lazy = model[keyPath: storage].made.make()
      lazy.join(model)
      return LazyHandle(lazy, of: model)
    }
  }
  extension Optional {
    /// Returns the lazy property, and creates it on first use.
    fileprivate mutating func make<Value>() -> Lazy<Value> where Wrapped == Lazy<Value> {
      if let self { return self }
      let lazy = Lazy<Value>()
      self = lazy
      return lazy
    }
  }

  extension Lazy where Value: RelatedValue {
    /// Returns the rows; none if they cannot be read, and the store reports the error.
    fileprivate func rows(of model: some ObservableRecord) -> Value {
      value(in: model) { error, isHeard in
        if !isHeard { model.recordState.store?.report(error) }
        return .withoutRows
      }
    }
  }
#endif
