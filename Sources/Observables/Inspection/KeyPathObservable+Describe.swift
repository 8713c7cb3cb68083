extension KeyPathObservable {
  /// The watchers of this object, with the place of each registration and the full path, and which
  /// of its properties are lazy: whether they are valid, what they depend on, and what depends on
  /// them (W2).
  ///
  /// No property is computed for this. Of several loops those of this thread are described, one
  /// after the other.
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
      ObjectDescription(swiftObjectsIn: node.engine).text(of: node, title: title)
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
