import Observation
@_exported public import Observables

#if Macros
  /// Makes a class an `ObservableModel` of `Observables`: its stored properties can be observed by
  /// key path, and used by scripts.
  ///
  /// ```swift
  /// @ObservableModel final class User {
  ///   var first = "", last = ""
  ///   var address: Address?
  ///   @Computed("first", "last") var full: String
  ///   private func makeFull() -> String { "\(first) \(last)" }
  /// }
  /// ```
  ///
  /// A stored `var` that is not private gets a slot, and accessors that report its writes and
  /// reads; a `let`, and what has a private setter, is read-only by name. The class gets
  /// `properties`, `observation` and the conformance, and `CodingKeys` where it says that it is
  /// `Codable`. A subclass of a model says `@ObservableModel` again for its own properties. Private
  /// properties, `lazy`, static and computed ones are left as they are. The model is confined to
  /// the thread of the loop that observes it; one of `@MainActor` belongs to the loops of the main
  /// thread, such as `Loop.main`.
  @attached(
    member, conformances: ObservableModel,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel)
  public macro ObservableModel() =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that several threads read and write (T8), and `Sendable`.
  ///
  /// All else is as for ``ObservableModel()``. The observed properties are guarded by a lock, in
  /// which `willSet` and `didSet` run, and are `Sendable`, as constants are. Others are guarded by
  /// the class, which says so by `nonisolated(unsafe)`. `count += 1` is one step for other threads.
  /// Watchers are called on the thread of their loop.
  @attached(
    member, conformances: ObservableModel, Sendable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Sendable)
  public macro ObservableModel(_ use: ModelThreadSafety) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that is `Observable` for the toolchain's Observation as well.
  ///
  /// All else is as for ``ObservableModel()``. Both are notified of each write, and do not disturb
  /// each other.
  @attached(
    member, conformances: ObservableModel, Observation.Observable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Observation.Observable)
  public macro ObservableModel(_ framework: ModelFramework) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that several threads use, and that is `Observable` as well.
  @attached(
    member, conformances: ObservableModel, Sendable, Observation.Observable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Sendable, Observation.Observable)
  public macro ObservableModel(_ use: ModelThreadSafety, _ framework: ModelFramework) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Leaves a stored property as it is: it is not observed, and has no name for paths and scripts.
  ///
  /// It is still encoded where the class is `Codable`, as it is stored.
  @attached(peer)
  public macro Ignored() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Observes a stored property although it is private.
  ///
  /// Tracked properties depend on it then, and paths can name it.
  @attached(peer)
  public macro Observed() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Keeps `**` in key paths from following the objects of a stored property (X1); which object it
  /// has is heard as ever.
  @attached(peer)
  public macro Opaque() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// The attribute that `@ObservableModel` writes at each stored property that it observes.
  @_documentation(visibility: internal)
  @attached(accessor, names: named(init), named(get), named(set), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro ObservedProperty(_ slot: Int, _ options: ModelOption...) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservedPropertyMacro")
#endif
