/// A record of how the objects of a tree were found: each by the first key that led to it.
struct TreeWalk {
  typealias Place = (owner: TreeEntry, key: DeepChange.Key)

  let root: TreeEntry
  private let found: Found
  /// The places before the walk was mended, if they have changed.
  private var former: [TreeEntry: Place] = [:]

  /// The state that all copies of a walk share, so that mending copies nothing.
  private final class Found {
    var places: [TreeEntry: Place] = [:]
    /// The number of places in which each object is stored.
    var uses: [TreeEntry: Int] = [:]

    /// Counts the places of objects in added (1) or removed (-1) contents.
    func count(_ contents: TreeContents, _ change: Int) {
      contents.forEachObject { _, entry in uses[entry, default: 0] += change }
    }
  }

  private init(root: TreeEntry) { (self.root, found) = (root, Found()) }

  /// Walks level by level; also returns the objects in the order in which they were found.
  ///
  /// - Complexity: O(size of the tree).
  static func walk(
    from root: TreeEntry, _ contents: (TreeEntry) -> TreeContents
  ) -> (walk: TreeWalk, entries: [TreeEntry]) {
    let walk = TreeWalk(root: root)
    let entries = [root] + walk.extend(from: [(root, (0, 0), 0)], contents)
    for entry in entries { walk.found.count(contents(entry), 1) }
    return (walk, entries)
  }

  func place(of entry: TreeEntry) -> Place? { former[entry] ?? found.places[entry] }

  func contains(_ entry: TreeEntry) -> Bool { entry === root || place(of: entry) != nil }

  /// All objects of the tree, in no order.
  var entries: [TreeEntry] { [root] + found.places.keys }
}

/// Following writes, at the cost of the changes alone.
extension TreeWalk {
  struct Mended {
    /// The walk before the writes.
    let former: TreeWalk
    let came: [TreeEntry]
    let left: [TreeEntry]
    /// Whether an object may be reachable in an unknown way, which makes the walk useless.
    let isLost: Bool
  }

  /// Mends the walk after writes to some of its objects.
  ///
  /// - Complexity: O(contents of written, added and removed objects).
  func mend(
    _ written: [TreeEntry], before: (TreeEntry) -> TreeContents,
    after: (TreeEntry) -> TreeContents
  ) -> Mended {
    var old = self
    var missing: [TreeEntry] = []
    var changed: [(entry: TreeEntry, ends: TreeContents.Ends)] = []
    for entry in written {
      let (former, present) = (before(entry), after(entry))
      if !former.hasObjects, !present.hasObjects { continue }
      let ends = TreeContents.commonEnds(former, present)
      changed.append((entry, ends))
      var isThere: Set<TreeEntry> = []
      present.forEachObject(except: ends) { _, child in
        found.uses[child, default: 0] += 1
        isThere.insert(child)
      }
      var knowsAll = ends == (0, 0)
      former.forEachObject(except: ends) { _, child in
        let uses = found.uses[child, default: 0] - 1
        found.uses[child] = uses
        if found.places[child]?.owner !== entry || isThere.contains(child) { return }
        if uses > 0, !knowsAll {
          // The object may also be at one of the ends.
          present.forEachObject { _, child in isThere.insert(child) }
          knowsAll = true
        }
        if isThere.insert(child).inserted { missing.append(child) }
      }
    }
    var loose: Set<TreeEntry> = []
    var inOrder: [TreeEntry] = []
    for entry in missing where loose.insert(entry).inserted {
      var work = [entry]
      while let next = work.popLast() {
        inOrder.append(next)
        before(next).forEachObject { _, child in
          if found.places[child]?.owner === next, loose.insert(child).inserted {
            work.append(child)
          }
        }
        old.former[next] = found.places.removeValue(forKey: next)
      }
    }
    for entry in inOrder { found.count(after(entry), -1) }
    // Objects that were cut off may be stored elsewhere, including the ends of these lists.
    let isShared = inOrder.contains { found.uses[$0, default: 0] > 0 }
    let sources = changed.filter { !loose.contains($0.entry) }
      .map { Source($0.entry, isShared ? (0, 0) : $0.ends, depth(of: $0.entry)) }
    let reached = extend(from: sources, after)
    for entry in reached { found.count(after(entry), 1) }
    let left = inOrder.filter { found.places[$0] == nil }
    var isLost = false
    for entry in left where found.uses.removeValue(forKey: entry) != 0 { isLost = true }
    return Mended(
      former: old, came: reached.filter { !loose.contains($0) }, left: left, isLost: isLost)
  }

  /// An object whose contents `extend` visits, except for the ends of its list, and its distance
  /// from the root.
  private typealias Source = (entry: TreeEntry, ends: TreeContents.Ends, depth: Int)

  /// Adds the objects that `sources` lead to and that the walk lacks, each by the shortest way;
  /// returns them.
  private func extend(
    from sources: [Source], _ contents: (TreeEntry) -> TreeContents
  ) -> [TreeEntry] {
    let sources = sources.sorted { $0.depth < $1.depth }
    var added: [Source] = []
    var (source, next) = (0, 0)
    while source < sources.count || next < added.count {
      let isSource =
        next == added.count || source < sources.count && sources[source].depth <= added[next].depth
      let owner = isSource ? sources[source] : added[next]
      if isSource { source += 1 } else { next += 1 }
      contents(owner.entry).forEachObject(except: owner.ends) { key, entry in
        guard entry !== root, found.places[entry] == nil else { return }
        found.places[entry] = (owner.entry, key)
        added.append((entry, (0, 0), owner.depth + 1))
      }
    }
    return added.map(\.entry)
  }

  /// The number of steps to an object.
  private func depth(of entry: TreeEntry) -> Int {
    var (depth, entry) = (0, entry)
    while let (owner, _) = found.places[entry] { (depth, entry) = (depth + 1, owner) }
    return depth
  }
}
