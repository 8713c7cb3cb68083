/// An error of a Lua state: one that a script raised, or one that the state itself reports.
///
/// Errors keep what they carried on their way through any number of calls between Swift and Lua:
/// the Lua value that was raised, and the Swift error that a Swift function threw.
public struct LuaError: Error, Sendable {
  /// What kind of thing went wrong.
  public enum Code: Sendable, Hashable {
    /// A chunk doesn't compile, or is bytecode where text was asked for.
    case syntax
    /// A script or a Swift function called by it raised an error.
    case runtime
    /// Memory ran out, or the stack of the state.
    case memory
    /// An error occurred while an error was handled.
    case handler
    /// A file cannot be read.
    case file
    /// The state is closed.
    case closed
    /// A value is not of the type that was asked for.
    case type
    /// A value belongs to another state.
    case foreign
    /// The state belongs to another thread.
    case thread
    /// Scripts have used more time than a turn of theirs may take.
    case timeLimit
    /// The program has stopped the script: `LuaInterrupter`.
    case interrupted
    /// Scripts have as many of something as they may have.
    case quota
    /// The loaded library of Lua is an earlier release than the program requires.
    case release
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// What went wrong, in words, with the place in the script where that is known.
  public let message: String
  /// The calls that were active in Lua, as `debug.traceback` writes them; nil where none were.
  public let traceback: String?
  /// The value that was raised; nil for errors that began in Swift.
  public let value: LuaValue
  /// The error that a Swift function threw, however many calls below this one.
  public let underlying: (any Error)?

  /// Makes an error to be thrown by a Swift function: Lua sees a string, with its position in
  /// front.
  public init(_ message: String) { self.init(.runtime, message) }

  /// Whether the script was stopped from outside: its time was up, or the program asked for it.
  package var isStop: Bool { code == .timeLimit || code == .interrupted }

  package init(
    _ code: Code, _ message: String, traceback: String? = nil, value: LuaValue = .nil,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.traceback = traceback
    self.value = value
    self.underlying = underlying
  }

  package static var closed: LuaError { LuaError(.closed, "the Lua state is closed") }
  static var otherThread: LuaError {
    LuaError(
      .thread,
      "the Lua state belongs to the thread of its loop; other threads post to the loop's inbox")
  }
  static var noMemory: LuaError { LuaError(.memory, "not enough memory") }
  static var foreign: LuaError { LuaError(.foreign, "the value belongs to another Lua state") }
}

extension LuaError: CustomStringConvertible {
  /// The message, and the traceback on the lines below it.
  public var description: String { traceback.map { "\(message)\n\($0)" } ?? message }
}
