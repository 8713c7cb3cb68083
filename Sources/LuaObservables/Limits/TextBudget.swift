internal import Lua

/// The memory for a description or graph: a text made of many parts.
///
/// The parts use the scripts' memory until the text is finished. When it runs out, or scripts must
/// stop, further parts are empty, and `check` throws.
final class TextBudget {
  private let state: LuaState
  private let share: LuaState.Share
  private var used = 0
  private var isExhausted = false

  init(_ state: LuaState) {
    self.state = state
    share = state.share
  }

  /// The approximate number of copies of a part at a time, and the bytes of overhead per part.
  private static let copies = 5
  private static let part = 600

  /// Whether further parts are useless.
  var isSpent: Bool { isExhausted || state.interrupter.isStopping }

  /// Returns a part of the text, or an empty text if there is no memory for it.
  func part(_ text: () -> String) -> String {
    if isSpent { return "" }
    let text = text()
    take(Self.part + Self.copies * text.utf8.count)
    return isExhausted ? "" : text
  }

  /// Takes memory that is already in use.
  func take(_ bytes: Int) {
    used += bytes
    state.chargeAfterwards(bytes, to: share)
    if !state.hasMemory(for: 0, in: share) { isExhausted = true }
  }

  /// - Throws: `memory`, or the error that stops scripts.
  func check() throws(LuaError) {
    try state.checkStop()
    if isExhausted { throw LuaError(.memory, "not enough memory") }
  }

  /// Returns the memory.
  func end() { state.discharge(used, from: share) }
}
