#if Macros
  /// A property that is computed when it is read, and kept until one of its key paths changes (Z2).
  ///
  /// ```swift
  /// @Computed("first", "address.zip") var label: String
  /// private func makeLabel() -> String { "\(first), \(address?.zip ?? "")" }
  /// ```
  ///
  /// The method `make…` of the same class computes the value. It may throw (Z8); if it does, the
  /// property has the value given in its declaration. Without key paths, the property depends on
  /// everything its method read in the last run (Z10). Assigning overrides the value until the next
  /// change (Z5). Assigning by name does the same, unless the setter is private. `isCached: false`
  /// computes at each read (Z3). The method runs on the thread of the loop. `$label` gives access
  /// to its handle (`LazyHandle`).
  @attached(peer)
  public macro Computed(_ paths: Dependency..., isCached: Bool = true) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that the method `make…` computes on first read, and that is kept until it is
  /// invalidated (Z1).
  ///
  /// If `make…` is `static`, it creates the value (Z7): the property is optional, and the method
  /// named by `configure` runs once, with the new value or without an argument. Assigning nil makes
  /// the next read create another value.
  @attached(peer)
  public macro LazyProperty(configure: String = "") =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that the static method `make…` creates from `argument` on first read (Z7).
  ///
  /// ```swift
  /// @LazyProperty(configure: "fill", with: Style.plain) var card: Card?
  /// private static func makeCard(_ style: Style) -> Card { Card(style) }
  /// private func fill(_ card: Card, _ style: Style) { card.text = title }
  /// ```
  ///
  /// The method named by `configure` runs once. It takes the new value and the argument, the value
  /// alone, or nothing. The argument is evaluated once for the class. Otherwise the property works
  /// like one without an argument.
  @attached(peer)
  public macro LazyProperty<Argument>(configure: String = "", with argument: Argument) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that a method stores. The method gets the name, and may serve many properties (Z6).
  ///
  /// ```swift
  /// @LazyProperty(loader: "load") var size: Int
  /// private func load(_ name: String) throws { size = … }
  /// ```
  @attached(peer)
  public macro LazyProperty(loader: String) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")
#endif
