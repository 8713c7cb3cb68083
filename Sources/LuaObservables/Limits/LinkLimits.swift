internal import Lua

/// The memory and the time that the engine takes to follow the key paths of scripts (S1, S3).
struct LinkLimits {
  private let state: LuaState

  init(_ state: LuaState) { self.state = state }

  /// The share of memory that pays for links that are made now.
  var payer: UnsafeMutableRawPointer? { state.share.name }

  /// Takes memory of scripts, or gives it back; what is too much is noticed by `check`.
  func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {
    state.chargeAfterwards(bytes, to: state.share(named: payer))
  }

  /// - Throws: `memory` and `timeLimit`, or `interrupted`.
  func check() throws(LuaError) {
    try state.checkMemory()
    if state.interrupter.isEngineStopping { try state.checkStop() }
  }
}
