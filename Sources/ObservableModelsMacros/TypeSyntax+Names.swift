import SwiftSyntax
import SwiftSyntaxBuilder

/// Types as written in the source.
extension TypeSyntax {
  /// `A` and `B` of `A & B`; for other types, the type itself without attributes.
  var parts: [TypeSyntax] {
    plain.as(CompositionTypeSyntax.self)?.elements.flatMap { $0.type.parts } ?? [plain]
  }

  /// The type without attributes, specifiers and parentheses.
  ///
  /// `Sendable` of `@unchecked Sendable`.
  var plain: TypeSyntax {
    if let type = self.as(AttributedTypeSyntax.self) { return type.baseType.plain }
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let element = tuple.elements.first, element.firstName == nil
    {
      return element.type.plain
    }
    return trimmed
  }

  /// The name without module and generic arguments.
  var shortName: String {
    if let type = self.as(MemberTypeSyntax.self) { return type.name.text }
    return self.as(IdentifierTypeSyntax.self)?.name.text ?? trimmedDescription
  }

  /// Whether it is `some P`, by itself or optional.
  var isOpaque: Bool {
    if let type = plain.as(SomeOrAnyTypeSyntax.self) {
      return type.someOrAnySpecifier.tokenKind == .keyword(.some)
    }
    return plain.wrapped?.isOpaque ?? false
  }

  var isOptional: Bool { plain.wrapped != nil }

  /// The wrapped type of an optional; for other types, the type itself.
  var wrappedType: TypeSyntax { plain.wrapped ?? trimmed }

  /// The type, with `T?` in place of `T!`, which only a variable may have.
  var optionalType: TypeSyntax {
    guard let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) else { return trimmed }
    return TypeSyntax(OptionalTypeSyntax(wrappedType: type.wrappedType.trimmed))
  }

  /// Whether it is a function type, or an optional one, that is neither `@Sendable` nor isolated to
  /// an actor.
  var isConfinedFunction: Bool {
    if let type = self.as(AttributedTypeSyntax.self) {
      // The mark is `@Sendable`, or an actor.
      let isMarked = type.attributes.contains {
        $0.as(AttributeSyntax.self)?.shortName.first?.isUppercase ?? false
      }
      return !isMarked && type.baseType.isConfinedFunction
    }
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1 {
      return tuple.elements.first!.type.isConfinedFunction
    }
    return wrapped?.isConfinedFunction ?? self.is(FunctionTypeSyntax.self)
  }

  private var wrapped: TypeSyntax? {
    if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.trimmed }
    if let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return type.wrappedType.trimmed
    }
    return shortName == "Optional" ? genericArguments.first : nil
  }

  private var genericArguments: [TypeSyntax] {
    let clause =
      self.as(IdentifierTypeSyntax.self)?.genericArgumentClause
      ?? self.as(MemberTypeSyntax.self)?.genericArgumentClause
    return clause?.arguments.compactMap { argument in
      // In swift-syntax 600 an argument is a type, later one of several kinds of syntax.
      Syntax(argument.argument).as(TypeSyntax.self)?.trimmed
    } ?? []
  }

  // MARK: Types of the standard library

  /// The canonical spelling of a type built from common types of the standard library.
  ///
  /// nil for other types, whose meaning only the compiler knows.
  private var settled: String? {
    let type = plain
    if let wrapped = type.wrapped { return wrapped.settled.map { $0 + "?" } }
    if let array = type.as(ArrayTypeSyntax.self) { return array.element.settled.map { "[\($0)]" } }
    if let dictionary = type.as(DictionaryTypeSyntax.self) {
      guard let key = dictionary.key.settled, let value = dictionary.value.settled else {
        return nil
      }
      return "[\(key): \(value)]"
    }
    if type.as(TupleTypeSyntax.self)?.elements.isEmpty == true { return "Void" }
    return TypeSyntax.settledNames.contains(type.shortName) ? type.shortName : nil
  }

  private static let settledNames: Set = [
    "Bool", "Character", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "String",
    "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Void",
  ]

  /// Whether no value of the type can be stored as the other type, as far as the macro can see.
  func isOther(than other: TypeSyntax) -> Bool {
    guard let own = settled, let other = other.settled else { return false }
    return !other.hasPrefix(own) || other.dropFirst(own.count).contains { $0 != "?" }
  }
}
