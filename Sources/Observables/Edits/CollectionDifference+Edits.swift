extension CollectionDifference {
  /// The effect of `edits` on a list of `count` elements, as the standard library represents it:
  /// elements that were put in and taken out again are left out, and a move is a removal and an
  /// insertion that belong together.
  ///
  /// - Complexity: O(n · edits).
  public init(_ edits: some Sequence<CollectionEdit<ChangeElement>>, ofListWith count: Int) {
    // A place says where an element came from, or which of the new ones it is.
    var places = (0..<count).map { Place.old($0) }
    var removed: [Int: ChangeElement] = [:]
    var added: [ChangeElement] = []
    func take(_ place: Place, _ element: ChangeElement) {
      if case .old(let index) = place { removed[index] = element }
    }
    for edit in edits {
      switch edit {
      case .insert(let element, let position):
        places.insert(.new(added.count), at: position)
        added.append(element)
      case .remove(let element, let position):
        take(places.remove(at: position), element)
      case .replace(let old, let element, let position):
        take(places[position], old)
        places[position] = .new(added.count)
        added.append(element)
      case .move(let element, let from, let position):
        var place = places.remove(at: from)
        if case .old(let index) = place {
          removed[index] = element
          place = .moved(index)
        }
        places.insert(place, at: position)
      }
    }
    var changes: [Change] = []
    var offsets: [Int: Int] = [:]
    for (offset, place) in places.enumerated() {
      switch place {
      case .old: break
      case .new(let index):
        changes.append(.insert(offset: offset, element: added[index], associatedWith: nil))
      case .moved(let index):
        offsets[index] = offset
        changes.append(
          .insert(offset: offset, element: removed[index]!, associatedWith: index))
      }
    }
    for (index, element) in removed {
      changes.append(.remove(offset: index, element: element, associatedWith: offsets[index]))
    }
    self.init(changes)!
  }
}

/// Where an element of an edited list came from.
private enum Place {
  case old(Int)
  case moved(Int)
  case new(Int)
}
