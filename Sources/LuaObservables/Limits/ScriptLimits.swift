public import Observables

/// What the scripts of a host may use; nil is no limit.
///
/// Limits that are not hit cost next to nothing. One that is hit is an error of the script: of the
/// code `timeLimit`, `memory` or `quota`. Scripts read them by `obs.limits()`, and can lower them.
public struct ScriptLimits: Sendable, Hashable {
  /// Bytes of memory: those of Lua, and those that the engine keeps for scripts (S3).
  ///
  /// In the limits of a sandbox: of the memory of its host.
  public var memory: Int?
  /// CPU time that scripts may take in a turn (S1).
  ///
  /// What Swift does that they call counts, what else the loop does in the turn does not. Scripts
  /// are stopped within 20 milliseconds after it. What they would still do in the turn is dropped,
  /// and ``whenStopped`` says what becomes of the host.
  public var turnTime: Duration?
  /// Watchers that have not ended.
  public var watchers: Int?
  /// Timers that are waiting, and callbacks of `obs.next_turn`.
  public var timers: Int?
  /// Tasks that are not done.
  public var tasks: Int?
  /// Components of a key path.
  public var pathComponents: Int?
  /// Bytes of a chunk of text, to the program or to `load`.
  public var chunkSize: Int?
  /// Calls of scripts by Swift functions that scripts have called, one inside of the other.
  public var callDepth: Int?
  /// What becomes of the host when its scripts were stopped.
  public var whenStopped: StopPolicy

  /// Models and collections for which a turn whose scripts meet a limit has never been (S8).
  ///
  /// Where scripts are stopped, or an error of the code `memory` or `quota` leaves them, every
  /// stored write at or below these objects that was made in the turn is taken back, also by Swift:
  /// before the watchers are called or, where a watcher met the limit, after that; those that were
  /// called are called for the way back. The objects stay wired between turns: it costs O(objects
  /// below them) at the beginning, and then O(size of what was written) for each turn. They are
  /// used on the thread of the host. For tables of its scripts there is
  /// ``LuaHost/undoStoppedTurns(on:)``.
  public var undoStoppedTurns: [any ObservableReference] {
    get { roots.objects }
    set { roots = Roots(objects: newValue) }
  }

  private var roots = Roots(objects: [])

  /// Objects that are the same or not; the limits only carry them.
  private struct Roots: @unchecked Sendable, Hashable {
    let objects: [any ObservableReference]

    private var identities: [AnyHashable] {
      objects.map { root in
        type(of: root) is AnyClass
          ? AnyHashable(ObjectIdentifier(root as AnyObject))
          : (root as? any Hashable).map { AnyHashable($0) } ?? AnyHashable(0)
      }
    }

    static func == (a: Roots, b: Roots) -> Bool { a.identities == b.identities }

    func hash(into hasher: inout Hasher) { hasher.combine(identities) }
  }

  /// What becomes of a host whose scripts were stopped (S7).
  public enum StopPolicy: Sendable, Hashable {
    /// The rest of the turn is dropped, and the next one is as any other.
    case endTurn
    /// Its watchers and timers wait until the program calls `LuaHost.resume()`.
    case pause
    /// The host is closed at the end of the turn.
    case close
  }

  /// No limits.
  public init() { whenStopped = .endTurn }

  /// Limits for scripts that nobody trusts: 64 MB, 50 milliseconds, and quotas that no ordinary
  /// script meets.
  public static var untrusted: ScriptLimits {
    var limits = ScriptLimits()
    limits.memory = 64 << 20
    limits.turnTime = .milliseconds(50)
    limits.watchers = 10_000
    limits.timers = 1_000
    limits.tasks = 1_000
    limits.pathComponents = 100
    limits.chunkSize = 64 << 10
    limits.callDepth = 50
    return limits
  }
}
