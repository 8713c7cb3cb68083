/// An object that can be read along a path without being observed.
protocol PathReadable {
  /// Reads the value that a component names; nil if there is no value.
  ///
  /// - Throws: ``PathError`` for a component that this kind of object cannot have.
  func read(_ component: Path.Component, at step: Int, of path: Path) throws -> Any?
  /// Whether the component is looked up on each member instead of the object itself (C8).
  func spreads(_ component: Path.Component) -> Bool
  /// Calls `visit` with each member that an operator combines; for a list, in order.
  func forEachValue(_ visit: (Any?) throws -> Void) rethrows
  /// The number of such members.
  var valueCount: Int { get }
}

/// Reads along one path: names, keys and operators (C9), each operator in one pass.
struct PathReader {
  package let path: Path
  /// The index of a list's first element in error messages.
  private let firstIndex: Int

  package init(_ path: Path, firstIndex: Int = 0) throws(PathError) {
    if path.hasOperators { try path.checkOperators() }
    (self.path, self.firstIndex) = (path, firstIndex)
  }

  /// Reads the value at the end of the path, from `root`; nil if the path is not reachable.
  ///
  /// - Throws: ``PathError`` for a path that means many values, and for a value that an operator
  ///   cannot accept. The error then names the element.
  /// - Complexity: O(members) for an operator that is not observed.
  package func value(from root: Any?) throws -> Any? { try value(from: root, step: 0) }

  private func value(from root: Any?, step: Int) throws -> Any? {
    var (value, step) = (root, step)
    while step < path.components.count {
      guard let object = readable(value) else { return nil }
      let component = path.components[step]
      if let operation = component.operation {
        switch operation {
        case .count: return object.valueCount
        case .first, .last: value = end(of: object, isLast: operation == .last)
        default: return try fold(operation, object, step: step + 1)
        }
      } else if component.kind == .every || component.kind == .deep || object.spreads(component) {
        throw error(
          step, "'\(component)' matches many values (put '@unionOfObjects' before it for a list)"
        )
      } else {
        value = try object.read(component, at: step, of: path)
      }
      step += 1
    }
    return value
  }

  private func end(of object: any PathReadable, isLast: Bool) -> Any? {
    var (found, isFound) = (Any?.none, false)
    object.forEachValue { value in
      if isLast || !isFound { (found, isFound) = (value, true) }
    }
    return found
  }

  /// Combines the values of all members; the components behind the operator are read from each
  /// member.
  private func fold(_ operation: Operation, _ object: any PathReadable, step: Int) throws -> Any? {
    if let kept = kept(object, step: step - 1) { return kept.value }
    if operation.isUnion { return try union(operation, object, step: step) }
    var aggregate = Aggregate(operation)
    var index = firstIndex
    var places: [Operand: Int] = [:]
    try object.forEachValue { member in
      let operand = Operand(of: try value(from: member, step: step))
      if !operand.isNumberOrNone { places[operand] = places[operand] ?? index }
      aggregate.add(operand)
      index += 1
    }
    if case .failure(let operand) = aggregate.value {
      let place = places[operand].map { "element \($0)" } ?? "an element"
      throw error(
        step - 1, "\(place) gives \(operand) to '@\(operation)', \(operation.expectation)")
    }
    return aggregate.value.plain
  }

  private func union(
    _ operation: Operation, _ object: any PathReadable, step: Int
  ) throws -> [Any] {
    var values: [Any] = []
    var seen: Set<Operand> = []
    func add(_ value: Any?) {
      guard let value else { return }
      if !operation.isDistinct || seen.insert(Operand(of: value).normalized).inserted {
        values.append(value)
      }
    }
    try object.forEachValue { member in
      let value = try value(from: member, step: step)
      if operation.isUnionOfCollections {
        readable(value)?.forEachValue(add)
      } else {
        add(value)
      }
    }
    return values
  }

  /// The value of an operator that is observed already.
  ///
  /// A tracked getter reads the elements in any case, because it depends on them (Z10).
  private func kept(_ object: any PathReadable, step: Int) -> (value: Any?, Void)? {
    let rooted = (object as? ModelReader)?.model ?? object as? any KeyPathObservable
    guard let node = rooted?.currentObservation?.node, !node.engine.tracking.isOn,
      let value = node.engine.members.keptValue(of: path.components[step...], on: node)
    else { return nil }
    switch value {
    case .list, .failure: return nil
    default: return (value.plain, ())
    }
  }

  private func error(_ step: Int, _ detail: String) -> PathError {
    PathError(.unsupported, path: path.description, component: step + 1, detail: detail)
  }
}

/// Makes a value readable by paths: a model by its properties, other objects by themselves, a
/// collection that is a value by its elements, and a structure by its fields.
private func readable(_ value: Any?) -> (any PathReadable)? {
  guard let value else { return nil }
  if let object = value as? any PathReadable {
    // The reader bypasses the accessors of arrays and sets, so the read is noted here for a tracked
    // getter. Other objects note it themselves.
    if let collection = object as? any PathAnswering, collection.spreadsNames {
      (object as? ObservableCollection)?.access()
    }
    return object
  }
  if let model = value as? any ObservableModel { return ModelReader(model: model) }
  if let collection = value as? any CollectionValue {
    return collection.observable as? any PathReadable
  }
  let mirror = Mirror(reflecting: value)
  return mirror.displayStyle == .struct ? StructureReader(mirror: mirror) : nil
}

/// Reads the fields of a structure.
private struct StructureReader: PathReadable {
  let mirror: Mirror

  func read(_ component: Path.Component, at step: Int, of path: Path) throws -> Any? {
    if let field = mirror.children.first(where: { $0.label == component.name }) {
      return flattened(field.value)
    }
    let names = mirror.children.compactMap(\.label)
    let nearest = nearestName(to: component.name, among: names)
    throw PathError(
      .unknownName, path: path.description, component: step + 1,
      detail: "\(mirror.subjectType) has no field '\(component.name)'" + didYouMean(nearest),
      suggestion: nearest)
  }

  func spreads(_ component: Path.Component) -> Bool { false }
  func forEachValue(_ visit: (Any?) throws -> Void) rethrows {}
  var valueCount: Int { 0 }
}

/// Reads the properties of a model.
private struct ModelReader: PathReadable {
  let model: any ObservableModel

  func read(_ component: Path.Component, at step: Int, of path: Path) throws -> Any? {
    let properties = type(of: model).properties
    do {
      return try properties.value(of: component.name, in: model)
    } catch {
      throw PathError(
        .unknownName, path: path.description, component: step + 1, detail: error.description)
    }
  }

  func spreads(_ component: Path.Component) -> Bool { false }
  func forEachValue(_ visit: (Any?) throws -> Void) rethrows {}
  var valueCount: Int { 0 }
}

extension KeyPathObservable {
  /// Reads the value at the end of `path`: a property, an element, or the value of an operator
  /// (C9).
  ///
  /// Integers are `Int` or the property's type. A union is an array. The result is nil if the path
  /// is not reachable.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have, for a path that means
  ///   many values, and for a value that an operator cannot accept.
  /// - Complexity: O(length of the path), and O(members) for an operator that is not observed.
  public func value(at path: Path) throws -> Any? { try PathReader(path).value(from: self) }
}

extension Operand {
  fileprivate var isNumberOrNone: Bool {
    switch self {
    case .integer, .float, .none: true
    default: false
    }
  }
}

extension Aggregate.Value {
  /// The Swift value of an operator's result.
  package var plain: Any? {
    switch self {
    case .value(let value): value.base
    case .list, .failure: nil
    default: Operand(self).plain
    }
  }
}
