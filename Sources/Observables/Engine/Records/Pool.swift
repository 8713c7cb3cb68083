import Glibc

/// Raw records of one type, given out again in constant time; beyond `limit` spare ones the memory
/// goes back.
struct Pool<Record> {
  /// The first of the spare records, each of which begins with the address of the next one.
  private var spare: UnsafeMutableRawPointer?
  private var count = 0
  #if UNPOOLED
    /// No record is kept for the address sanitizer, which finds uses of an ended record only in
    /// freed memory.
    private let limit = 0
  #else
    private let limit = 4096
  #endif

  @inline(__always)
  mutating func make(_ record: consuming Record) -> UnsafeMutablePointer<Record> {
    let pointer: UnsafeMutablePointer<Record>
    if let first = spare {
      spare = first.load(as: UnsafeMutableRawPointer?.self)
      count -= 1
      pointer = first.assumingMemoryBound(to: Record.self)
    } else {
      // This does what `allocate` does, without asking for an alignment that any memory has.
      pointer = malloc(MemoryLayout<Record>.stride)!.assumingMemoryBound(to: Record.self)
    }
    pointer.initialize(to: record)
    return pointer
  }

  @inline(__always)
  mutating func free(_ pointer: UnsafeMutablePointer<Record>) {
    if count == limit { return Glibc.free(pointer) }
    let record = UnsafeMutableRawPointer(pointer)
    record.storeBytes(of: spare, as: UnsafeMutableRawPointer?.self)
    spare = record
    count += 1
  }

  mutating func drain() {
    while let first = spare {
      spare = first.load(as: UnsafeMutableRawPointer?.self)
      Glibc.free(first)
    }
    count = 0
  }
}
