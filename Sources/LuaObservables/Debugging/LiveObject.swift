/// Something that scripts have begun, and that has not ended.
package struct LiveObject: Hashable, CustomStringConvertible {
  package enum Kind: String {
    case watcher, timer, handler, task
  }

  package let kind: Kind
  /// The name of a watcher, or the function that made the rest; the site where it has none.
  package let name: String
  /// Where it was made, "file:line".
  package let site: String

  /// Such as "timer every at a.lua:3".
  package var description: String {
    kind == .task || name == site ? "\(kind) at \(site)" : "\(kind) \(name) at \(site)"
  }
}
