public import Lua

/// An error in a callback, which has no caller that could catch it: what happened, and where (T10).
public struct LuaReport: Sendable {
  /// What kind of callback it was.
  public enum Kind: String, Sendable {
    /// A watcher that is called at the end of turns.
    case watcher
    /// An immediate watcher, which is called inside of writes.
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
    /// The error is not that of a callback: the engine gave up on watchers that trigger themselves.
    case loop
  }

  /// The error with its message, traceback, Lua value and underlying Swift error.
  public let error: LuaError
  /// What kind of callback it was.
  public let kind: Kind
  /// The name of the watcher, or what stands for it.
  public let name: String
  /// Where it was registered, "file:line".
  public let site: String
  /// The write that caused the call, "file:line"; nil where there was none.
  public let cause: String?
  /// The turn of the loop in which it happened.
  public let turn: Int
  /// Whether the script has taken it by `obs.on_error`: scripts that nobody trusts hide nothing so.
  public internal(set) var isHandled = false
}

extension LuaReport: CustomStringConvertible {
  /// The lines that go to the standard error stream, without the program's name.
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

  /// What was done at the site.
  private var verb: String { kind == .luv ? "defined" : "registered" }
}
