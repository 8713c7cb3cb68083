extension ObservationGraph {
  /// A JSON object with the lists `objects`, `watchers` and `edges`, one element per line.
  var json: String {
    let objects = texts(of: self.objects.enumerated()) { index, object in
      let keys = object.keys.enumerated().map { position, key in
        self.object([
          ("id", quoted(id(.key(object: index, key: position)))), ("name", quoted(key.name)),
          ("lazy", key.lazy.map { quoted($0.state.rawValue) }),
          ("tracked", key.lazy?.isTracked == true ? "true" : nil),
          ("site", key.lazy?.site.map(quoted)),
        ])
      }
      return self.object([
        ("id", quoted(id(.object(index)))), ("type", quoted(object.type)),
        ("place", object.place.map(quoted)), ("keys", "[\(keys.joined(separator: ", "))]"),
      ])
    }
    let watchers = texts(of: self.watchers.enumerated()) { index, watcher in
      object([
        ("id", quoted(id(.watcher(index)))), ("name", quoted(watcher.name)),
        ("site", watcher.site.map(quoted)),
        ("notes", "[\(watcher.notes.map(quoted).joined(separator: ", "))]"),
      ])
    }
    let edges = texts(of: self.edges) { edge in
      object([
        ("kind", quoted(edge.kind.rawValue)), ("from", quoted(id(edge.from))),
        ("to", quoted(id(edge.to))), ("path", edge.path.map(quoted)),
        ("whole", edge.isWhole ? nil : "false"),
      ])
    }
    let lists = [("objects", objects), ("watchers", watchers), ("edges", edges)].map {
      name, elements in
      let lines = elements.map { "    \($0)" }.joined(separator: ",\n")
      return "  \"\(name)\": [" + (elements.isEmpty ? "]" : "\n\(lines)\n  ]")
    }
    return "{\n\(lists.joined(separator: ",\n"))\n}\n"
  }

  private func texts<Elements: Sequence>(
    of elements: Elements, _ text: (Elements.Element) -> String
  ) -> [String] {
    var texts: [String] = []
    for element in wanted(elements) { texts.append(text(element)) }
    return texts
  }

  /// A JSON object of the fields that have a value.
  private func object(_ fields: [(name: String, value: String?)]) -> String {
    let texts = fields.compactMap { field in field.value.map { "\"\(field.name)\": \($0)" } }
    return "{\(texts.joined(separator: ", "))}"
  }

  private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
