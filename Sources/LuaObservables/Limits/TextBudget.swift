internal import Lua

/// The memory for a description or graph, a text that is made of many parts.
///
/// The parts draw from the memory of scripts until the text is finished. Where there is no more, or
/// where scripts are to stop, parts are empty, and `check` throws.
final class TextBudget {
  private let state: LuaState
  private let share: LuaState.Share
  private var used = 0
  private var isExhausted = false

  init(_ state: LuaState) {
    self.state = state
    share = state.share
  }

  /// How many copies of a part there are at a time, and the bytes of what belongs to a part; about.
  private static let copies = 5
  private static let part = 600

  /// Whether no more parts are wanted.
  var isSpent: Bool { isExhausted || state.interrupter.isStopping }

  /// A part of the text, if there is memory for it.
  func part(_ text: () -> String) -> String {
    if isSpent { return "" }
    let text = text()
    take(Self.part + Self.copies * text.utf8.count)
    return isExhausted ? "" : text
  }

  /// Takes memory that was used already.
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

  /// Gives the memory back.
  func end() { state.discharge(used, from: share) }
}
