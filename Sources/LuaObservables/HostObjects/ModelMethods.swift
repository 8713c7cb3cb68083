internal import Lua
public import Observables

/// A model whose methods scripts may call, besides reading, writing and observing its properties
/// (B2).
///
/// ```swift
/// extension Thermostat: ScriptModel {
///   static let methods = ModelMethods(for: Thermostat.self) {
///     Method("raise") { (thermostat, degrees: Double) in thermostat.target += degrees }
///     Method("report") { thermostat in "\(thermostat.current) of \(thermostat.target)" }
///   }
/// }
/// ```
///
/// A script writes `thermostat:raise(2)`.
public protocol ScriptModel: ObservableModel {
  /// The methods, the same for every instance.
  static var methods: ModelMethods { get }
}

/// A method of a model class, as scripts call it.
public struct Method<Model: ObservableModel> {
  let name: String
  let call: (Model, inout ScriptArguments) throws -> ScriptResult
  /// Whether the result is one that only a task can wait for.
  let isAsync: Bool
  /// Why no script could call the method; nil where one can.
  let fault: String?

  /// A method that runs `body`, and returns its result: a value, several for a tuple, or none.
  ///
  /// Called on the loop's thread. Arguments may be of any type that a property may be, and of those
  /// that are `LuaDecodable` or `Decodable`; of another type they raise "bad argument" errors in
  /// the script. Absent ones count as nil, surplus ones are dropped. An error that `body` throws is
  /// raised in the script, and is `LuaError.underlying` if it comes back to Swift. Where `body`
  /// returns an ``AsyncResult`` the task of the script waits for it. Where its last argument is
  /// ``Variadic``, that takes all that are left.
  ///
  /// A type that no value of a script can be converted to, such as that of a closure, ends the
  /// program when the list of methods is made, with a sentence that names it.
  public init<each Argument, Result>(
    _ name: String, _ body: @escaping (Model, repeat each Argument) throws -> Result
  ) {
    self.name = name
    isAsync = Result.self is any PendingResult.Type
    fault = argumentFault(repeat (each Argument).self)
    call = { model, arguments in
      ScriptResult(try body(model, repeat try arguments.next((each Argument).self)))
    }
  }
}

extension Method {
  /// A method that takes its time: a task of a script waits for the result of `body`.
  ///
  /// It runs on the loop's thread, each part between two `await`s in a turn of its own, or on the
  /// actor that the closure belongs to. It is cancelled when the task of the script is, or when the
  /// host closes. All else is as for a method that is not `async`; one whose work is to leave the
  /// loop's thread returns an ``AsyncResult``.
  public init<each Argument, Result>(
    _ name: String, _ body: @escaping (Model, repeat each Argument) async throws -> Result
  ) {
    self.name = name
    isAsync = true
    fault = argumentFault(repeat (each Argument).self)
    call = { model, arguments in
      let values = (repeat try arguments.next((each Argument).self))
      return .other(ClosureResult { try await body(model, repeat each values) })
    }
  }
}

/// The methods of a model class that scripts may call.
///
/// The list is made once per class.
public final class ModelMethods: @unchecked Sendable {
  // Immutable after init; the closures only touch the model that they are given, on its thread.
  /// The names, in the order in which they were declared.
  public let names: [String]
  private let entries: [String: Entry]

  struct Entry {
    let typeName: String
    /// Calls the method; returns nil where the object is of another class.
    let call: (AnyObject, inout ScriptArguments) throws -> ScriptResult?
    let isAsync: Bool
  }

  /// Declares the methods of `model`, besides those of `parent`, which they may replace.
  ///
  /// The list may have `if` and `for`.
  ///
  /// - Precondition: scripts can have values of all types of arguments.
  public init<Model: ObservableModel>(
    for model: Model.Type = Model.self, inheriting parent: ModelMethods? = nil,
    @MethodListBuilder<Model> _ methods: () -> [Method<Model>]
  ) {
    var names = parent?.names ?? []
    var entries = parent?.entries ?? [:]
    for method in methods() {
      precondition(
        method.fault == nil, "Method '\(method.name)' of \(model): \(method.fault ?? "")")
      if entries[method.name] == nil { names.append(method.name) }
      entries[method.name] = Entry(
        typeName: String(describing: model),
        call: { object, arguments in
          // A cast takes longer than the rest of a call.
          if type(of: object) == model {
            return try method.call(unsafeDowncast(object, to: Model.self), &arguments)
          }
          guard let object = object as? Model else { return nil }
          return try method.call(object, &arguments)
        }, isAsync: method.isAsync)
    }
    (self.names, self.entries) = (names, entries)
  }

  func entry(_ name: String) -> Entry? { entries[name] }
}

/// Collects the methods of a model.
@resultBuilder
public enum MethodListBuilder<Model: ObservableModel> {
  /// One method.
  public static func buildExpression(_ method: Method<Model>) -> [Method<Model>] { [method] }
  /// The methods of a list that was made elsewhere.
  public static func buildExpression(_ methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// The whole list.
  public static func buildBlock(_ methods: [Method<Model>]...) -> [Method<Model>] {
    methods.flatMap { $0 }
  }
  /// What `if` adds, or nothing.
  public static func buildOptional(_ methods: [Method<Model>]?) -> [Method<Model>] {
    methods ?? []
  }
  /// What `if` adds.
  public static func buildEither(first methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// What `else` adds.
  public static func buildEither(second methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// What `for` adds.
  public static func buildArray(_ methods: [[Method<Model>]]) -> [Method<Model>] {
    methods.flatMap { $0 }
  }
}
