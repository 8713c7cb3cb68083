/// Lazy properties of the reference (Z1 …).
///
/// A property knows its last value, and the values it was computed from. Each read checks whether
/// the value is still right, by looking at all dependencies again.
@dynamicMemberLookup final class LazyProperty {
  struct Trace {
    var stored: [(thing: Int, key: ModelReference.Key)] = []
    var read: [LazyProperty] = []
  }

  let thing: Int
  let name: String
  let routes: [ModelReference.Route]
  var isTracked: Bool { name == Part.tracked }
  var state = State()

  struct State {
    var value = Value.none
    /// Whether it has a value; whether it ever had one; whether a stored dependency was written.
    var (isValid, isKnown, isStale) = (false, false, false)
    /// Whether a program has assigned the value.
    var isAssigned = false
    /// The computed values on the way to the dependencies.
    var madeOf: [ModelReference.Derived] = []
    /// The reads of a tracked property.
    var trace = Trace()
  }

  init(_ thing: Int, _ name: String) {
    (self.thing, self.name) = (thing, name)
    routes = Part.dependencies[name]!.map(ModelReference.Route.init)
  }

  subscript<Member>(dynamicMember member: WritableKeyPath<State, Member>) -> Member {
    get { state[keyPath: member] }
    set { state[keyPath: member] = newValue }
  }
}

extension ModelReference {
  /// The getters of `Part`.
  private func get(_ property: LazyProperty) -> Value {
    func value(_ name: String, of thing: Value = .thing(property.thing)) -> Value {
      if case .thing(let number) = thing { read(number, name) } else { .none }
    }
    func number(_ name: String, of thing: Value = .thing(property.thing)) -> Int {
      value(name, of: thing).number ?? 0
    }
    func sum(_ name: String) -> Int {
      guard case .thing(let items) = value("items") else { return 0 }
      return things[items].elements.reduce(0) { $0 + number(name, of: $1) }
    }
    switch property.name {
    case "total": return .int(number("x") + number("x", of: value("child")))
    case "load": return .int(number("y") + sum("x"))
    case "leader":
      if number("y") > 1 { return value("child") }
      guard case .thing(let items) = value("items") else { return .none }
      return things[items].elements.first ?? .none
    case "deep": return .int(number("total") + number("load", of: value("leader")) + sum("total"))
    default:
      return .int(number("x") > 1 ? number("total", of: value("child")) : number("y"))
    }
  }

  // MARK: Reading

  func value(of property: LazyProperty) -> Value {
    trace?.read.append(property)
    let outer = trace
    trace = nil
    defer { trace = outer }
    if isFresh(property) { return property.value }
    var madeOf = property.isTracked ? [] : dependencies(of: property)
    trace = property.isTracked ? LazyProperty.Trace() : nil
    let value = get(property)
    let own = trace
    trace = nil
    if isSupposing { return value }
    if let own {
      property.trace = own
      madeOf = dependencies(of: property)
    }
    keep(value, madeOf, as: property)
    return value
  }

  func value(_ derived: Derived) -> Value {
    switch derived.source {
    case .lazy(let property): value(of: property)
    case .size(let number): .int(things[number].fields.count)
    case .operation(let number, let operation): follow(.thing(number), [operation])
    }
  }

  /// The value, without keeping any computed value.
  func supposed(_ derived: Derived) -> Value { supposing { value(derived) } }

  private func supposing<Result>(_ body: () -> Result) -> Result {
    let (wasSupposing, outer) = (isSupposing, trace)
    defer { (isSupposing, trace) = (wasSupposing, outer) }
    (isSupposing, trace) = (true, nil)
    return body()
  }

  /// The computed values on the paths that a property depends on, in the current state.
  private func dependencies(of property: LazyProperty) -> [Derived] {
    let read = property.trace.read.map { other in
      Derived(
        thing: other.thing, step: .property(other.name), route: nil, source: .lazy(other),
        value: value(of: other))
    }
    return property.routes.flatMap { walk(property.thing, $0, value).derived } + read
  }

  /// Whether the kept value is still right; computes the dependencies, as a read does.
  private func isFresh(_ property: LazyProperty) -> Bool {
    if !property.isValid || property.isStale { return false }
    let now = dependencies(of: property)
    if property.isStale || now.count != property.madeOf.count { return false }
    return now.allSatisfy { entry in
      property.madeOf.contains { $0.isSamePlace(as: entry) && $0.value == entry.value }
    }
  }

  /// Whether it has a value that is right.
  func isValid(_ property: LazyProperty) -> Bool {
    property.isValid && !property.isStale
      && property.madeOf.allSatisfy { supposed($0) == $0.value }
  }

  // MARK: Changes

  private func keep(_ value: Value, _ madeOf: [Derived], as property: LazyProperty) {
    let before = property.isKnown ? property.value : value
    (property.value, property.madeOf) = (value, madeOf)
    (property.isValid, property.isKnown, property.isStale) = (true, true, false)
    property.isAssigned = false
    if before == value { return }
    // Values computed from the previous one are no longer right (Z2).
    for other in things.flatMap(\.lazies.values) where other.isValid {
      for case .lazy(let source) in other.madeOf.filter({ $0.value != value }).map(\.source)
      where source === property {
        other.isStale = true
        endAssignments(dependingOn: [other])
      }
    }
  }

  /// Z5: an assigned value ends with the next change of something that it depends on, whatever the
  /// values in between.
  func endAssignments(dependingOn changed: [LazyProperty]) {
    if changed.isEmpty { return }
    func depends(_ property: LazyProperty, _ seen: inout [LazyProperty]) -> Bool {
      if seen.contains(where: { $0 === property }) { return false }
      seen.append(property)
      for case .lazy(let source) in property.madeOf.map(\.source) {
        if changed.contains(where: { $0 === source }) || depends(source, &seen) { return true }
      }
      return false
    }
    for property in things.flatMap(\.lazies.values) where property.isAssigned && property.isValid {
      var seen: [LazyProperty] = []
      if depends(property, &seen) { property.isStale = true }
    }
  }

  /// The properties that depended on the changed keys when they were computed.
  func dependents(on number: Int, _ changes: [Change]) -> [LazyProperty] {
    things.flatMap(\.lazies.values).filter { property in
      guard property.isKnown else { return false }
      func isHit(_ thing: Int, _ key: Key) -> Bool {
        thing == number && changes.contains { !$0.isSame && (key == .every || key == $0.key) }
      }
      if property.trace.stored.contains(where: { isHit($0.thing, $0.key) }) { return true }
      return property.routes.contains { route in
        let walk = walk(property.thing, route) { place in
          property.madeOf.first { $0.isSamePlace(as: place) }?.value ?? supposed(place)
        }
        return walk.stored.contains { isHit($0.thing, $0.key) }
      }
    }
  }

  /// Z5: assigns a value, after the dependencies were brought up to date.
  func override(_ property: LazyProperty, _ value: Value) {
    if property.isTracked {
      _ = self.value(of: property)
    } else if !isValid(property) {
      _ = dependencies(of: property)
    }
    hear(property.thing, []) {
      keep(value, dependencies(of: property), as: property)
      property.isAssigned = true
    }
  }
}
