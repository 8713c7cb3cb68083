#if Macros
  /// A property that is computed when it is read, and kept until one of the key paths changes (Z2).
  ///
  /// ```swift
  /// @Computed("first", "address.zip") var label: String
  /// private func makeLabel() -> String { "\(first), \(address?.zip ?? "")" }
  /// ```
  ///
  /// The value comes from the method `make…` of the same class, which may throw (Z8); a value in
  /// the declaration stands in for errors. Without key paths it depends on what the method has read
  /// when it ran last (Z10). Assigning overrides it until the next change (Z5), also by name,
  /// unless its setter is private. `isCached: false` computes at each read (Z3). Runs on the thread
  /// of the loop; `$label` has the rest, see `Lazy`.
  @attached(peer)
  public macro Computed(_ paths: Dependency..., isCached: Bool = true) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that the method `make…` computes when it is read for the first time, and that is
  /// kept until it is invalidated (Z1).  Where that method is `static` it creates the value (Z7):
  /// the property is optional, the method that `configure` names runs once, with the new value or
  /// without an argument, and assigning nil makes the next read create another one.
  @attached(peer)
  public macro LazyProperty(configure: String = "") =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that the static method `make…` creates from `argument` when it is read for the
  /// first time (Z7).
  ///
  /// ```swift
  /// @LazyProperty(configure: "fill", with: Style.plain) var card: Card?
  /// private static func makeCard(_ style: Style) -> Card { Card(style) }
  /// private func fill(_ card: Card, _ style: Style) { card.text = title }
  /// ```
  ///
  /// The method that `configure` names runs once, with the new value and the argument, with the
  /// value alone, or without either. All else is as without an argument, which is evaluated once
  /// for the class.
  @attached(peer)
  public macro LazyProperty<Argument>(configure: String = "", with argument: Argument) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// A property that is stored by a method, which gets its name and may serve many properties (Z6).
  ///
  /// ```swift
  /// @LazyProperty(loader: "load") var size: Int
  /// private func load(_ name: String) throws { size = … }
  /// ```
  @attached(peer)
  public macro LazyProperty(loader: String) =
    #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")
#endif
