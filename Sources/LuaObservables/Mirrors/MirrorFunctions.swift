internal import CLua
internal import Lua
internal import Observables
package import TreeMirrors

/// `mirror` (A1–A10).
final class MirrorFunctions: ModuleSlice {
  private var mirrors: [Int: TableMirror] = [:]
  private var last = 0
  /// The options that scripts do not set.
  var defaults = MirrorOptions()

  override var functions: [NamedFunction] {
    [
      .init("begin_mirror", begin),
      .init(
        "is_mirror_name",
        { [state] L in
          L.push(MirrorName.isValid(state.bytes(at: 1, of: L)))
          return 1
        }
      ),
      .init(
        "start_mirror",
        { [self] L in
          try mirror(L)?.session.begin(with: state.bytes(at: 2, of: L))
          return 0
        }
      ),
      .init(
        "mirror_wrote",
        { [self] L in
          try mirror(L)?.session.wrote(state.bytes(at: 2, of: L))
          return 0
        }
      ),
      .init(
        "warn_mirror",
        { [self] L in
          mirror(L)?.warn(state.text(at: 2, of: L))
          return 0
        }
      ),
      .init("mirror_status", status), .init("mirror_refusal", refusal),
      .init(
        "fail_mirror",
        { [self] L in
          mirror(L)?.session.fail(state.text(at: 2, of: L).printable)
          return 0
        }
      ),
      .init(
        "fail_change",
        { [self] L in
          mirror(L)?.session.failToPerform(
            onHandle: L.integer(at: 3).map { Int($0) } ?? 0,
            under: L.isString(at: 4) ? state.text(at: 4, of: L) : nil, state.text(at: 2, of: L))
          return 0
        }
      ),
      .init(
        "stop_mirror",
        { [self] L in
          // Its script hears of the end before the mirror is forgotten.
          mirror(L)?.session.stop()
          if let number = L.integer(at: 1) { mirrors[Int(number)] = nil }
          return 0
        }
      ),
    ]
  }

  override func end() {
    for mirror in mirrors.values { mirror.end() }
    mirrors = [:]
  }

  private func mirror(_ L: LuaStack) -> TableMirror? {
    L.integer(at: 1).flatMap { mirrors[Int($0)] }
  }

  /// begin_mirror(name, url, whether it may write, keep, snapshot, key or nil, check, journal or
  /// nil, limit, site, collect, perform, rejected, update) → number.
  private func begin(_ L: LuaStack) throws -> CInt {
    if host.module.isShared || host.sandboxes.current.number != 0 {
      throw LuaError("obs.mirror is not available: the host gives these scripts no connections")
    }
    host.loop.outside?.refuse("a mirror")
    guard host.loop.outside.exchange("mirror", { RunInput() }).result == 0 else {
      throw LuaError("obs.mirror is not available after a replay, which opens no connection")
    }
    var options = defaults
    options.writes = L.boolean(at: 3)
    options.keep = Int(L.integer(at: 4) ?? 0)
    options.snapshot = Int(L.integer(at: 5) ?? 1)
    options.key = L.isString(at: 6) ? state.bytes(at: 6, of: L) : nil
    options.check = L.boolean(at: 7)
    options.journal = L.isString(at: 8) ? state.wholeText(at: 8, of: L) : nil
    options.limit = L.integer(at: 9).map { Int($0) } ?? options.limit
    let functions = try (11...14).map { index throws(LuaError) in
      LuaFunction(pin: try state.pin(at: CInt(index), of: L))
    }
    let mirror = TableMirror(host, state.text(at: 10, of: L), functions)
    do {
      try mirror.connect(
        state.wholeText(at: 1, of: L), at: state.wholeText(at: 2, of: L), options)
    } catch let error as MirrorError {
      throw LuaError("obs.mirror: \(error)")
    }
    last += 1
    mirrors[last] = mirror
    L.push(last)
    return 1
  }

  /// mirror_status(number) → state, pending, version, peers, whether others' batches may come
  /// before own ones, and why it has failed or nil.
  private func status(_ L: LuaStack) throws -> CInt {
    guard let session = mirror(L)?.session else { return 0 }
    try state.push(text: session.state.rawValue, to: L)
    L.push(session.pending)
    L.push(session.version)
    L.push(session.peers)
    L.push(session.unconfirmed > 0)
    if let failure = session.failure { try state.push(text: failure, to: L) } else { L.pushNil() }
    return 6
  }

  private func refusal(_ L: LuaStack) throws -> CInt {
    guard let refusal = mirror(L)?.session.refusal else { return 0 }
    try state.push(text: refusal, to: L)
    return 1
  }
}

extension LuaHost {
  /// The options of mirrors that scripts do not set.
  package var mirrorDefaults: MirrorOptions {
    get { module.mirrors.defaults }
    set { module.mirrors.defaults = newValue }
  }
}
