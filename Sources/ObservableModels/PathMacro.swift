public import Observables

#if Macros
  // The root can be any class: when the compiler compiles a file without the file of the class, as
  // after an edit, it does not know conformances that follow from a conformance written by a macro.

  /// A key path that the compiler has checked, for `observe` and other methods, without `try`
  /// (P10).
  ///
  /// ```swift
  /// customer.observe(#path(\.address?.zip)) { customer in … }
  /// for await zip in customer.values(#path(\.address?.zip)) { … }
  /// let zip: KeyPathTo<Customer, String?> = #path(\.address?.zip)
  /// ```
  ///
  /// The class is inferred from the use of the path, or written: `#path(\Customer.name)`. A
  /// misspelt name is a compile-time error; its message is the most helpful if the class is
  /// written.
  ///
  /// Wildcards and operators are spelled as properties of collections: `\.items.every.price` is
  /// `items.*.price`, `\.items.sum.price` is `items.@sum.price`, `\.items.first?.name` is
  /// `items.@first.name`. An index or a key in brackets has to be a literal: `\.items[0].name` is
  /// `items.0.name`, and follows the object that has index 0 at registration; `\.items[slot: 0]` is
  /// the slot `items.#0`.
  ///
  /// A path with `every` leads to many values: it can be observed, but not read.
  ///
  /// Making the path checks that each name is an observed property of its model: a private or
  /// ignored property is a programming error and traps, with the message of P9. Behind values that
  /// are not models, such as structures, only their stored properties can be read. Paths can be
  /// used on any thread.
  ///
  /// - Complexity: O(length of the path), each time.
  @freestanding(expression)
  public macro path<Root: AnyObject, Value>(
    _ path: KeyPath<Root, Value>
  ) -> KeyPathTo<Root, Value> =
    #externalMacro(module: "ObservableModelsMacros", type: "PathMacro")

  /// A key path to the value of an operator that the compiler has checked.
  ///
  /// The value of `sum` has the type of the numbers, the value of `avg` is a `Double?`. `min` and
  /// `max` are nil for an empty collection. `any` and `all` are `Bool`. Otherwise the path is like
  /// other paths.
  @freestanding(expression)
  public macro path<Root: AnyObject, Operator: PathOperator>(
    _ path: KeyPath<Root, Operator>
  ) -> KeyPathTo<Root, Operator.PathValue> =
    #externalMacro(module: "ObservableModelsMacros", type: "PathMacro")
#endif

/// A component of a path, as read by `#path`.
@_documentation(visibility: internal)
public enum PathStep: Sendable {
  /// `.name`: a property, or a wildcard or operator of a collection.
  case property(String)
  /// `["name"]`.
  case key(String)
  /// `[0]`.
  case index(Int)
  /// `[slot: 0]`.
  case slot(Int)
}

/// Makes the path with these components, for the code that `#path` writes.
///
/// Each component comes with the key path that ends before it. The last key path is the whole one.
///
/// - Complexity: O(length of the path).
@_documentation(visibility: internal)
public func path<Root, Value>(
  _ steps: [PathStep], through prefixes: [PartialKeyPath<Root>]
) -> KeyPathTo<Root, Value> {
  let types = prefixes.map { memberType(Swift.type(of: $0).valueType) }
  let path = Path(components: zip(steps, types).map { $0.component(in: $1) })
  do {
    try path.checkOperators()
    for (component, type) in zip(path.components, types) where component.kind == .name {
      guard let model = type as? any ObservableModel.Type else { continue }
      _ = try model.properties.slot(of: component.name)
    }
  } catch let error as ModelError {
    preconditionFailure("key path '\(path)': \(error)")
  } catch {
    preconditionFailure("\(error)")
  }
  return KeyPathTo(unchecked: path)
}

extension PathStep {
  /// The component, as applied to objects of a type.
  fileprivate func component(in type: Any.Type) -> Path.Component {
    switch self {
    case .property(let name):
      if type is any PathCollection.Type {
        if name == "every" { return Path.Component(kind: .every, bytes: Array("*".utf8)) }
        if Operation(rawValue: name) != nil, name != "count" {
          return Path.Component(kind: .operation, bytes: Array(name.utf8))
        }
      }
      return Path.Component(kind: .name, bytes: Array(name.utf8))
    case .key(let name): return .exactName(Array(name.utf8))
    case .index(let index):
      return Path.Component(kind: .element, bytes: Array("\(index)".utf8), number: index)
    case .slot(let index):
      return Path.Component(kind: .slot, bytes: Array("\(index)".utf8), number: index)
    }
  }
}

/// The type without optionals around it; behind wildcards and operators, the type of the members.
private func memberType(_ type: Any.Type) -> Any.Type {
  let type = unwrapped(type)
  guard let members = type as? any PathMembers.Type else { return type }
  return memberType(of: members)
}

private func memberType<Members: PathMembers>(of type: Members.Type) -> Any.Type {
  memberType(Members.Member.self)
}
