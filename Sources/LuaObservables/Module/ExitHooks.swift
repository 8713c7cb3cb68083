internal import CLua
internal import Lua
internal import Observables

/// Functions that scripts registered for the end of the program.
final class ExitHooks: ModuleSlice {
  private var hooks: [(function: LuaFunction, site: String, sandbox: UInt32)] = []

  override var functions: [(String, ModuleFunction)] {
    [
      ("on_exit", add),
      (
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
    hooks.append((hook, host.sources.text(host.sources.current(L)), host.sandboxes.current.number))
    return 0
  }

  /// Calls the hooks, once each, in the order of registration.
  func run() {
    while !hooks.isEmpty, !clua_ishurried() {
      let (hook, site, sandbox) = hooks.removeFirst()
      host.reports.run(hook, .exit, name: "on_exit", site: site, in: sandbox)
    }
  }
}
