import LibC

/// The memory of records.
///
/// The order of sets of records follows from their addresses, so a run that is to be repeated takes
/// them from a place where they are the same in each run.
package enum RecordMemory {
  /// Makes and frees memory; nil for the functions of the system.
  ///
  /// Set before the first record is made.
  package typealias Source = (
    make: (_ size: Int) -> UnsafeMutableRawPointer?,
    free: (_ memory: UnsafeMutableRawPointer, _ size: Int) -> Void
  )
  // Safe: only set in programs with one thread.
  package nonisolated(unsafe) static var source: Source?

  @inline(never)
  fileprivate static func make(_ size: Int) -> UnsafeMutableRawPointer {
    // `malloc` does the same as `allocate`, without requesting an alignment that any memory has.
    (source.map { $0.make(size) } ?? malloc(size))!
  }

  @inline(never)
  fileprivate static func free(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    if let source { source.free(memory, size) } else { LibC.free(memory) }
  }
}

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
      pointer = RecordMemory.make(MemoryLayout<Record>.stride)
        .assumingMemoryBound(to: Record.self)
    }
    pointer.initialize(to: record)
    return pointer
  }

  @inline(__always)
  mutating func free(_ pointer: UnsafeMutablePointer<Record>) {
    if count == limit { return RecordMemory.free(pointer, MemoryLayout<Record>.stride) }
    let record = UnsafeMutableRawPointer(pointer)
    record.storeBytes(of: spare, as: UnsafeMutableRawPointer?.self)
    spare = record
    count += 1
  }

  mutating func drain() {
    while let first = spare {
      spare = first.load(as: UnsafeMutableRawPointer?.self)
      RecordMemory.free(first, MemoryLayout<Record>.stride)
    }
    count = 0
  }
}
