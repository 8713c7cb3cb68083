extension Path {
  /// Whether the path is `**`.
  var isEverythingBelow: Bool { components.count == 1 && components[0].kind == .deep }

  /// Checks the components behind the first `**` of a path (X1).
  ///
  /// - Throws: `PathError` for a component that has no meaning there.
  func checkDeep() throws(PathError) {
    for (step, component) in components.enumerated() where step > deepStep {
      switch component.kind {
      case .name, .key, .every, .deep, .slot: continue
      case .element, .member, .operation:
        throw PathError(
          .unsupported, path: description, component: step + 1,
          detail: "only names, '*', 'count' and '#n' can follow '**', not '\(component)'"
            + (component.kind == .element ? " (write '#\(component)')" : ""))
      }
    }
  }
}

extension Path.Component {
  /// `*`, in the form that the engine uses.
  package static var every: Path.Component { Path.Component(kind: .every, bytes: [42]) }
}
