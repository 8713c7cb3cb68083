/// A table of a script, as a part of a tree of Swift objects (X2).
package protocol TreeTable: ObservableReference, Hashable {
  /// Whether the table is part of a tree: it is not opaque, and its host is not closed.
  var isPartOfTrees: Bool { get }

  /// A copy of the stored contents; nil if they cannot be read any more.
  ///
  /// - Complexity: O(contents)
  func copyContents() -> TreeTableContents?
}

/// The stored contents of a table: Swift values, and `TreeTable` for tables.
package struct TreeTableContents {
  /// The collection that the table is; nil for a plain table.
  package var type: DeepChange.CollectionType?
  /// The name of the model that the table is an instance of.
  package var model: String?
  /// The values of the keys 1…n.
  package var list: [Any] = []
  /// The values of other keys.
  package var fields: [DeepChange.Key: Any] = [:]
  /// The members of a set.
  package var members: [AnyHashable] = []
  /// Whether integer keys follow behind a hole, so that 1…n are no list.
  package var isSparse = false

  package init() {}
}

/// A table as an object of a tree, which identifies the table and keeps it alive.
final class TableObject: ObservableReference {
  let table: any TreeTable

  init(_ table: any TreeTable) { self.table = table }

  func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    table.observationToken(in: engine)
  }
}
