/// How the objects of a tree were found: level by level from the root, each by the first key that
/// led to it.
struct TreeWalk {
  let root: TreeEntry
  private(set) var order: [TreeEntry] = []
  private(set) var parents: [TreeEntry: (owner: TreeEntry, key: DeepChange.Key)] = [:]

  /// - Complexity: O(size of the tree).
  init(from root: TreeEntry, _ contents: (TreeEntry) -> TreeContents) {
    self.root = root
    order = [root]
    var next = 0
    while next < order.count {
      let owner = order[next]
      next += 1
      contents(owner).forEachObject { key, entry in
        guard entry !== root, parents[entry] == nil else { return }
        parents[entry] = (owner, key)
        order.append(entry)
      }
    }
  }

  func contains(_ entry: TreeEntry) -> Bool { entry === root || parents[entry] != nil }

  /// The key of an object in the one that it was found in, which may be a list that has changed.
  func key(of entry: TreeEntry, _ contents: (TreeEntry) -> TreeContents) -> DeepChange.Key? {
    guard let (owner, key) = parents[entry] else { return nil }
    let present = contents(owner)
    if present[key]?.entry === entry { return key }
    return present.list.firstIndex { $0.entry === entry }.map { .index($0 + 1) } ?? key
  }

  func path(to entry: TreeEntry, _ contents: (TreeEntry) -> TreeContents) -> [DeepChange.Key] {
    var (path, entry): ([DeepChange.Key], TreeEntry) = ([], entry)
    while let (owner, _) = parents[entry], let key = key(of: entry, contents) {
      path.append(key)
      entry = owner
    }
    return path.reversed()
  }
}
