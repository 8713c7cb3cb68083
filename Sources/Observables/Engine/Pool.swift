/// Raw records of one type, given out again in constant time; beyond `limit` spare ones the memory
/// goes back.
struct Pool<Record> {
  private var spare: [UnsafeMutablePointer<Record>] = []
  private let limit = 4096

  mutating func make(_ record: consuming Record) -> UnsafeMutablePointer<Record> {
    let pointer = spare.popLast() ?? .allocate(capacity: 1)
    pointer.initialize(to: record)
    return pointer
  }

  mutating func free(_ pointer: UnsafeMutablePointer<Record>) {
    if spare.count < limit { spare.append(pointer) } else { pointer.deallocate() }
  }

  mutating func drain() {
    for pointer in spare { pointer.deallocate() }
    spare = []
  }
}
