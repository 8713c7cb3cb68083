public import Lua

/// An error in a callback that nobody called: what happened, and where (T10).
public struct LuaReport: Sendable {
  /// What kind of callback it was.
  public enum Kind: String, Sendable {
    case watcher
    case immediate
    case timer
    case task
    case hook
    /// The getter of a lazy property, which nobody has read.
    case getter
    case exit
    /// Not a callback's error: the engine gave up on watchers that trigger themselves.
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
}

extension LuaReport: CustomStringConvertible {
  /// The lines that go to the standard error stream, without the program's name.
  public var description: String {
    var lines = [error.message]
    if let traceback = error.traceback { lines.append(traceback) }
    if kind != .loop {
      let place = site.isEmpty ? "" : " (registered at \(site))"
      lines.append("in \(kind == .immediate ? "immediate watcher" : kind.rawValue) \(name)\(place)")
    }
    if let cause { lines.append("caused by the write at \(cause)") }
    return lines.joined(separator: "\n")
  }
}
