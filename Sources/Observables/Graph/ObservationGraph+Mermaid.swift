extension ObservationGraph {
  /// The graph as a Mermaid flow chart.
  var mermaid: String {
    var lines = ["flowchart LR"]
    for (index, object) in wanted(objects.enumerated()) {
      let name = id(.object(index))
      if object.keys.isEmpty {
        lines.append("  \(name)[\(quoted(title(object)))]")
        continue
      }
      lines.append("  subgraph \(name)[\(quoted(title(object)))]")
      for (position, key) in object.keys.enumerated() {
        let box = quoted(title(key))
        lines.append(
          "    \(id(.key(object: index, key: position)))"
            + (key.lazy == nil ? "[\(box)]" : "(\(box))"))
      }
      lines.append("  end")
    }
    for (index, watcher) in wanted(watchers.enumerated()) {
      lines.append("  \(id(.watcher(index)))([\(quoted(title(watcher)))])")
    }
    for edge in wanted(edges) {
      let label = edge.path.map { "|\(quoted($0))|" } ?? ""
      let arrow = edge.kind == .holds ? "---" : edge.isWhole ? "-->" : "-.->"
      lines.append("  \(id(edge.from)) \(arrow)\(label) \(id(target(of: edge)))")
    }
    return (lines + [""]).joined(separator: "\n")
  }

  /// The target of an edge; if an object holds itself, it is the key, because Mermaid draws no edge
  /// from inside a box to that box.
  private func target(of edge: Edge) -> End {
    if case .key(let object, _) = edge.from, edge.to == .object(object) { return edge.from }
    return edge.to
  }

  /// Escapes text between quotes, where only entities are safe.
  private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      // A text that is a Markdown mark would become a list.
      case "\"", "#", "&", "<", ">", "`", "*":
        result += "#\(scalar.value);"
      default: result.unicodeScalars.append(scalar.printable)
      }
    }
    return result + "\""
  }
}
