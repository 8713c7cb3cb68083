internal import Lua
internal import Observables

/// Conversion of script values for records of writes.
extension LuaState {
  /// The value at an index. [-0, +0, -]
  ///
  /// - Complexity: O(1), also for long strings.
  func recordedValue(at index: CInt, of L: LuaStack) -> RecordedValue {
    switch L.type(at: index) {
    case .nil, .none: .none
    case .boolean: .boolean(L.boolean(at: index))
    case .number:
      L.integer(at: index).map { .integer(Int($0)) } ?? .number(L.number(at: index))
    case .string: .shortened(text(at: index, of: L, most: 8 * RecordedValue.textLimit))
    default: .object(title(at: index, of: L))
    }
  }

  /// Pushes a recorded value; an object is pushed as its name, an unknown value as nil. [-0, +1, -]
  func push(_ value: RecordedValue?, to L: LuaStack) throws(LuaError) {
    switch value {
    case nil, .some(.none): L.pushNil()
    case .boolean(let value): L.push(value)
    case .integer(let value): L.push(value)
    case .number(let value): L.push(value)
    case .text(let text), .object(let text): try push(text: text, to: L)
    }
  }
}
