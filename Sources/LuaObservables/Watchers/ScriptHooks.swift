internal import Lua
internal import Observables

/// The hooks of `on_observed`: each sandbox can have one per object.
final class ScriptHooks {
  // The host is not retained: it owns this object.
  private let reference: Unmanaged<LuaHost>
  private let state: LuaState
  private let tables: TableKind
  private let observed: ObservedObjects
  private let sandboxes: Sandboxes
  /// The numbers of the sandboxes that have set hooks, in order.
  @exclusivity(unchecked) private var owners: [UInt32] = []
  /// Calls that wait for the next turn.
  @exclusivity(unchecked) private var held: [HeldHook] = []
  /// Whether the next turn will make the waiting calls.
  @exclusivity(unchecked) private var isHeldScheduled = false
  /// The number of nested running hooks and comparisons.
  @exclusivity(unchecked) private var depth = 0

  init(_ host: LuaHost, _ tables: TableKind, _ observed: ObservedObjects) {
    reference = .passUnretained(host)
    (state, sandboxes) = (host.state, host.sandboxes)
    (self.tables, self.observed) = (tables, observed)
  }

  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  /// A call of a hook that others caused and that waits for the next turn, because the allowance
  /// for such calls is spent (S5).
  private struct HeldHook {
    let sandbox: UInt32
    let object: LuaValue
    let key: LuaValue
    let isObserved: Bool

    /// Whether the two calls cancel each other.
    func cancels(_ other: HeldHook) -> Bool {
      sandbox == other.sandbox && object == other.object && key == other.key
        && isObserved != other.isObserved
    }
  }

  /// Whether a hook or a comparison of a script is running.
  var isRunning: Bool { depth > 0 }

  /// Runs `body`, which calls a hook or a comparison.
  @inline(__always)
  func running<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    depth += 1
    defer { depth -= 1 }
    return try state.interrupter.withLimitedMemory(body)
  }

  /// Notes that a sandbox has set a hook.
  func note(of sandbox: UInt32) {
    if owners.contains(sandbox) { return }
    owners.append(sandbox)
    owners.sort()
  }

  /// Stops calling the hooks of a sandbox that closes.
  func drop(of sandbox: UInt32) { owners.removeAll { $0 == sandbox } }

  /// Drops the waiting calls when the host closes.
  func end() { held = [] }

  /// Whether some sandbox has a hook for an object.
  func exist(for root: NodeRef) -> Bool {
    let L = state.stack
    return owners.contains { sandbox in
      defer { L.pop() }
      return pushHook(of: sandbox, root, to: L)
    }
  }

  /// Calls the `on_observed` hooks for a key of a table.
  func call(_ slot: SlotRef, name: String, isObserved: Bool) {
    call(of: slot.pointee.node, slot, name: name, isObserved: isObserved)
  }

  /// Calls the `on_observed` hooks, each on the account of its sandbox.
  func call(
    of root: NodeRef, _ slot: SlotRef? = nil, name: String, isObserved: Bool
  ) {
    let L = state.stack
    guard !owners.isEmpty, L.hasRoom(for: 24) else { return }
    reference.keeping { callAll(of: root, slot, name: name, isObserved: isObserved, L) }
  }

  private func callAll(
    of root: NodeRef, _ slot: SlotRef?, name: String, isObserved: Bool, _ L: LuaStack
  ) {
    let height = L.height
    defer { L.height = height }
    for sandbox in owners where !root.isDead {
      L.height = height
      guard pushHook(of: sandbox, root, to: L) else { continue }
      observed.push(root, to: L)
      guard pushKey(slot, name: name, to: L) else { continue }
      if sandboxes.isOverdrawn(sandbox) {
        hold(sandbox, isObserved, L)
      } else {
        callHook(of: sandbox, isObserved, L)
      }
    }
  }

  /// Calls the waiting hooks while there is time; the others wait again.
  fileprivate func callHeld() {
    let L = state.stack
    let height = L.height
    defer { L.height = height }
    let calls = held
    (held, isHeldScheduled) = ([], false)
    for held in calls where sandboxes.isOpen(held.sandbox) {
      L.height = height
      guard L.hasRoom(for: 24), (try? state.push(held.object, to: L)) != nil,
        let root = try? host.arguments.existingNode(at: height + 1, of: L, "on_observed"),
        pushHook(of: held.sandbox, root, to: L), (try? state.push(held.object, to: L)) != nil,
        (try? state.push(held.key, to: L)) != nil
      else { continue }
      if sandboxes.hasSpentAllowance(held.sandbox) {
        hold(held.sandbox, held.isObserved, L)
      } else {
        callHook(of: held.sandbox, held.isObserved, L)
      }
    }
  }

  /// Pushes a sandbox's hook for an object; pushes nil and returns false without one. [-0, +1, -]
  private func pushHook(of sandbox: UInt32, _ root: NodeRef, to L: LuaStack) -> Bool {
    observed.pushKept(ScriptWatcher.hookKey(of: sandbox), of: root, to: L)
    return L.isFunction(at: -1)
  }

  /// Pushes the key for a hook's call; returns false if memory runs out. [-0, +1, -]
  private func pushKey(_ slot: SlotRef?, name: String, to L: LuaStack) -> Bool {
    if let slot, slot.pointee.node.kind === tables, !slot.pointee.isEvery {
      // A string key is pushed itself, as it may contain any bytes.
      TableKind.pushKey(of: slot, to: L)
      if L.isString(at: -1) { return true }
      L.pop()
    }
    return (try? state.push(text: name, to: L)) != nil
  }

  /// Calls a hook with the object and key above it. [-3, +0, -]
  private func callHook(of sandbox: UInt32, _ isObserved: Bool, _ L: LuaStack) {
    sandboxes.entered(sandbox, .allowance) {
      if state.interrupter.isStopping { return }
      running {
        L.push(isObserved)
        let site = host.sources.text(host.sources.definition(L.height - 3, L))
        do throws(LuaError) { try state.tracedCall(arguments: 3, L) } catch {
          host.reports.report(error, .hook, name: "on_observed", site: site)
        }
      }
    }
  }

  /// Keeps a call of a hook for the next turn, with the object and key on top of the stack, unless
  /// it cancels a waiting call. [-0, +0, -]
  private func hold(_ sandbox: UInt32, _ isObserved: Bool, _ L: LuaStack) {
    guard let object = try? state.value(at: -2, of: L), let key = try? state.value(at: -1, of: L)
    else { return }
    let hook = HeldHook(sandbox: sandbox, object: object, key: key, isObserved: isObserved)
    if let index = held.lastIndex(where: hook.cancels) {
      held.remove(at: index)
      return
    }
    held.append(hook)
    if isHeldScheduled { return }
    isHeldScheduled = true
    host.loop.nextTurn { [reference = host.reference] in
      reference.use { $0.receiver.hooks.callHeld() }
    }
  }
}
