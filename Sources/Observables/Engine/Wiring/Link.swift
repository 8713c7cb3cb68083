/// Joins one step of a path to a slot: a path is a chain of links, and a wildcard's link has one
/// child for each object below it.
struct Link {
  let wire: WireRef
  /// Which component of the path this is, from 0.
  let step: Int32
  /// The last step of the path: what is stored there is not followed.
  let isTerminal: Bool
  /// A step to many objects lies between it and the root.
  let isFanned: Bool
  /// What a write of the slot does.
  var effect: Effect
  /// What is below has to be looked up again before the watcher runs.
  var isStale = false
  /// Its derived value has to be compared with the one that was delivered.
  var isDirty = false
  /// A list has come to lie behind it, and digits in it are followed from the flush on (C4).
  var awaitsFlush = false
  /// It was taken out of its slot while it was stale or dirty; freed by whoever works that list
  /// off.
  var isDead = false
  /// What a step to many objects, an operator or a reader of edits remembers; retained.
  var state: Unmanaged<LinkState>?
  /// What was delivered to the watcher last of a value that is compared, or what digits follow.
  ///
  /// A link has one of these at most: `version`, `size` or `anchor`.
  private var memory = Link.noVersion
  var slot: SlotRef?
  /// Neighbours in the slot.
  var next: LinkRef?
  var previous: LinkRef?
  /// The link one step nearer to the root that has found the object of this one.
  var parent: LinkRef?
  /// The first link one step further, of those whose objects this one has found.
  var child: LinkRef?
  /// Neighbours below the same parent.
  var sibling: LinkRef?
  var previousSibling: LinkRef?
  /// The next stale link of the same wire.
  var nextStale: LinkRef?
  /// The next dirty link of the same wire.
  var nextDirty: LinkRef?

  init(wire: WireRef, step: Int32, isTerminal: Bool, isFanned: Bool, effect: Effect) {
    (self.wire, self.step, self.isTerminal) = (wire, step, isTerminal)
    (self.isFanned, self.effect) = (isFanned, effect)
  }

  struct Effect: OptionSet {
    let rawValue: UInt8
    /// What is below has to be looked up again.
    static let stale = Effect(rawValue: 1)
    /// A derived value may be another one.
    static let dirty = Effect(rawValue: 2)
    /// The watcher is to be called, whatever else changed.
    static let notify = Effect(rawValue: 4)

    /// What a write is to the watcher.
    var status: ObservationCore.WatcherRecord.Status { contains(.notify) ? .stale : .check }
  }
}

extension Link {
  /// No lazy property lies at the link.
  static let noVersion = Int.min
  /// The version of a lazy property that had no value.
  static let failedVersion = -1

  /// At a lazy property: the version of it that was delivered to the watcher last, or has used.
  ///
  /// Where a link hears of all properties of an object, the last version there was of any.
  @inline(__always)
  var version: Int {
    get { memory }
    set { memory = newValue }
  }

  @inline(__always)
  var hasVersion: Bool { memory != Link.noVersion }

  /// At a size (`@count`): the one that was delivered to the watcher last.
  @inline(__always)
  var size: Int {
    get { memory }
    set { memory = newValue }
  }

  /// Of digits that follow an object: by what its kind knows it; nil when it has left.
  @inline(__always)
  var anchor: Int? { memory > 0 ? memory : nil }

  /// Digits follow an object, or have followed one.
  @inline(__always)
  var hasAnchor: Bool { memory != Link.noVersion }

  /// The digits of this link follow an object, by which its kind knows it (above 0).
  mutating func follow(_ anchor: Int) { memory = anchor }

  /// The object has left.
  mutating func endFollowing() { memory = 0 }
}

typealias LinkRef = UnsafeMutablePointer<Link>
