import Glibc

/// Raw records of one type that are reused in constant time; spare records beyond `limit` are
/// freed.
struct Pool<Record> {
  /// The first spare record; each spare record begins with the address of the next one.
  private var spare: UnsafeMutableRawPointer?
  private var count = 0
  #if UNPOOLED
    /// The address sanitizer finds uses of an ended record only in freed memory, so no record is
    /// kept.
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
      // Does the same as `allocate`, without requesting an alignment that any memory has.
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
