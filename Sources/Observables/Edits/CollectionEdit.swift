/// One step from the former contents of a list to its present ones (C10).
///
/// Edits are applied in order; each position is that at the time of its application.
public enum CollectionEdit<Element> {
  /// An element was put in.
  case insert(Element, at: Int)
  /// An element was taken out.
  case remove(Element, at: Int)
  /// An element was replaced by another one.
  case replace(Element, with: Element, at: Int)
  /// An element was taken out at `from` and then put in at `at`.
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

  /// Takes this edit of a list back.
  func undo(in list: inout [Element]) {
    switch self {
    case .insert(_, let position): list.remove(at: position)
    case .remove(let element, let position): list.insert(element, at: position)
    case .replace(let element, _, let position): list[position] = element
    case .move(_, let from, let position): list.insert(list.remove(at: position), at: from)
    }
  }
}

/// The change of one key of a dictionary, or one member of a set.
public struct KeyedEdit<Key, Value> {
  /// The key, or the member of a set.
  public let key: Key
  /// The value before; nil where the key was not there.
  public let old: Value?
  /// The value now; nil where the key is not there any longer.
  public let new: Value?

  package init(key: Key, old: Value?, new: Value?) {
    (self.key, self.old, self.new) = (key, old, new)
  }
}

extension KeyedEdit: Equatable where Key: Equatable, Value: Equatable {}
extension KeyedEdit: Sendable where Key: Sendable, Value: Sendable {}
