/// A key path from objects of type `Root` to a value of an unspecified type.
///
/// It is the superclass of ``KeyPathTo``, so that one list can hold paths to values of different
/// types. It can be used on any thread.
public class PartialKeyPathTo<Root>: @unchecked Sendable {
  // The only property is immutable and `Sendable`; superclasses are not checked by the compiler.
  /// The same path, without the types.
  public final let path: Path

  fileprivate init(_ path: Path) { self.path = path }
}

/// A key path from objects of type `Root` to a value of type `Value`: a ``Path`` that knows its
/// types.
///
/// The macro `#path` of the library `ObservableModels` makes it from a key path that the compiler
/// has checked. So methods that take it do not throw for a misspelt name, and return typed values:
///
/// ```swift
/// customer.observe(#path(\.address?.zip)) { customer in … }
/// for await zip in customer.values(#path(\.address?.zip)) { … }
/// ```
///
/// It can be used on any thread.
public final class KeyPathTo<Root, Value>: PartialKeyPathTo<Root>, @unchecked Sendable {
  /// Makes a path whose types have not been checked.
  ///
  /// - Precondition: each object of type `Root` has this path, and it leads to values of type
  ///   `Value`. Otherwise, registering traps and reading throws.
  public init(unchecked path: Path) { super.init(path) }
}

extension PartialKeyPathTo: CustomStringConvertible {
  /// The text of the path.
  public final var description: String { path.description }
}

extension PartialKeyPathTo: Equatable {
  /// Two paths are equal if their components are.
  public static func == (a: PartialKeyPathTo, b: PartialKeyPathTo) -> Bool { a.path == b.path }
}
