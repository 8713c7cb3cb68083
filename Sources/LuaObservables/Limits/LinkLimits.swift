internal import Lua

/// The memory and time for following the key paths of scripts (S1, S3).
struct LinkLimits {
  private let state: LuaState

  init(_ state: LuaState) { self.state = state }

  /// The memory share that pays for new links.
  var payer: UnsafeMutableRawPointer? { state.share.name }

  /// Charges or returns memory of scripts; `check` reports an excess.
  func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) {
    state.chargeAfterwards(bytes, to: state.share(named: payer))
  }

  /// - Throws: `memory` and `timeLimit`, or `interrupted`.
  func check() throws(LuaError) {
    try state.checkMemory()
    try checkTime()
  }

  /// - Throws: `timeLimit`, or `interrupted`.
  func checkTime() throws(LuaError) {
    if state.interrupter.isEngineStopping { try state.checkStop() }
  }
}
