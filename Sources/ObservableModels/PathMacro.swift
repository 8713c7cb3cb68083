/// The key path of properties that the compiler has checked, as `observe` takes it (P10).
///
/// ```swift
/// try user.observe(#path(User.self, \.address?.zip)) { user in … }
/// ```
///
/// A misspelt name is an error of the compiler. That each name is a property that its model
/// observes is checked when the path is made: a private or ignored one is a programming error and
/// traps, with the sentence of P9. Beyond values that are no models, such as collections, names are
/// checked at registration only. An index or a key in brackets has to be a literal:
/// `\.items[0].name` is `items.0.name`. May be used on any thread.
///
/// - Complexity: O(length of the path), each time.
@freestanding(expression)
public macro path<Root: KeyPathObservable, Value>(
  _ root: Root.Type, _ path: KeyPath<Root, Value>
) -> Path = #externalMacro(module: "ObservableModelsMacros", type: "PathMacro")

/// The path `text`, for the code that `#path` writes, whose components are applied to the values of
/// `prefixes`.
///
/// - Complexity: O(length of the path).
@_documentation(visibility: internal)
public func path<Root>(_ text: String, through prefixes: [PartialKeyPath<Root>]) -> Path {
  let path = Path(stringLiteral: text)
  for (component, prefix) in zip(path.components, prefixes) {
    let type = unwrapped(Swift.type(of: prefix).valueType)
    guard let model = type as? any ObservableModel.Type else { continue }
    do {
      _ = try model.properties.slot(of: component.name)
    } catch {
      preconditionFailure("key path '\(text)': \(error)")
    }
  }
  return path
}
