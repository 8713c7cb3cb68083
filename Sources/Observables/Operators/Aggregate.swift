package struct Aggregate {
  package init(_ operation: Operation) {}
  package mutating func add(_ operand: Operand, times: Int = 1) {}
  package mutating func remove(_ operand: Operand, times: Int = 1) {}
  package mutating func removeAll() {}
  package mutating func noteOrder() {}
  package var value: Value { mutating get { .none } }
  package mutating func takeChange() -> Bool { false }
  package enum Value: Equatable { case none, integer(Int), float(Double), boolean(Bool), text([UInt8]), value(AnyHashable), list, failure(Operand) }
}
