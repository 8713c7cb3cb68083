internal import Lua
internal import Observables

/// A function of the host program, as scripts call it.
public struct Function {
  let name: String
  let call: (inout ScriptArguments) throws -> ScriptResult
  /// Whether only a task can wait for the result.
  let isAsync: Bool
  /// The reason why no script could call the function; otherwise nil.
  let fault: String?

  /// Makes a function that runs `body`, like a ``Method`` without an object.
  public init<each Argument, Result>(
    _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
  ) {
    self.name = name
    isAsync = Result.self is any PendingResult.Type
    fault = argumentFault(repeat (each Argument).self)
    call = { arguments in
      ScriptResult(try body(repeat try arguments.next((each Argument).self)))
    }
  }
}

extension Function {
  /// Makes an asynchronous function: a script's task waits for the result of `body`, as for an
  /// `async` ``Method``.
  public init<each Argument, Result>(
    _ name: String, _ body: @escaping (repeat each Argument) async throws -> Result
  ) {
    self.name = name
    isAsync = true
    fault = argumentFault(repeat (each Argument).self)
    call = { arguments in
      let values = (repeat try arguments.next((each Argument).self))
      return .other(ClosureResult { try await body(repeat each values) })
    }
  }
}

/// A named value that scripts can read.
public struct Constant {
  let name: String
  let value: Any?

  /// Makes a constant of any property type.
  public init(_ name: String, _ value: Any?) { (self.name, self.value) = (name, value) }
}

/// The members of a class for scripts: constructors, static functions and constants.
///
/// ```swift
/// let functions = ScriptFunctions {
///   Function("new") { (room: String) in Thermostat(room: room) }
///   Function("celsius") { (fahrenheit: Double) in (fahrenheit - 32) / 1.8 }
///   Constant("warmest", 30.0)
/// }
/// try host.set("Thermostat", to: functions)
/// ```
///
/// A script writes `Thermostat.new("kitchen")`. Any other name is an error that suggests the
/// nearest member. Scripts cannot assign members.
public struct ScriptFunctions {
  let functions: [Function]
  let constants: [Constant]

  /// The names, in order of declaration, functions first.
  public var names: [String] { functions.map(\.name) + constants.map(\.name) }

  /// Declares functions and constants; the list can contain `if` and `for`.
  ///
  /// - Precondition: no two members have the same name, and scripts can have values of all argument
  ///   types.
  public init(@ScriptFunctionsBuilder _ members: () -> [ScriptFunctions]) {
    self.init(members().flatMap(\.functions), members().flatMap(\.constants))
  }

  init(_ functions: [Function], _ constants: [Constant]) {
    (self.functions, self.constants) = (functions, constants)
    for function in functions {
      precondition(
        function.fault == nil, "Function '\(function.name)': \(function.fault ?? "")")
    }
    precondition(Set(names).count == names.count, "Two members have the same name: \(names)")
  }
}

/// Collects functions and constants.
@resultBuilder
public enum ScriptFunctionsBuilder {
  /// One function.
  public static func buildExpression(_ function: Function) -> [ScriptFunctions] {
    [ScriptFunctions([function], [])]
  }
  /// One constant.
  public static func buildExpression(_ constant: Constant) -> [ScriptFunctions] {
    [ScriptFunctions([], [constant])]
  }
  /// The members of another list.
  public static func buildExpression(_ members: ScriptFunctions) -> [ScriptFunctions] {
    [members]
  }
  /// The whole list.
  public static func buildBlock(_ members: [ScriptFunctions]...) -> [ScriptFunctions] {
    members.flatMap { $0 }
  }
  /// The members in `if`, or none.
  public static func buildOptional(_ members: [ScriptFunctions]?) -> [ScriptFunctions] {
    members ?? []
  }
  /// The members in `if`.
  public static func buildEither(first members: [ScriptFunctions]) -> [ScriptFunctions] { members }
  /// The members in `else`.
  public static func buildEither(second members: [ScriptFunctions]) -> [ScriptFunctions] { members }
  /// The members in `for`.
  public static func buildArray(_ members: [[ScriptFunctions]]) -> [ScriptFunctions] {
    members.flatMap { $0 }
  }
}
