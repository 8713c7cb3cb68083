/// Hooks that are called when a key of an object gets its first watcher or loses its last one (W1).
///
/// There is at most one for the program, and one for each host of scripts.
struct ObservedHooks {
  typealias Hook = (_ key: String, _ isObserved: Bool) -> Void

  private var hooks: [(owner: ObjectIdentifier?, hook: Hook)] = []

  var isEmpty: Bool { hooks.isEmpty }

  /// Replaces the hook of an owner, which is nil for the program; a nil hook removes it.
  mutating func set(_ hook: Hook?, of owner: ObjectIdentifier?) {
    hooks.removeAll { $0.owner == owner }
    if let hook { hooks.append((owner, hook)) }
  }

  func call(_ key: String, _ isObserved: Bool) {
    for (_, hook) in hooks { hook(key, isObserved) }
  }
}
