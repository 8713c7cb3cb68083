internal import CLua
internal import Lua
internal import Observables

/// Functions that scripts have registered for the end of the program.
final class ExitHooks: ModuleSlice {
  private var hooks: [(function: LuaFunction, site: String, owner: ScriptOwner)] = []

  /// Bytes of scripts' memory per function.
  private static let charge = 300

  override var functions: [NamedFunction] {
    [
      .init("on_exit", most: 1, add),
      .init(
        "run_exit_hooks",
        { [self] _ in
          run(); return 0
        }
      ),
    ]
  }

  override func end() { hooks = [] }

  private func add(_ L: LuaStack) throws -> CInt {
    try arguments.checkFunction(at: 1, of: L, "on_exit")
    try host.module.reloading.noteCallback(at: 1, L)
    let hook = LuaFunction(pin: try state.pin(at: 1, of: L))
    let owner = try host.sandboxes.registering()
    try state.charge(Self.charge)
    hooks.append((hook, host.sources.text(host.sources.current(L)), owner))
    return 0
  }

  override func end(of sandbox: UInt32) { dropAll { $0.sandbox == sandbox } }

  /// Drops the functions of some owners.
  func dropAll(where isEnding: (ScriptOwner) -> Bool) {
    for hook in hooks where isEnding(hook.owner) { discharge(hook.owner) }
    hooks.removeAll { isEnding($0.owner) }
  }

  private func discharge(_ owner: ScriptOwner) {
    state.discharge(Self.charge, from: host.sandboxes.share(of: owner.sandbox))
  }

  /// Calls the hooks, once each, in order of registration.
  func run() {
    while !hooks.isEmpty {
      let due = hooks
      hooks = []
      for hook in due { discharge(hook.owner) }
      for (hook, site, owner) in due where !clua_ishurried() {
        host.reports.run(hook, .exit, name: "on_exit", site: site, in: owner)
      }
    }
  }
}
