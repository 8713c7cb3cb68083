public import Observables

/// The resources that the scripts of a host may use; nil means no limit.
///
/// Limits cost next to nothing until they are hit. Hitting one is an error of the script, with the
/// code `timeLimit`, `memory` or `quota`. Scripts can read and lower limits with `obs.limits()`.
public struct ScriptLimits: Sendable, Hashable {
  /// Bytes of memory, in Lua and in the engine's records for scripts (S3).
  ///
  /// A sandbox's memory is part of its host's memory.
  public var memory: Int?
  /// CPU time of scripts per turn (S1).
  ///
  /// Swift functions that scripts call count; other work of the loop in the turn does not. Scripts
  /// are stopped within 20 milliseconds of the limit. The rest of their work in the turn is
  /// dropped, and ``whenStopped`` decides how the host continues.
  public var turnTime: Duration?
  /// Watchers that have not ended.
  public var watchers: Int?
  /// Timers that are waiting, and callbacks of `obs.next_turn`.
  public var timers: Int?
  /// Tasks that are not done.
  public var tasks: Int?
  /// Components of a key path.
  public var pathComponents: Int?
  /// Bytes of a chunk of text, for the program or `load`.
  public var chunkSize: Int?
  /// Depth of nested script calls made by Swift functions that scripts called.
  public var callDepth: Int?
  /// The host's state after its scripts were stopped.
  public var whenStopped: StopPolicy

  /// Models and collections whose changes are undone if scripts meet a limit in a turn (S8).
  ///
  /// If scripts are stopped, or an uncaught error has the code `memory` or `quota`, every stored
  /// write of the turn at or below these objects is taken back, writes by Swift included. This
  /// happens before the watchers are called, or after them if a watcher met the limit; watchers
  /// that were already called are called again for the way back. The objects stay wired between
  /// turns, which costs O(objects below them) at the beginning, and then O(size of the writes) per
  /// turn. They are used on the host's thread. For tables of scripts, use
  /// ``LuaHost/undoStoppedTurns(on:)``.
  public var undoStoppedTurns: [any ObservableReference] {
    get { roots.objects }
    set { roots = Roots(objects: newValue) }
  }

  private var roots = Roots(objects: [])

  /// Compares objects by identity; the limits only carry them.
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

  /// The state of a host after its scripts were stopped (S7).
  public enum StopPolicy: Sendable, Hashable {
    /// The rest of the turn is dropped, and the next turn is normal.
    case endTurn
    /// Its watchers and timers wait until the program calls `LuaHost.resume()`.
    case pause
    /// The host, or the sandbox, is closed at the end of the turn.
    case close
  }

  /// No limits.
  public init() { whenStopped = .endTurn }

  /// Limits for untrusted scripts: 64 MB, 50 milliseconds, and quotas that no ordinary script
  /// meets.
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
