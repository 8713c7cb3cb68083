internal import Lua
public import Observables

/// A model with methods that scripts can call, besides its observable properties (B2).
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
  /// Whether only a task can wait for the result.
  let isAsync: Bool
  /// The reason why no script could call the method; otherwise nil.
  let fault: String?

  /// Makes a method that runs `body` and returns its result: a value, several values for a tuple,
  /// or none.
  ///
  /// The method is called on the loop's thread. Arguments can be of any property type, or any
  /// `LuaDecodable` or `Decodable` type; values that do not fit raise "bad argument" errors in the
  /// script. Absent arguments count as nil, surplus ones are dropped. An error that `body` throws
  /// is raised in the script, and is `LuaError.underlying` if it comes back to Swift. If `body`
  /// returns an ``AsyncResult``, the script's task waits for it. If its last argument is
  /// ``Variadic``, that takes all remaining arguments.
  ///
  /// A type that no script value can be converted to, such as a closure type, ends the program with
  /// a message that names the type when the list of methods is made.
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
  /// Makes an asynchronous method: a script's task waits for the result of `body`.
  ///
  /// It runs on the loop's thread, where each part between two `await`s is a turn, or on the
  /// closure's actor. It is cancelled with the script's task, or when the host closes. Everything
  /// else is as for a method that is not `async`. To work outside the loop's thread, return an
  /// ``AsyncResult``.
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

/// The methods of a model class that scripts can call.
///
/// The list is made once per class.
public final class ModelMethods: @unchecked Sendable {
  // Immutable after init; the closures touch only the given model, on its thread.
  /// The names, in order of declaration.
  public let names: [String]
  private let entries: [String: Entry]

  struct Entry {
    let typeName: String
    /// Calls the method; returns nil for an object of another class.
    let call: (AnyObject, inout ScriptArguments) throws -> ScriptResult?
    let isAsync: Bool
  }

  /// Declares the methods of `model`, and inherits the methods of `parent`, which they can replace.
  ///
  /// The list can contain `if` and `for`.
  ///
  /// - Precondition: scripts can have values of all argument types.
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
  /// The methods of another list.
  public static func buildExpression(_ methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// The whole list.
  public static func buildBlock(_ methods: [Method<Model>]...) -> [Method<Model>] {
    methods.flatMap { $0 }
  }
  /// The methods in `if`, or none.
  public static func buildOptional(_ methods: [Method<Model>]?) -> [Method<Model>] {
    methods ?? []
  }
  /// The methods in `if`.
  public static func buildEither(first methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// The methods in `else`.
  public static func buildEither(second methods: [Method<Model>]) -> [Method<Model>] { methods }
  /// The methods in `for`.
  public static func buildArray(_ methods: [[Method<Model>]]) -> [Method<Model>] {
    methods.flatMap { $0 }
  }
}
