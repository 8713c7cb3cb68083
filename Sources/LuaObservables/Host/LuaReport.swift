public import Lua

/// An error in a callback, which has no caller to catch it, and the place where it happened (T10).
public struct LuaReport: Sendable {
  /// The kinds of callbacks.
  public enum Kind: String, Sendable {
    /// A watcher that is called at the end of turns.
    case watcher
    /// An immediate watcher, which is called inside writes.
    case immediate
    /// A timer: `obs.after`, `obs.every`, `obs.next_turn`.
    case timer
    /// A handler of a file or descriptor (`obs.on_readable`, `obs.on_writable`), or a callback of
    /// the module `obs.io`.
    case handler
    /// A callback of the module luv.
    case luv
    /// A task: `obs.task`.
    case task
    /// A callback of another kind: `on_end`, `on_error`, `obs.on_observed`, `obs.log`.
    case hook
    /// The getter of a lazy property, which no code was reading.
    case getter
    /// A function that was registered by `obs.on_exit`.
    case exit
    /// No callback: the engine gave up on watchers that trigger each other endlessly.
    case loop
  }

  /// The error with its message, traceback, Lua value and underlying Swift error.
  public let error: LuaError
  /// The kind of callback.
  public let kind: Kind
  /// The watcher's name, or a description of the callback.
  public let name: String
  /// The place of registration, "file:line".
  public let site: String
  /// The write that caused the call, "file:line"; nil if no write did.
  public let cause: String?
  /// The turn of the loop in which the error happened.
  public let turn: Int
  /// Whether the script's `obs.on_error` has handled it; the report is still made, so that
  /// untrusted scripts cannot hide errors.
  public internal(set) var isHandled = false
}

extension LuaReport: CustomStringConvertible {
  /// The lines for the standard error stream, without the program's name.
  public var description: String {
    var lines = [error.message]
    if let traceback = error.traceback { lines.append(traceback) }
    if kind != .loop {
      lines.append("in \(callback)\(site.isEmpty ? "" : " (\(verb) at \(site))")")
    }
    if let cause { lines.append("caused by the write at \(cause)") }
    return lines.joined(separator: "\n")
  }

  private var callback: String {
    switch kind {
    case .immediate: "immediate watcher \(name)"
    case .luv: "callback of luv"
    default: "\(kind.rawValue) \(name)"
    }
  }

  /// The action at the site.
  private var verb: String { kind == .luv ? "defined" : "registered" }
}
