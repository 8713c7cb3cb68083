/// Joins one step of a path to a slot: a path is a chain of links, and a wildcard's link has one
/// child for each object below it.
///
/// This one record has everything about a link, as each write goes through links.
struct Link {
  let wire: WireRef
  private var memory = Memory.nothing
  /// The index of the component in the path, from 0.
  let step: Int32
  /// Whether this is the last step of the path: values there are not followed.
  let isTerminal: Bool
  /// Whether there is a step to many objects between the root and the link.
  let isFanned: Bool
  /// The effect of a write of the slot.
  var effect: Effect
  /// Whether the path below has to be looked up again before the watcher runs.
  fileprivate(set) var isStale = false
  /// Whether its derived value has to be compared with the last delivered one.
  fileprivate(set) var isDirty = false
  /// Whether a lazy property here was brought up to date since the link became dirty.
  var isSettled = false
  /// Whether there is a new list at this link, whose element the digits in the path follow from the
  /// flush on (C4).
  var awaitsFlush = false
  /// Whether the link was removed from its slot while it was stale or dirty; it is freed when the
  /// list of such links is processed.
  var isDead = false
  /// The state of a step to many objects, an operator or a reader of edits; retained.
  var state: Unmanaged<LinkState>?
  var slot: SlotRef?
  /// Neighbours in the slot.
  var next = Neighbour<Link>()
  var previous = Neighbour<Link>()
  /// The link one step nearer to the root that first found the object of this one.
  var parent: LinkRef?
  /// The first of the links one step further whose objects this link found.
  fileprivate(set) var child: LinkRef?
  /// Neighbours below the same parent.
  fileprivate var sibling: LinkRef?
  fileprivate var previousSibling: LinkRef?
  /// The next stale link of the same wire.
  fileprivate var nextStale: LinkRef?
  /// The next dirty link of the same wire.
  fileprivate var nextDirty: LinkRef?

  init(wire: WireRef, step: Int32, isTerminal: Bool, isFanned: Bool, effect: Effect) {
    (self.wire, self.step, self.isTerminal) = (wire, step, isTerminal)
    (self.isFanned, self.effect) = (isFanned, effect)
  }

  struct Effect: OptionSet {
    let rawValue: UInt8
    /// The path below has to be looked up again.
    static let stale = Effect(rawValue: 1)
    /// A derived value may differ.
    static let dirty = Effect(rawValue: 2)
    /// The watcher is to be called, whatever else changed.
    static let notify = Effect(rawValue: 4)
    /// Only writes that add or remove an object count.
    static let objects = Effect(rawValue: 8)

    /// The status that a write gives to the watcher.
    var status: ObservationCore.WatcherRecord.Status { contains(.notify) ? .stale : .check }
  }
}

extension Link {
  /// The memory of a link: the last delivered version or size, or the object that its digits
  /// follow.
  private enum Memory {
    case nothing
    case version(Int)
    case size(Int)
    case anchor(Int)
    /// The object that the digits followed has left.
    case departed
  }

  /// The version of a lazy property that had no value.
  static let failedVersion = -1

  /// At a lazy property: the version last delivered to the watcher, or used by a dependent
  /// property.
  ///
  /// At a link for all properties of an object: the last version of any property.
  @inline(__always)
  var version: Int? {
    get { if case .version(let version) = memory { version } else { nil } }
    set { memory = newValue.map(Memory.version) ?? .nothing }
  }

  /// At a size (`@count`): the size last delivered to the watcher.
  @inline(__always)
  var size: Int? {
    get { if case .size(let size) = memory { size } else { nil } }
    set { memory = newValue.map(Memory.size) ?? .nothing }
  }

  /// At digits that follow an object: the number by which its kind finds it; nil after it has left.
  @inline(__always)
  var anchor: Int? { if case .anchor(let anchor) = memory { anchor } else { nil } }

  /// Whether digits follow an object, or have followed one.
  @inline(__always)
  var isAnchored: Bool {
    switch memory {
    case .anchor, .departed: true
    case .nothing, .version, .size: false
    }
  }

  /// Makes the digits of this link follow an object.
  mutating func follow(_ anchor: Int) { memory = .anchor(anchor) }

  /// Notes that the object has left.
  mutating func endFollowing() { memory = .departed }
}

typealias LinkRef = UnsafeMutablePointer<Link>

/// The tree of the links of a path.
///
/// A walk along it lists the links first, and skips links that died before their turn.
extension LinkRef {
  /// Whether a link nearer to the root has changed and was not looked up again.
  var isBelowStale: Bool { isBelow { $0.pointee.isStale } }

  /// Whether an object nearer to the root was replaced and was not looked up again.
  ///
  /// A list whose members changed does not count: the element may still be there.
  var isBelowReplaced: Bool { isBelow { $0.pointee.isStale && $0.pointee.state == nil } }

  @inline(__always)
  func isBelow(_ holds: (LinkRef) -> Bool) -> Bool {
    var parent = pointee.parent
    while let link = parent {
      if holds(link) { return true }
      parent = link.pointee.parent
    }
    return false
  }

  /// Adds the link to the tree, as the first child of `parent`.
  func hang(below parent: LinkRef) {
    pointee.parent = parent
    pointee.sibling = parent.pointee.child
    pointee.previousSibling = nil
    parent.pointee.child?.pointee.previousSibling = self
    parent.pointee.child = self
  }

  /// Removes the link from the tree; the links below it stay attached to it.
  func unhang() {
    if pointee.wire.pointee.cursor == self {
      pointee.wire.pointee.cursor = pointee.previousSibling
    }
    if let previous = pointee.previousSibling {
      previous.pointee.sibling = pointee.sibling
    } else if let parent = pointee.parent {
      parent.pointee.child = pointee.sibling
    } else {
      pointee.wire.pointee.top = pointee.sibling
    }
    pointee.sibling?.pointee.previousSibling = pointee.previousSibling
    pointee.sibling = nil
    pointee.previousSibling = nil
  }

  /// Appends the links one step further whose objects this link found.
  func appendChildren(to links: inout [LinkRef]) {
    guard let first = pointee.child else { return }
    links.append(first)
    first.appendSiblings(to: &links)
  }

  /// Appends the links that come after this one below the same parent.
  func appendSiblings(to links: inout [LinkRef]) {
    var sibling = pointee.sibling
    while let link = sibling {
      links.append(link)
      sibling = link.pointee.sibling
    }
  }
}

/// Links that are listed before a walk along them begins; a single link needs no array.
struct ListedLinks: Sequence, IteratorProtocol {
  private var first: LinkRef?
  private var others: [LinkRef] = []
  private var position = 0

  mutating func append(_ link: LinkRef) {
    if first == nil { first = link } else { others.append(link) }
  }

  mutating func next() -> LinkRef? {
    if let link = first {
      first = nil
      return link
    }
    guard position < others.count else { return nil }
    defer { position += 1 }
    return others[position]
  }
}

extension WireRef {
  /// Every link of a path, from the root down; for a tracked computation in the order of its reads.
  var links: ListedLinks {
    var (links, rest) = (ListedLinks(), [LinkRef]())
    var next = pointee.top
    while let link = next {
      links.append(link)
      if let sibling = link.pointee.sibling { rest.append(sibling) }
      next = link.pointee.child ?? rest.popLast()
    }
    return links
  }

  /// The link after `cursor`: the link that a tracked computation expects to use next.
  var linkAfterCursor: LinkRef? {
    pointee.cursor == nil ? pointee.top : pointee.cursor!.pointee.sibling
  }

  /// Inserts a link in front of the other top-level links.
  func hang(_ link: LinkRef) {
    link.pointee.sibling = pointee.top
    pointee.top?.pointee.previousSibling = link
    pointee.top = link
  }

  /// Inserts a link of a tracked computation after the last kept one.
  func insertAfterCursor(_ link: LinkRef) {
    let next = linkAfterCursor
    link.pointee.sibling = next
    next?.pointee.previousSibling = link
    if let cursor = pointee.cursor {
      cursor.pointee.sibling = link
      link.pointee.previousSibling = cursor
    } else {
      pointee.top = link
    }
    pointee.cursor = link
  }

  // MARK: Marks

  func addStale(_ link: LinkRef) {
    link.pointee.isStale = true
    link.pointee.nextStale = pointee.stale
    pointee.stale = link
  }

  func popStale() -> LinkRef? {
    guard let link = pointee.stale else { return nil }
    pointee.stale = link.pointee.nextStale
    link.pointee.nextStale = nil
    link.pointee.isStale = false
    return link
  }

  func addDirty(_ link: LinkRef) { mark(link, &pointee.dirty) }

  @inline(__always)
  func popDirty() -> LinkRef? { pop(&pointee.dirty) }

  /// Adds a link to a single object whose object was written; the link is dirty until the object is
  /// looked at.
  ///
  /// - Returns: whether the link was new in the list.
  func addWritten(_ link: LinkRef) -> Bool {
    if link.pointee.isDirty || link.pointee.isDead { return false }
    mark(link, &pointee.written)
    return true
  }

  func popWritten() -> LinkRef? { pop(&pointee.written) }

  @inline(__always)
  private func mark(_ link: LinkRef, _ first: inout LinkRef?) {
    link.pointee.isDirty = true
    link.pointee.nextDirty = first
    first = link
  }

  @inline(__always)
  private func pop(_ first: inout LinkRef?) -> LinkRef? {
    guard let link = first else { return nil }
    first = link.pointee.nextDirty
    link.pointee.nextDirty = nil
    link.pointee.isDirty = false
    return link
  }
}

extension LinkRef {
  /// The link to the object that was written before this one.
  var nextWritten: LinkRef? { pointee.nextDirty }
}

extension Records {
  /// Walks along the dirty links of a path that still exist, and leaves them in the list.
  ///
  /// `body` may end links. It must not compare the path, which would mark links again.
  @inline(__always)
  func forEachDirty(of wire: WireRef, _ body: (LinkRef) -> Void) {
    guard var link = wire.pointee.dirty else { return }
    hold {
      while true {
        let next = link.pointee.nextDirty
        if !link.pointee.isDead { body(link) }
        guard let next else { return }
        link = next
      }
    }
  }
}
