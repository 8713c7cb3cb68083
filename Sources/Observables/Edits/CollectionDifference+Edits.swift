extension CollectionDifference {
  /// Makes the effect of `edits` on a list of `count` elements, in the form of the standard
  /// library.
  ///
  /// Elements that were inserted and removed again are left out. A move is a removal associated
  /// with an insertion.
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

/// The origin of an element in an edited list.
private enum Place {
  case old(Int)
  case moved(Int)
  case new(Int)
}
