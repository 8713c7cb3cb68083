/// A table of a script, as a part of a tree of Swift objects (X2).
package protocol TreeTable: ObservableReference {
  /// The identity of the table, for every handle of it.
  var identity: TreeTableIdentity { get }

  /// Whether the table is part of a tree: it is not opaque, and its host is not closed.
  var isPartOfTrees: Bool { get }

  /// A copy of the stored contents, whose objects are entries of `reader`.
  ///
  /// It is nil if the contents cannot be read, because the host is closed or out of memory.
  ///
  /// - Complexity: O(contents)
  func contents(by reader: TreeReader) -> TreeContents?
}

/// The identity of a table, which is unique while something keeps the table alive.
package struct TreeTableIdentity: Hashable {
  private let address: UInt
  private let state: ObjectIdentifier

  /// Makes the identity of the table at an address; `state` is an object that only its Lua state
  /// has.
  package init(_ address: UInt, in state: AnyObject) {
    (self.address, self.state) = (address, ObjectIdentifier(state))
  }
}

/// A table as an object of a tree, which identifies the table and keeps it alive.
final class TableObject: ObservableReference {
  let table: any TreeTable

  init(_ table: any TreeTable) { self.table = table }

  func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    table.observationToken(in: engine)
  }
}
