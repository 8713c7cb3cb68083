/// One step from the former contents of a list to its current ones (C10).
///
/// Edits are applied in order. Each position is valid at the time when its edit is applied.
@frozen public enum CollectionEdit<Element> {
  /// An element was inserted.
  case insert(Element, at: Int)
  /// An element was removed.
  case remove(Element, at: Int)
  /// An element was replaced by another one.
  case replace(Element, with: Element, at: Int)
  /// An element was removed at `from` and then inserted at `at`.
  case move(Element, from: Int, at: Int)
}

extension CollectionEdit: Equatable where Element: Equatable {}
extension CollectionEdit: Sendable where Element: Sendable {}

extension CollectionEdit {
  /// Applies this edit to a list.
  ///
  /// - Complexity: O(n).
  public func apply<List: RangeReplaceableCollection & MutableCollection>(to list: inout List)
  where List.Element == Element, List.Index == Int {
    switch self {
    case .insert(let element, let position): list.insert(element, at: position)
    case .remove(_, let position): list.remove(at: position)
    case .replace(_, let element, let position): list[position] = element
    case .move(_, let from, let position): list.insert(list.remove(at: from), at: position)
    }
  }

  /// Undoes this edit of a list.
  @inlinable func undo(in list: inout [Element]) {
    switch self {
    case .insert(_, let position): list.remove(at: position)
    case .remove(let element, let position): list.insert(element, at: position)
    case .replace(let element, _, let position): list[position] = element
    case .move(_, let from, let position): list.insert(list.remove(at: position), at: from)
    }
  }
}

/// The change of one key of a dictionary, or of one member of a set.
public struct KeyedEdit<Key, Value> {
  /// The key, or the member of a set.
  public let key: Key
  /// The previous value; nil if the key did not exist.
  public let old: Value?
  /// The current value; nil if the key no longer exists.
  public let new: Value?

  @inlinable package init(key: Key, old: Value?, new: Value?) {
    (self.key, self.old, self.new) = (key, old, new)
  }
}

extension KeyedEdit: Equatable where Key: Equatable, Value: Equatable {}
extension KeyedEdit: Sendable where Key: Sendable, Value: Sendable {}
