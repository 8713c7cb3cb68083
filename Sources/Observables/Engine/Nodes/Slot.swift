extension ObservationCore {
  /// The record of one observed key of one node.
  ///
  /// Raw memory: a write reaches it without reference counts, locks or exclusivity checks. C reads
  /// the first eight bytes. On every write of the key models, too, read the first byte: while it is
  /// 0, no watcher has to be notified. This one record has everything about a key.
  @_documentation(visibility: internal)
  public struct Slot {
    /// Which writes are reported: bits of `Wants`.
    package var wants: UInt8
    /// Whether a lazy property is valid: the last computed value is its value.
    package var isValid = false
    /// Whether this is the slot of `*`.
    package var isEvery: Bool
    /// Whether this slot is in the engine's list of slots that are quiet until a watcher was
    /// called.
    var isQuiet = false
    /// The number of the tracked run that last read the key.
    package internal(set) var stamp: UInt32 = 0
    /// Whether its node is gone, or no longer needs it; its memory stays while it is in the list of
    /// quiet slots.
    var isDead = false
    /// Whether there is a link to the single object, for which only some writes are reported.
    var isSelective = false
    /// How many links have a watcher that is notified in each write instead of once per turn:
    /// immediate watchers, and watchers with their own comparison (`equals`).
    var eager: Int32 = 0
    /// How many of the eager links have a watcher with its own comparison: these watchers also
    /// receive writes that T5 regards as no change, as their function may decide otherwise.
    var comparing: Int32 = 0
    /// How many links there are, as `observerCount` returns it (W1).
    package var count: Int32 = 0
    package let node: NodeRef
    /// The kind's identification of the key; for a Swift property its index.
    package let key: Int
    /// The links of the key, in order of registration.
    var links = RecordList<Link>()
    /// The next slot of the same node.
    var next = Neighbour<Slot>()
    /// The lazy property of the key; nil for an ordinary key.
    package internal(set) var lazy: WatcherRef?

    init(wants: UInt8, isEvery: Bool, node: NodeRef, key: Int) {
      (self.wants, self.isEvery, self.node, self.key) = (wants, isEvery, node, key)
    }

    package struct Wants {
      /// Writes that change the value are reported.
      package static let changes: UInt8 = 1
      /// Every write is reported.
      package static let writes: UInt8 = 2
      /// The old and the new value are reported, too.
      package static let values: UInt8 = 4
      /// Writes that bring an object, or take one away, are reported with their values.
      package static let objects: UInt8 = 8
    }
  }
}

extension ObservationCore {
  /// A pointer to a slot.
  @_documentation(visibility: internal)
  public typealias SlotRef = UnsafeMutablePointer<Slot>
}

extension SlotRef {
  /// The address of `isValid`.
  var validity: UnsafePointer<Bool> {
    UnsafePointer(
      UnsafeMutableRawPointer(self).advanced(by: MemoryLayout<Slot>.offset(of: \.isValid)!)
        .assumingMemoryBound(to: Bool.self))
  }

  /// Whether a watcher watches the key, or a lazy property depends on it.
  package var isLinked: Bool { !pointee.links.isEmpty }

  func append(_ link: LinkRef) {
    link.pointee.slot = self
    pointee.links.append(link)
    pointee.count += 1
    if link.pointee.wire.pointee.use == .objects { pointee.isSelective = true }
    countEager(link.pointee.wire.pointee.watcher.pointee.traits, by: 1)
  }

  func remove(_ link: LinkRef) {
    pointee.links.remove(link)
    pointee.count -= 1
    let watcher = link.pointee.wire.pointee.watcher
    countEager(watcher.pointee.traits, by: -1)
    link.pointee.slot = nil
    if link.pointee.wire.pointee.use == .objects {
      let other = pointee.node.engine.records.first(from: pointee.links.first) {
        $0.pointee.wire.pointee.use == .objects
      }
      pointee.isSelective = other != nil
    }
  }

  private func countEager(_ traits: WatcherRecord.Traits, by count: Int32) {
    if traits.isDisjoint(with: [.immediate, .comparing]) { return }
    pointee.eager += count
    if traits.contains(.comparing) { pointee.comparing += count }
  }

  /// The kinds of writes that the watchers need.
  ///
  /// - Complexity: O(1).
  @inline(__always)
  var needs: UInt8 {
    typealias Wants = ObservationCore.Slot.Wants
    if pointee.isSelective { return Wants.changes | Wants.writes | Wants.values | Wants.objects }
    var wants: UInt8 = pointee.links.isEmpty ? 0 : Wants.changes
    if pointee.eager > 0 { wants |= Wants.values }
    if pointee.comparing > 0 { wants |= Wants.writes }
    return wants
  }
}
