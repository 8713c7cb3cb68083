/// An error of a Lua state, raised by a script or reported by the state itself.
///
/// Errors keep their contents through any number of calls between Swift and Lua: the Lua value that
/// was raised, and the Swift error that a Swift function threw.
public struct LuaError: Error, Sendable {
  /// The kind of an error.
  public enum Code: Sendable, Hashable {
    /// A chunk does not compile, or is bytecode although text was expected.
    case syntax
    /// A script, or a Swift function called by it, raised an error.
    case runtime
    /// Memory or stack space of the state ran out.
    case memory
    /// An error occurred while an error was being handled.
    case handler
    /// A file cannot be read.
    case file
    /// The state, or the sandbox of the script, is closed.
    case closed
    /// A value does not have the requested type.
    case type
    /// A value belongs to another state.
    case foreign
    /// The state belongs to another thread.
    case thread
    /// Scripts have used more time than allowed in a turn.
    case timeLimit
    /// The program has stopped the script with a `LuaInterrupter`.
    case interrupted
    /// Scripts have reached the maximum number of some object.
    case quota
    /// The loaded Lua library is an earlier release than the program requires.
    case release
  }

  /// The kind of error.
  public let code: Code
  /// A description in words, with the place in the script if known; cut after 16 KB.
  public let message: String
  /// The active calls in Lua, as in `debug.traceback`, cut after 16 KB; nil if there were none.
  public let traceback: String?
  /// The raised value, whole; nil for errors that began in Swift.
  public let value: LuaValue
  /// The error that a Swift function threw, however many calls below this one.
  public let underlying: (any Error)?

  /// Makes an error for a Swift function to throw: Lua sees a string that begins with its position.
  public init(_ message: String) { self.init(.runtime, message) }

  /// Whether the script was stopped from outside: its time was up, or the program asked for it.
  package var isStop: Bool { code == .timeLimit || code == .interrupted }

  /// Whether a limit or a stop has caused it, and no mistake of the script.
  package var isLimit: Bool {
    isStop || code == .memory || code == .quota || code == .closed
  }

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
  /// The message, followed by the traceback on the next lines.
  public var description: String { traceback.map { "\(message)\n\($0)" } ?? message }
}
