/// The text format of a graph.
public enum GraphFormat: String, CaseIterable, Sendable {
  /// The language of Graphviz: `dot -Tsvg` draws it.
  case dot
  /// A JSON object with the lists `objects`, `watchers` and `edges`.
  case json
  /// A Mermaid flow chart, which Markdown pages can contain, for example.
  case mermaid
}
