extension Path {
  /// Checks the operators of a path as far as possible without its objects (C9).
  ///
  /// - Throws: `PathError` for an operator that does not exist, and for components that have no
  ///   meaning behind an operator.
  package func checkOperators() throws(PathError) {
    for (step, component) in components.enumerated() {
      if component.kind == .operation {
        guard let operation = component.operation else {
          let nearest = nearestName(
            to: component.name, among: Operation.allCases.map(\.rawValue))
          throw PathError(
            .unknownName, path: description, component: step + 1,
            detail: "there is no operator '\(component)'"
              + didYouMean(nearest.map { "@\($0)" }))
        }
        if operation == .count, step < components.count - 1 {
          throw unsupported(step + 1, "nothing can follow '@count', which is a number")
        }
      }
      guard step > aggregateStep else { continue }
      switch component.kind {
      case .every, .deep:
        throw unsupported(
          step,
          "'\(component)' cannot follow '\(components[aggregateStep])': nest the operators instead")
      case .element:
        throw unsupported(
          step, "digits cannot follow '\(components[aggregateStep])' (write '#\(component)')")
      default: break
      }
    }
  }

  private func unsupported(_ step: Int, _ detail: String) -> PathError {
    PathError(.unsupported, path: description, component: step + 1, detail: detail)
  }
}
