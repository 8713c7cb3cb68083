import Observation
@_exported public import Observables

#if Macros
  /// Makes a class an `ObservableModel`: its stored properties can be observed by key path and used
  /// by scripts.
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
  /// Each stored `var` that is not private gets a slot, and accessors that report its writes and
  /// reads. A `let`, and a property with a private setter, is read-only by name. The class gets
  /// `properties`, `observation` and the conformance. If it declares `Codable`, it also gets
  /// `CodingKeys`, and an `init(from:)` that decodes the contents of constant collections, such as
  /// `let lines: ObservableArray<String> = []`. A subclass of a model needs `@ObservableModel`
  /// again for its own properties. The macro leaves private, `lazy`, static and computed properties
  /// as they are. The model is confined to the thread of the loop that observes it. A model with
  /// `@MainActor` belongs to the loops of the main thread, such as `Loop.main`.
  @attached(
    member, conformances: ObservableModel,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel)
  public macro ObservableModel() =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that several threads can read and write (T8), and `Sendable`.
  ///
  /// A lock guards the observed properties; their `willSet` and `didSet` run inside the lock.
  /// Observed properties and constants must be `Sendable`. The class guards its other properties
  /// itself, and marks them `nonisolated(unsafe)`. `count += 1` is one step for other threads.
  /// Watchers are called on the thread of their loop. Otherwise the model is like
  /// ``ObservableModel()``.
  @attached(
    member, conformances: ObservableModel, Sendable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Sendable)
  public macro ObservableModel(_ use: ModelThreadSafety) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that is also `Observable` for the toolchain's Observation.
  ///
  /// Both are notified of each write, and do not disturb each other. Otherwise the model is like
  /// ``ObservableModel()``.
  @attached(
    member, conformances: ObservableModel, Observation.Observable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Observation.Observable)
  public macro ObservableModel(_ framework: ModelFramework) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Makes a class a model that several threads can use, and that is also `Observable`.
  @attached(
    member, conformances: ObservableModel, Sendable, Observation.Observable,
    names: named(properties), named(modelProperties), named(observation), named(firstModelSlot),
    named(modelRegistrar), named(CodingKeys), named(deinit), named(init), named(recordHold),
    named(recordState), named(recordSchema))
  @attached(memberAttribute)
  @attached(extension, conformances: ObservableModel, Sendable, Observation.Observable)
  public macro ObservableModel(_ use: ModelThreadSafety, _ framework: ModelFramework) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservableModelMacro")

  /// Leaves a stored property as it is: it is not observed, and paths and scripts cannot name it.
  ///
  /// A `Codable` class still encodes it, as it is stored.
  @attached(peer)
  public macro Ignored() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Observes a stored property although it is private.
  ///
  /// Tracked properties can depend on it, and paths can name it.
  @attached(peer)
  public macro Observed() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// Keeps `**` in key paths from following the objects of a stored property (X1).
  ///
  /// Replacing the object is still reported.
  @attached(peer)
  public macro Opaque() = #externalMacro(module: "ObservableModelsMacros", type: "MarkerMacro")

  /// The attribute that `@ObservableModel` adds to each stored property that it observes.
  @_documentation(visibility: internal)
  @attached(accessor, names: named(init), named(get), named(set), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro ObservedProperty(_ slot: Int, _ options: ModelOption...) =
    #externalMacro(module: "ObservableModelsMacros", type: "ObservedPropertyMacro")
#endif
