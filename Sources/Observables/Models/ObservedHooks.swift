/// What is called when a key of an object gets its first watcher, or loses its last (W1): one hook
/// of the program, and one for each host of scripts.
struct ObservedHooks {
  typealias Hook = (_ key: String, _ isObserved: Bool) -> Void

  private var hooks: [(owner: ObjectIdentifier?, hook: Hook)] = []

  var isEmpty: Bool { hooks.isEmpty }

  /// Replaces the hook of an owner, nil for the program; nil removes it.
  mutating func set(_ hook: Hook?, of owner: ObjectIdentifier?) {
    hooks.removeAll { $0.owner == owner }
    if let hook { hooks.append((owner, hook)) }
  }

  func call(_ key: String, _ isObserved: Bool) {
    for (_, hook) in hooks { hook(key, isObserved) }
  }
}
