internal import Lua
internal import Observables

/// The endings of scripts' watchers, and the calls of their `on_end` callbacks (L3).
final class ScriptEndings {
  // The host is not retained: it owns this object through the receiver.
  private let reference: Unmanaged<LuaHost>
  private let state: LuaState
  private let observed: ObservedObjects
  /// Endings whose path the engine has not named yet.
  @exclusivity(unchecked) private var waiting: [Ending] = []

  /// A due call of `on_end`, which runs in a separate turn.
  private struct Ending {
    let watcher: UInt64
    /// The slot of the anchor table that holds the callback; 0 if Lua has freed it.
    let slot: Int
    let name: String
    let site: String
    let sandbox: UInt32
    /// The memory share that pays for the ending, and its bytes.
    let share: LuaState.Share
    var size: Int { 600 + 2 * name.utf8.count }
  }

  init(_ host: LuaHost) {
    reference = .passUnretained(host)
    (state, observed) = (host.state, ObservedObjects(host))
  }

  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  /// Drops the due calls when the host closes.
  func end() { waiting = [] }

  /// Notes the ending of a watcher whose observed object was collected; the kept values are on top
  /// of the stack, nil if Lua has freed them.
  func note(_ watcher: WatcherRef, _ L: LuaStack) {
    var name = host.sources.text(watcher.script.pointee.site)
    let site = name
    var slot = 0
    if L.isTable(at: -1) {
      if L.rawGet(index: ScriptWatcher.key(watcher, .name), at: -1) == .string {
        name = state.text(at: -1, of: L)
      }
      L.pop()
      L.rawGet(index: ScriptWatcher.key(watcher, .end), at: -1)
      slot = host.anchors.keep(L)
    }
    let ending = Ending(
      watcher: watcher.pointee.id, slot: slot, name: name, site: site,
      sandbox: watcher.script.pointee.sandbox,
      share: state.share(named: watcher.pointee.payer))
    // This must not fail, so charge the memory afterwards.
    state.chargeAfterwards(ending.size, to: ending.share)
    waiting.append(ending)
  }

  /// Removes an ended watcher's values from its observed object.
  func ended(_ watcher: WatcherRef, observedDied path: Path?) {
    let data = watcher.script
    let root = data.pointee.root
    if !host.isClosed {
      let L = state.stack
      if data.pointee.parts.contains(.observer) {
        host.paths.pushObserver(watcher.pointee.index, to: L)
        host.objects.unshare(L)
        L.pop()
        host.paths.forgetObserver(watcher.pointee.index, L)
      }
      if path == nil, !root.isDead {
        if data.pointee.isAwaited { endWait(of: watcher, L) }
        observed.forget(ScriptWatcher.key(watcher, .callback), of: root, L)
        if data.pointee.parts.contains(.equals) {
          observed.forget(ScriptWatcher.key(watcher, .equals), of: root, L)
        }
        if data.pointee.parts.contains(.end) {
          observed.forget(ScriptWatcher.key(watcher, .end), of: root, L)
        }
        if data.pointee.parts.contains(.name) {
          observed.forget(ScriptWatcher.key(watcher, .name), of: root, L)
        }
        if data.pointee.parts.contains(.keys) {
          observed.forget(ScriptWatcher.key(watcher, .keys), of: root, L)
        }
        if data.pointee.parts.contains(.driver) {
          observed.forget(ScriptWatcher.key(watcher, .driver), of: root, L)
        }
      }
      if let path, let index = waiting.firstIndex(where: { $0.watcher == watcher.pointee.id }) {
        let ending = waiting.remove(at: index)
        let text = path.text
        host.loop.deferToNextTurn { [self, reference = host.reference] in
          reference.use { _ in report(ending, path: text) }
        }
      }
    }
    if !data.pointee.isInternal {
      host.sandboxes[data.pointee.sandbox].quotas.giveWatcherBack()
    }
    state.discharge(ScriptWatcher.charge, from: state.share(named: watcher.pointee.payer))
    data.deallocate()
  }

  /// Wakes the task that waits for a watcher, in a separate turn: calls the callback without an
  /// object.
  private func endWait(of watcher: WatcherRef, _ L: LuaStack) {
    let data = watcher.script
    observed.pushKept(ScriptWatcher.key(watcher, .callback), of: data.pointee.root, to: L)
    let slot = host.anchors.keep(L)
    guard slot != 0 else { return }
    let (site, sandbox) = (host.sources.text(data.pointee.site), data.pointee.sandbox)
    host.loop.deferToNextTurn { [self, reference = host.reference] in
      reference.use { _ in
        call(slot, of: sandbox, "next_change", site) { L in L.pushNil() }
      }
    }
  }

  /// Calls the function in a slot of the anchor table, with one argument, and frees the slot.
  private func call(
    _ slot: Int, of sandbox: UInt32, _ name: String, _ site: String,
    _ pushArgument: (LuaStack) throws(LuaError) -> Void
  ) {
    guard !host.isClosed else { return }
    try? state.withStack { L throws(LuaError) in
      host.anchors.push(slot, to: L)
      host.anchors.release(slot, L)
      try pushArgument(L)
      guard host.sandboxes.isOpen(sandbox) else { return }
      host.sandboxes.entered(sandbox) {
        do throws(LuaError) { try state.tracedCall(arguments: 1, L) } catch {
          host.reports.report(error, .hook, name: name, site: site)
        }
      }
    }
  }

  private func report(_ ending: Ending, path: [UInt8]) {
    guard !host.isClosed else { return }
    state.discharge(ending.size, from: ending.share)
    guard ending.slot != 0 else {
      return host.reports.report(
        LuaError("it cannot be called: there was no memory, or no room for a call, to keep it"),
        .hook, name: "on_end of \(ending.name)", site: ending.site)
    }
    call(ending.slot, of: ending.sandbox, "on_end of \(ending.name)", ending.site) {
      L throws(LuaError) in try state.push(bytes: path, to: L)
    }
  }
}
