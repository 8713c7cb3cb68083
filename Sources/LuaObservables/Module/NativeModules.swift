internal import CTables
internal import Lua
internal import Observables

/// C modules that see observed tables as scripts do (M1), if the program can show them.
final class NativeModules: ModuleSlice {
  override var functions: [NamedFunction] { [.init("native", native)] }

  /// Shows tables to the named C module (true) or not (false); returns false if memory runs out.
  ///
  /// Nil if C modules see only what Lua gives them.
  private var show: ((String, Bool) -> Bool)?

  /// From now on, C modules see observed tables; their writes go unnoticed until `hear` reports
  /// them.
  func begin(_ show: @escaping (String, Bool) -> Bool) {
    self.show = show
    engine.delivery.setWaitingWrites(clua_waitingwrites()) { [unowned self] in hear() }
  }

  override func end() {
    if show != nil { engine.delivery.setWaitingWrites(nil, by: nil) }
    show = nil
  }

  /// Reports writes of C modules, before watchers are called.
  private func hear() {
    do {
      try state.withStack { L throws(LuaError) in
        try state.check(clua_try_hear(L.pointer), L)
      }
    } catch {
      host.report(error)
    }
  }

  /// native(name, isShown) → whether the program can do this.
  private func native(_ L: LuaStack) throws -> CInt {
    let (name, isShown) = (state.text(at: 1, of: L), L.boolean(at: 2))
    guard host.sandboxes.mayManage(0) else {
      throw LuaError("obs.native is for scripts of the host: other scripts share its C modules")
    }
    if let show {
      guard show(name, isShown) else { throw LuaError("not enough memory") }
      L.push(true)
    } else {
      L.push(!isShown)
    }
    return 1
  }
}

extension LuaHost {
  /// Shows observed tables to C modules as scripts see them (M1), through functions that replace
  /// Lua's.
  ///
  /// `show` leaves the named module alone if it is passed false, or undoes that; it returns false
  /// if memory runs out.
  package func showTablesToModules(_ show: @escaping (String, Bool) -> Bool) {
    module.native.begin(show)
  }
}
