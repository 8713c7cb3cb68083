/// A key path from objects of type `Root`, to a value of a type that is not known here.
///
/// It is what ``KeyPathTo`` inherits from, so that paths to values of different types fit into one
/// list. May be used on any thread.
public class PartialKeyPathTo<Root>: @unchecked Sendable {
  // The only property is immutable and `Sendable`. A class that is inherited from is not checked.
  /// The same path, without the types.
  public final let path: Path

  fileprivate init(_ path: Path) { self.path = path }
}

/// A key path from objects of type `Root` to a value of type `Value`, as a ``Path`` that knows its
/// types.
///
/// The macro `#path` of the library `ObservableModels` makes it from a key path that the compiler
/// has checked. So what takes it does not throw for a misspelt name, and gives the value with its
/// type:
///
/// ```swift
/// customer.observe(#path(\.address?.zip)) { customer in … }
/// for await zip in customer.values(#path(\.address?.zip)) { … }
/// ```
///
/// May be used on any thread.
public final class KeyPathTo<Root, Value>: PartialKeyPathTo<Root>, @unchecked Sendable {
  /// A path whose types have not been checked.
  ///
  /// - Precondition: each object of type `Root` has this path, and it leads to values of type
  ///   `Value`. Registering traps otherwise, and reading throws.
  public init(unchecked path: Path) { super.init(path) }
}

extension PartialKeyPathTo: CustomStringConvertible {
  /// The text of the path.
  public final var description: String { path.description }
}

extension PartialKeyPathTo: Equatable {
  /// Two paths are equal when their components are.
  public static func == (a: PartialKeyPathTo, b: PartialKeyPathTo) -> Bool { a.path == b.path }
}
