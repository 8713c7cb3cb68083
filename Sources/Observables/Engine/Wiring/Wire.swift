/// One path of one watcher, or the reads of a tracked computation.
///
/// This one record has everything about a path.
struct Wire {
  let watcher: WatcherRef
  let path: Unmanaged<Path>
  let use: Use
  /// Whether the path has one step only.
  let isShort: Bool
  var phase = Phase.attaching
  /// Its position among the paths of its watcher: grows with each added path.
  let index: Int
  /// The link at the root; nil if the root cannot have the first component (nothing is watched
  /// then).
  ///
  /// For a tracked computation this is the first of the links, which are siblings.
  var top: LinkRef?
  /// The first of the stale links.
  var stale: LinkRef?
  /// The first of the dirty links, whose derived value may have changed.
  var dirty: LinkRef?
  /// The last of the links to single objects that were written since `takeWritten`.
  var written: LinkRef?
  /// Neighbours among the paths of the watcher.
  var next = Neighbour<Wire>()
  var previous = Neighbour<Wire>()
  /// The next of the watcher's paths that have stale or dirty links.
  var nextWithWork: WireRef?
  var hasWork = false
  /// The routes of a path that goes over many objects; retained.
  var routes: Unmanaged<Routes>?
  /// The last link that the computation under way has kept.
  ///
  /// Before a computation, while its reads are examined: the last link that was found to be the
  /// same.
  var cursor: LinkRef?
  /// The number of the run of a tracked computation.
  var stamp: UInt32 = 0
  /// Whether objects below the root may have no link: opaque objects below `**`, and objects that a
  /// transaction has to read.
  var hasOthers = false
  /// Whether a misspelt name of the path was already reported, or none was found.
  var hasComplained = false

  enum Use: UInt8 {
    /// The wire follows its path.
    case following
    /// The wire follows its path, but ignores lazy properties of whole objects (C13).
    case followingStored
    /// The wire reads the edits of a list.
    case editing
    /// The wire holds the keys that a tracked computation has read, in the order of the reads.
    case tracking
    /// The wire has one link to each of certain objects, whatever path leads there.
    case objects
  }

  enum Phase: UInt8 {
    /// The links are being made for the first time.
    case attaching
    case attached
    /// The watcher has removed the path: it has no links, and gets no further ones.
    case ended
  }
}

typealias WireRef = UnsafeMutablePointer<Wire>

extension WireRef {
  var hasEnded: Bool { pointee.phase == .ended }
  /// Whether the path has links to exactly the objects at and below the root of its watcher.
  var isWholeTree: Bool {
    guard pointee.phase == .attached, !pointee.hasOthers else { return false }
    if pointee.use == .objects { return isFollowing }
    return pointee.path._withUnsafeGuaranteedRef { $0.isEverythingBelow }
      && pointee.top?.pointee.slot?.pointee.node == pointee.watcher.pointee.root
  }
  /// Whether the path has links to single objects that its watcher follows.
  var isFollowing: Bool {
    pointee.use == .objects && !pointee.watcher.pointee.traits.contains(.covering)
  }
  @inline(__always)
  var routes: Routes? { pointee.routes?._withUnsafeGuaranteedRef { $0 } }
}

extension WatcherRef {
  /// Removes a path.
  func remove(_ wire: WireRef) {
    pointee.wires.remove(wire)
    if !wire.pointee.hasWork { return }
    wire.pointee.hasWork = false
    if pointee.wiresWithWork == wire {
      pointee.wiresWithWork = wire.pointee.nextWithWork
      return
    }
    var other = pointee.wiresWithWork
    while let current = other {
      if current.pointee.nextWithWork == wire {
        current.pointee.nextWithWork = wire.pointee.nextWithWork
        return
      }
      other = current.pointee.nextWithWork
    }
  }
}
