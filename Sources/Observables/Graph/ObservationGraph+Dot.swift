extension ObservationGraph {
  /// The graph in the language of Graphviz.
  var dot: String {
    var lines = [
      "digraph observation {", "  rankdir=LR;", "  node [fontname=\"Helvetica\", fontsize=11];",
      "  edge [fontname=\"Helvetica\", fontsize=9];",
    ]
    for (index, object) in wanted(objects.enumerated()) {
      let fields = object.keys.enumerated().map { key, value in
        "<k\(key + 1)> \(field(title(value)))"
      }
      let label = (["<t> \(field(title(object)))"] + fields).joined(separator: " | ")
      lines.append("  \(id(.object(index))) [shape=record, label=\"\(label)\"];")
    }
    for (index, watcher) in wanted(watchers.enumerated()) {
      lines.append(
        "  \(id(.watcher(index))) [shape=ellipse, label=\"\(text(title(watcher)))\"];")
    }
    for edge in wanted(edges) {
      var attributes: [String] = []
      // A dependency on a key of the same name needs no label.
      if let path = edge.path, edge.kind == .watches || path != name(edge.to) {
        attributes.append("label=\"\(text(path))\"")
      }
      switch edge.kind {
      case .watches: break
      case .depends: attributes.append("color=blue")
      case .holds: attributes.append("arrowhead=odiamond, color=gray")
      }
      if !edge.isWhole { attributes.append("style=dashed") }
      let suffix = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
      lines.append("  \(port(edge.from)) -> \(port(edge.to))\(suffix);")
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  private func name(_ end: End) -> String? {
    guard case .key(let object, let key) = end else { return nil }
    return objects[object].keys[key].name
  }

  private func port(_ end: End) -> String {
    switch end {
    case .watcher: id(end)
    case .object: "\(id(end)):t"
    case .key(let object, let key): "\(id(.object(object))):k\(key + 1)"
    }
  }

  /// Escapes text between quotes, where backslashes begin escapes and `&` begins an entity.
  private func text(_ text: String) -> String {
    escaped(text, "\\\"")
  }

  /// Escapes text in a field of a record, where more characters have a meaning.
  private func field(_ text: String) -> String { escaped(text, "\\\"{}|<>") }

  private func escaped(_ text: String, _ marks: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar == "&" {
        result += "&amp;"
      } else {
        if marks.unicodeScalars.contains(scalar) { result += "\\" }
        result.unicodeScalars.append(scalar.printable)
      }
    }
    return result
  }
}
