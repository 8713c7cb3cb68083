import Glibc

/// Raw records of one type, made and freed in constant time.
struct Pool<Record> {
  private var memory = RecordMemory(size: MemoryLayout<Record>.stride)

  @inline(__always)
  mutating func make(_ record: consuming Record) -> UnsafeMutablePointer<Record> {
    let pointer = memory.take().assumingMemoryBound(to: Record.self)
    pointer.initialize(to: record)
    return pointer
  }

  @inline(__always)
  mutating func free(_ pointer: UnsafeMutablePointer<Record>) { memory.giveBack(pointer) }

  mutating func drain() { memory.drain() }
}

/// The memory of records of one size.
///
/// They lie side by side in pages, which are aligned: the address of a record leads to its page.
/// What no record uses any more goes back by the page, but for a few, which are the first to be
/// used again. The owner drains it when no record is left.
package struct RecordMemory {
  private struct Page {
    var next: UnsafeMutablePointer<Page>?
    var previous: UnsafeMutablePointer<Page>?
    /// The first of the records that are free again, each of which begins with the address of the
    /// next one.
    var spare: UnsafeMutableRawPointer?
    /// Where the records begin that were never used.
    var fresh: UnsafeMutableRawPointer
    /// How many records are in use.
    var used = 0
  }

  private typealias PageRef = UnsafeMutablePointer<Page>

  private static let alignment = 1 << 14
  /// What `malloc` needs for itself is left out: so pages lie side by side, too.
  private static let pageSize = alignment - 16
  /// How many pages without a record in use are kept.
  private static let emptyLimit = 16

  private let size: Int
  private let capacity: Int
  /// The first of the pages that have room.
  private var first: PageRef?
  private var emptyPages = 0

  package init(size: Int) {
    self.size = size
    capacity = (Self.pageSize - MemoryLayout<Page>.stride) / size
  }

  #if UNPOOLED
    // The address sanitizer finds uses of an ended record only in freed memory.

    package mutating func take() -> UnsafeMutableRawPointer { malloc(size)! }
    package mutating func giveBack(_ record: UnsafeMutableRawPointer) { free(record) }
  #else
    package mutating func take() -> UnsafeMutableRawPointer {
      let page = first ?? makePage()
      let record: UnsafeMutableRawPointer
      if let spare = page.pointee.spare {
        page.pointee.spare = spare.load(as: UnsafeMutableRawPointer?.self)
        record = spare
      } else {
        record = page.pointee.fresh
        page.pointee.fresh = record + size
      }
      if page.pointee.used == 0 { emptyPages -= 1 }
      page.pointee.used += 1
      if page.pointee.used == capacity { unlink(page) }
      return record
    }

    package mutating func giveBack(_ record: UnsafeMutableRawPointer) {
      let page = PageRef(bitPattern: UInt(bitPattern: record) & ~UInt(Self.alignment - 1))
        .unsafelyUnwrapped
      record.storeBytes(of: page.pointee.spare, as: UnsafeMutableRawPointer?.self)
      page.pointee.spare = record
      if page.pointee.used == capacity { link(page) }
      page.pointee.used -= 1
      if page.pointee.used > 0 { return }
      if emptyPages < Self.emptyLimit {
        emptyPages += 1
      } else {
        unlink(page)
        free(page)
      }
    }
  #endif

  package mutating func drain() {
    var next = first
    while let page = next {
      next = page.pointee.next
      if page.pointee.used > 0 { continue }
      unlink(page)
      free(page)
    }
    emptyPages = 0
  }

  @inline(never)
  private mutating func makePage() -> PageRef {
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, Self.alignment, Self.pageSize) == 0, let memory else {
      fatalError("no memory is left for the records of observation")
    }
    let page = memory.bindMemory(to: Page.self, capacity: 1)
    page.initialize(to: Page(fresh: memory + MemoryLayout<Page>.stride))
    emptyPages += 1
    link(page)
    return page
  }

  private mutating func link(_ page: PageRef) {
    page.pointee.previous = nil
    page.pointee.next = first
    first?.pointee.previous = page
    first = page
  }

  private mutating func unlink(_ page: PageRef) {
    if let previous = page.pointee.previous {
      previous.pointee.next = page.pointee.next
    } else {
      first = page.pointee.next
    }
    page.pointee.next?.pointee.previous = page.pointee.previous
  }
}
