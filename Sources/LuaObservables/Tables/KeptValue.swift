internal import Observables

/// A value of a script in a journal: the value itself where it is small, else its number among the
/// values that the journal of its table keeps.
enum KeptValue {
  /// Nil.
  case nothing
  case boolean(Bool)
  case integer(Int64)
  case float(Double)
  /// The value that is kept under a number.
  case kept(Int)
  /// An element of a list that is kept.
  case element(Int, of: Int)
  /// The value at a position of the list now.
  case current(Int)
}

/// A key of a table, compared by type and value.
struct KeptKey: Hashable {
  let identity: Operand
  let value: KeptValue

  static func == (a: KeptKey, b: KeptKey) -> Bool { a.identity == b.identity }
  func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
