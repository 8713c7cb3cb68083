internal import Observables

/// A script's value in a journal: small values are stored directly, others by their number among
/// the values that the journal of their table keeps.
enum KeptValue {
  /// Nil.
  case nothing
  case boolean(Bool)
  case integer(Int64)
  case float(Double)
  /// The value that is kept under a number.
  case kept(Int)
  /// An element of a kept list.
  case element(Int, of: Int)
  /// The value at a position of the present list.
  case current(Int)
}

/// A key of a table, compared by type and value.
struct KeptKey: Hashable {
  let identity: Operand
  let value: KeptValue

  static func == (a: KeptKey, b: KeptKey) -> Bool { a.identity == b.identity }
  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
