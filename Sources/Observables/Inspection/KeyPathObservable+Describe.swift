extension KeyPathObservable {
  /// Describes the watchers and lazy properties of this object as text (W2).
  ///
  /// The text has the full path of each watcher and the place of its registration. For each lazy
  /// property, it shows the validity, the dependencies and the dependents. No property is computed
  /// for this. If several loops of this thread observe the object, they are described one after the
  /// other.
  ///
  /// - Complexity: O(keys + paths).
  public func describe() -> String {
    let title = "\(type(of: self))"
    let nodes = settledNodes
    if nodes.isEmpty {
      guard let engine = LoopsHere().all.first?.engine else { return "\(title) is not observed" }
      return ObjectDescription(swiftObjectsIn: engine).text(of: nil, title: title)
    }
    return nodes.map { node in
      ObjectDescription(swiftObjectsIn: node.engine)
        .text(of: node, title: node.numbered(title))
    }.joined(separator: "\n")
  }
}

extension ObjectDescription {
  fileprivate init(swiftObjectsIn engine: Engine) {
    self.init(in: engine, naming: { $0.pointee.node.kind.name(of: $0) }) { watcher, path in
      let (name, site) = watcher.pointee.receiver.takeUnretainedValue().label(watcher)
      let place = site.map { ", registered at \($0)" } ?? ""
      return (name == site ? "" : "\(name) ") + "on '\(path)'" + place + watcher.notes()
    }
  }
}
