/// Finds the moves in a batch of own changes (A4).
///
/// Trees report changes of a list as single insertions, removals and replacements. If others have
/// changed the list first, some of these may no longer fit. So an element that one of them takes
/// out and another one puts back could be lost or doubled. Therefore:
/// - An object that stays in its list is moved by one operation, which finds it by identity.
/// - An object that goes to another list is removed and inserted, and not replaced:
///   `MirrorDocument` makes both or neither.
/// - Values have no identity, so edits that reorder them are made together, or not at all.
struct MirrorMoves {
  private(set) var operations: [MirrorOperation] = []
  /// Objects that are taken from a list, and stored in the same batch.
  private var moved: Set<ObjectIdentifier> = []

  init(in batch: [MirrorOperation]) {
    var stored: Set<ObjectIdentifier> = []
    for operation in batch {
      if let node = operation.taken { moved.insert(ObjectIdentifier(node)) }
    }
    if !moved.isEmpty {
      for operation in batch { operation.forEachStored { stored.insert(ObjectIdentifier($0)) } }
      moved.formIntersection(stored)
    }
    var rest = batch[...]
    while let first = rest.first {
      let run = rest.prefix { $0.edited != nil && $0.target === first.target }
      add(run)
      if run.isEmpty { operations.append(first) }
      rest = rest.dropFirst(max(1, run.count))
    }
  }

  /// Adds the edits of one list.
  private mutating func add(_ edits: ArraySlice<MirrorOperation>) {
    guard edits.count > 1 || edits.contains(where: concernsMoved), let list = edits.first?.target
    else { return operations += edits }
    var (old, new): (Set<MirrorKey>, Set<MirrorKey>) = ([], [])
    for edit in edits {
      if let value = edit.edited?.old.flatMap(MirrorMoves.key) { old.insert(value) }
      if let value = edit.edited?.new.flatMap(MirrorMoves.key) { new.insert(value) }
    }
    if !old.isDisjoint(with: new) {
      operations.append(.reorder(list, Array(edits)))
    } else if edits.contains(where: concernsMoved) {
      operations += moves(in: list, edits)
    } else {
      operations += edits
    }
  }

  private func concernsMoved(_ edit: MirrorOperation) -> Bool {
    [edit.edited?.old, edit.edited?.new].contains { value in
      value?.node.map { moved.contains(ObjectIdentifier($0)) } ?? false
    }
  }

  /// A value that is no object, in a form that is the same for 1 and 1.0 (T5).
  private static func key(_ value: MirrorValue) -> MirrorKey? {
    if case .number(let number) = value, let integer = Int64(exactly: number) {
      return .integer(integer)
    }
    return MirrorKey(value)
  }

  /// The same edits, with a move for each object that stays in the list.
  ///
  /// First, elements that do not stay are removed, from the last to the first. Then each new or
  /// moved element is put behind its predecessor in the new list, from the first to the last.
  private func moves(
    in node: MirrorNode, _ edits: ArraySlice<MirrorOperation>
  ) -> [MirrorOperation] {
    // The new list, as indices in the old one, or -1 for a new element.
    let old = node.list
    var (new, values) = (Array(old.indices), old)
    var removed: [Int] = []
    for edit in edits {
      guard let (former, value) = edit.edited else { continue }
      let at = min(edit.index ?? 0, new.count)
      if former != nil {
        // The document is the tree as it was before the batch.
        guard at < new.count else { return Array(edits) }
        if new[at] >= 0 { removed.append(new[at]) }
        new.remove(at: at)
        values.remove(at: at)
      }
      if let value {
        new.insert(-1, at: at)
        values.insert(value, at: at)
      }
    }
    var places: [ObjectIdentifier: [Int]] = [:]
    for place in removed.sorted(by: >) {
      if let child = old[place].node { places[ObjectIdentifier(child), default: []].append(place) }
    }
    var isMoved: Set<Int> = []
    for index in new.indices where new[index] < 0 {
      guard let child = values[index].node,
        let place = places[ObjectIdentifier(child)]?.popLast()
      else { continue }
      new[index] = place
      isMoved.insert(place)
    }
    var made: [MirrorOperation] = []
    var present = Array(old.indices)
    for place in removed.sorted(by: >) where !isMoved.contains(place) {
      made.append(.remove(node, at: place, old: old[place]))
      present.remove(at: place)
    }
    // The index behind the last element that has its place.
    var next = 0
    for (index, place) in new.enumerated() {
      if place < 0 {
        let at = next == present.count ? MirrorOperation.end : next
        made.append(.insert(node, at: at, values[index]))
        present.insert(-1, at: next)
      } else if !isMoved.contains(place) {
        // Between them are elements that are moved later.
        while present[next] != place { next += 1 }
      } else if let from = present.firstIndex(of: place) {
        present.remove(at: from)
        if from < next { next -= 1 }
        present.insert(place, at: next)
        if from != next { made.append(.move(node, at: from, values[index], to: next)) }
      }
      next += 1
    }
    return made
  }
}

extension MirrorOperation {
  fileprivate var index: Int? {
    switch self {
    case .insert(_, let at, _), .remove(_, let at, _), .replace(_, let at, _, _): at
    default: nil
    }
  }
}
