/// How a graph is written down.
public enum GraphFormat: String, CaseIterable, Sendable {
  /// The language of Graphviz: `dot -Tsvg` draws it.
  case dot
  /// One object with the lists `objects`, `watchers` and `edges`.
  case json
  /// A flow chart as Mermaid draws it, in Markdown for instance.
  case mermaid
}
