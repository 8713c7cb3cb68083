public import Lua
public import LuaObservables
internal import Observables

/// Shows a running host in a browser: turns, writes, calls and objects, as they happen.
///
/// It answers requests from this machine only, and only with the token that ``url`` contains. The
/// page reads; with `allowsWrites`, it can also assign to keys and run code, in turns. Other
/// requests are no turns. No request keeps the loop running: it is answered while the loop waits.
/// The inspector ends with
/// ``stop()``, or with the host; dropping it doesn't end it. Use it on the loop's thread.
///
/// Each page reads the lines of a recording (`Loop.startRecording(to:_:)`), and a page that reads
/// nothing costs at most 1 MB. While the inspector runs, the record for `why` and `whynot` is on.
public final class Inspector: ScriptInspector {
  /// The address of the page, with the token: it gives access to the program.
  public let url: String
  /// Whether requests are answered: false after ``stop()``.
  public private(set) var isActive = true
  private let server: InspectorServer
  private weak var host: LuaHost?

  /// Starts to answer requests.
  ///
  /// `port` 0 chooses a free port. `roots` are objects that the page lists by name.
  ///
  /// - Throws: ``InspectorError`` if the port is in use.
  public convenience init(
    of host: LuaHost, port: Int = 0, roots: [String: LuaValue] = [:], allowsWrites: Bool = false
  ) throws(InspectorError) {
    try self.init(of: host, port: port, roots: roots, allowsWrites: allowsWrites, origin: [])
  }

  /// Does the same; `origin` has fields of the first line of a recording, as JSON.
  package init(
    of host: LuaHost, port: Int, roots: [String: LuaValue] = [:], allowsWrites: Bool = false,
    origin: [(name: String, json: String)]
  ) throws(InspectorError) {
    self.host = host
    server = InspectorServer(
      host, try Listener(port: port), InspectorRoots(roots), allowsWrites: allowsWrites,
      origin: origin)
    url = server.url
    host.add(self)
  }

  /// Lets the scripts of a host call `obs.inspect`.
  public static func install(in host: LuaHost) {
    host.makeInspector = { host, request in
      try Inspector(
        of: host, port: request.port, roots: request.roots, allowsWrites: request.allowsWrites)
    }
  }

  /// Sends the last lines, and ends all connections.
  ///
  /// Does nothing if the inspector has ended.
  public func stop() {
    guard isActive else { return }
    isActive = false
    server.stop()
    host?.remove(self)
  }

  /// The descriptor that accepts connections.
  package var descriptor: Int32 { server.descriptor }
}

/// An inspector could not start.
public struct InspectorError: Error, Sendable, CustomStringConvertible {
  /// The port that was asked for.
  public let port: Int
  /// What happened, such as "Address already in use".
  public let reason: String

  /// A sentence with the port and the reason.
  public var description: String {
    port == 0 ? "cannot inspect: \(reason)" : "cannot inspect on port \(port): \(reason)"
  }
}
