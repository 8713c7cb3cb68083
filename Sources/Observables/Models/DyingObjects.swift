/// Recognizes objects whose `deinit` is running: they must not be retained beyond it.
///
/// The runtime has no call for this on all systems. It keeps a bit in the header of each object, at
/// the same place since Swift 5. A test, made once, checks that the bit is there. If it isn't, no
/// object counts as dying.
package enum DyingObjects {
  package static func contain(_ object: Unmanaged<AnyObject>) -> Bool {
    isKnown && isMarked(object.toOpaque())
  }

  /// The header consists of the type and the reference counts; if an object has weak references,
  /// the counts are in a separate table.
  private static func isMarked(_ object: UnsafeMutableRawPointer) -> Bool {
    var counts = object.load(fromByteOffset: 8, as: UInt64.self)
    if counts >> 63 != 0 {
      // Immortal objects have no table.
      guard counts & 0xFFFF_FFFF != 0xFFFF_FFFF,
        let table = UnsafeRawPointer(bitPattern: UInt(counts & ~(3 << 62)) << 3)
      else { return false }
      counts = table.load(fromByteOffset: 16, as: UInt64.self)
    }
    return counts & 1 << 32 != 0
  }

  private static let isKnown: Bool = {
    guard MemoryLayout<Int>.size == 8 else { return false }
    return [false, true].allSatisfy { isReferredToWeakly in
      let finding = Finding()
      var probe: Probe? = Probe(finding)
      if isReferredToWeakly { finding.probe = probe }
      let isMarkedAlive = isMarked(Unmanaged.passUnretained(probe!).toOpaque())
      probe = nil
      return !isMarkedAlive && finding.isMarkedDying
    }
  }()

  private final class Finding {
    weak var probe: Probe?
    var isMarkedDying = false
  }

  private final class Probe {
    let finding: Finding
    init(_ finding: Finding) { self.finding = finding }
    deinit { finding.isMarkedDying = isMarked(Unmanaged.passUnretained(self).toOpaque()) }
  }
}
