#if Records
  internal import Observables

  /// The single edit that turns one list into another.
  struct ListEdit<Element: Hashable & Sendable>: Sendable {
    enum Kind: Sendable {
      case none
      /// One element was moved.
      case move(from: Int, to: Int)
      /// Elements in a range were inserted, removed or reordered.
      case replace(Range<Int>, with: [Element])
    }

    let kind: Kind

    /// - Complexity: O(n).
    init(from old: [Element], to new: [Element]) {
      var start = 0
      let shorter = min(old.count, new.count)
      while start < shorter, old[start] == new[start] { start += 1 }
      var (oldEnd, newEnd) = (old.count, new.count)
      while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
        (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
      }
      let (gone, come) = (old[start..<oldEnd], new[start..<newEnd])
      if gone.isEmpty, come.isEmpty {
        kind = .none
      } else if gone.count == come.count, gone.first == come.last,
        gone.dropFirst() == come.dropLast()
      {
        kind = .move(from: start, to: oldEnd - 1)
      } else if gone.count == come.count, gone.last == come.first,
        gone.dropLast() == come.dropFirst()
      {
        kind = .move(from: oldEnd - 1, to: start)
      } else {
        kind = .replace(start..<oldEnd, with: Array(come))
      }
    }

    /// The elements that are not in `old`.
    func newElements(in old: [Element]) -> [Element] {
      guard case .replace(let range, let new) = kind else { return [] }
      let known = Set(old[range])
      return new.filter { !known.contains($0) }
    }

    /// Applies the edit to `old`.
    func result(of old: [Element]) -> [Element] {
      var elements = old
      switch kind {
      case .none: break
      case .move(let from, let to): elements.insert(elements.remove(at: from), at: to)
      case .replace(let range, let new): elements.replaceSubrange(range, with: new)
      }
      return elements
    }
  }

  extension ObservableArray where Element: AnyObject {
    /// Sets these objects by one event, and by a small edit if that is enough.
    func become(_ objects: [Element]) {
      let edit = ListEdit(
        from: elements.map(ObjectIdentifier.init), to: objects.map(ObjectIdentifier.init))
      switch edit.kind {
      case .none: break
      case .move(let from, let to): move(from: from, to: to)
      case .replace(let range, let new):
        replace(range, with: Array(objects[range.lowerBound...].prefix(new.count)))
      }
    }

    /// Replaces the objects of a range by one event.
    func replace(_ range: Range<Int>, with objects: [Element]) {
      if objects.isEmpty {
        removeSubrange(range)
      } else if range.isEmpty {
        insert(contentsOf: objects, at: range.lowerBound)
      } else {
        set(elements[..<range.lowerBound] + objects + elements[range.upperBound...])
      }
    }
  }
#endif
