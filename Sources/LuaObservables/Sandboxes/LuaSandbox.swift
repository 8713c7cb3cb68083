internal import CLua
public import Lua
internal import Observables

/// Scripts of a host that have globals, time and quotas of their own: a plugin.
///
/// All sandboxes of a host share its memory, and the libraries, which are read-only. A callback runs
/// on the account of the sandbox that registered it. Confined to the thread of the host, whose
/// ``LuaHost/sandbox(named:limits:)`` makes it; it ends with ``close()``, or with the host.
public final class LuaSandbox {
  /// The name by which reports call it.
  public let name: String
  /// Called with errors in callbacks of its scripts; without it the host's is.
  ///
  /// Errors that `obs.on_error` of its scripts takes are seen here, too, if the host lets nothing be
  /// swallowed: see ``LuaHost/onError``.
  public var onError: ((LuaReport) -> Void)?
  /// True as soon as ``close()`` has begun.
  @exclusivity(unchecked) public private(set) var isClosed = false

  /// What its scripts may have, and have.
  let quotas: ScriptQuotas
  /// The time that its scripts take.
  let account: UnsafeMutablePointer<clua_account>
  /// The number by which watchers know it.
  let number: UInt32
  /// The script's own callback for errors.
  @exclusivity(unchecked) var errorHook: LuaFunction?
  /// The modules that its scripts have required.
  @exclusivity(unchecked) var modules: [String: LuaValue] = [:]
  /// Its globals; nil for those of the state.
  @exclusivity(unchecked) private(set) var environment: LuaTable?
  /// The host owns it, and outlives it unless it was closed.
  private weak var host: LuaHost?

  init(_ name: String, number: UInt32, limits: ScriptLimits, host: LuaHost?) {
    (self.name, self.number, self.host) = (name, number, host)
    quotas = ScriptQuotas(limits)
    account = .allocate(capacity: 1)
    account.initialize(to: clua_account())
    account.pointee.limit = limits.turnTime.map(LuaInterrupter.nanoseconds) ?? 0
  }

  deinit { account.deallocate() }

  func start(in environment: LuaTable) { self.environment = environment }

  func lowerTime(to nanoseconds: UInt64) {
    if account.pointee.limit == 0 || nanoseconds < account.pointee.limit {
      account.pointee.limit = nanoseconds
    }
  }

  // MARK: Scripts

  /// Runs `text` as a turn, in the globals of the sandbox; `name` is what error messages call it.
  ///
  /// - Throws: `LuaError` for a syntax error, and for what the script raised: `timeLimit`, `memory`
  ///   and `quota` where it went beyond a limit; `closed`.
  @discardableResult
  public func run(_ text: String, name: String = "=script") throws(LuaError) -> [LuaValue] {
    let host = try open()
    return try host.run(Array(text.utf8), name: name, in: self)
  }

  /// Runs a file as a turn, in the globals of the sandbox.
  ///
  /// - Throws: as `run(_:name:)`, and `file` where it cannot be read.
  @discardableResult
  public func run(file path: String) throws(LuaError) -> [LuaValue] {
    let host = try open()
    return try host.run(file: path, in: self)
  }

  /// A global variable of its scripts; nil where the host is closed.
  ///
  /// An assignment that fails is reported to the host's `onError`; `set` throws.
  public subscript(name: String) -> LuaValue {
    get { (try? environment?[name]) ?? .nil }
    set {
      do { try set(name, to: newValue) } catch { host?.reportFailedGlobal(name, error) }
    }
  }

  /// Sets a global variable of its scripts.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, or a value of another state.
  public func set(_ name: String, to value: some LuaEncodable) throws(LuaError) {
    _ = try open()
    try environment?.set(name, to: value)
  }

  /// Ends its watchers and timers, without calling `on_end`. Does nothing when it is closed.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    host?.end(self)
    errorHook = nil
    modules = [:]
    environment = nil
  }

  /// The host, if both are open.
  private func open() throws(LuaError) -> LuaHost {
    guard !isClosed, let host, !host.isClosed else { throw .closed }
    return host
  }
}
