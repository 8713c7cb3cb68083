/// Something that scripts have begun and that has not ended.
package struct LiveObject: Hashable, CustomStringConvertible {
  package enum Kind: String {
    case watcher, timer, handler, task
  }

  package let kind: Kind
  /// The watcher's name, or the function that made the other kinds; the site if it has no name.
  package let name: String
  /// The place where it was made, "file:line".
  package let site: String

  /// A description such as "timer every at a.lua:3".
  package var description: String {
    kind == .task || name == site ? "\(kind) at \(site)" : "\(kind) \(name) at \(site)"
  }
}
