internal import CTables
internal import Lua
internal import Observables

/// C modules that see observed tables as scripts do (M1), where the program can show them.
final class NativeModules: ModuleSlice {
  override var functions: [NamedFunction] { [.init("native", native)] }

  /// Leaves the C module of a name alone, or shows tables to it; false where there is no memory.
  ///
  /// Nil where none sees more than what Lua gives it.
  private var show: ((String, Bool) -> Bool)?

  /// C modules see tables from now on, and write to them unheard until this reports what they
  /// wrote.
  func begin(_ show: @escaping (String, Bool) -> Bool) {
    self.show = show
    engine.delivery.setWaitingWrites(clua_waitingwrites()) { [unowned self] in hear() }
  }

  override func end() {
    if show != nil { engine.delivery.setWaitingWrites(nil, by: nil) }
    show = nil
  }

  /// Reports what C modules wrote, before watchers are called.
  private func hear() {
    do {
      try state.withStack { L throws(LuaError) in
        try state.check(clua_try_hear(L.pointer), L)
      }
    } catch {
      host.report(error)
    }
  }

  /// native(name, isShown) → whether that can be.
  private func native(_ L: LuaStack) throws -> CInt {
    let (name, isShown) = (state.text(at: 1, of: L), L.boolean(at: 2))
    guard host.sandboxes.mayManage(0) else {
      throw LuaError("obs.native is for scripts of the host: others use its C modules, too")
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
  /// C modules see observed tables as scripts do (M1), by functions of the program that stand in
  /// for Lua's.
  ///
  /// `show` leaves the module of a name alone where it is passed false, or takes that back; it
  /// returns false where there is no memory for it.
  package func showTablesToModules(_ show: @escaping (String, Bool) -> Bool) {
    module.native.begin(show)
  }
}
