internal import CLua
internal import Lua
internal import Observables

/// Functions that scripts have registered for the end of the program.
final class ExitHooks: ModuleSlice {
  private var hooks: [(function: LuaFunction, site: String, sandbox: UInt32)] = []

  /// Bytes of scripts' memory per function.
  private static let charge = 300

  override var functions: [NamedFunction] {
    [
      .init("on_exit", add),
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
    let hook = LuaFunction(pin: try state.pin(at: 1, of: L))
    try state.charge(Self.charge)
    hooks.append((hook, host.sources.text(host.sources.current(L)), host.sandboxes.current.number))
    return 0
  }

  /// Drops the functions of a sandbox that closes.
  func dropAll(of sandbox: LuaSandbox) {
    let count = hooks.count
    hooks.removeAll { $0.sandbox == sandbox.number }
    let share = host.sandboxes.share(of: sandbox.number)
    state.discharge(Self.charge * (count - hooks.count), from: share)
  }

  /// Calls the hooks, once each, in order of registration.
  func run() {
    while !hooks.isEmpty {
      let due = hooks
      hooks = []
      for hook in due { state.discharge(Self.charge, from: host.sandboxes.share(of: hook.sandbox)) }
      for (hook, site, sandbox) in due where !clua_ishurried() {
        host.reports.run(hook, .exit, name: "on_exit", site: site, in: sandbox)
      }
    }
  }
}
