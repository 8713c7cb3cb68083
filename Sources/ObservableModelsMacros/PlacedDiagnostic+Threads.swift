import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

extension PlacedDiagnostic {
  /// `@Ignored var cache = 0` in a model that several threads use.
  static func unguarded(_ variable: VariableDeclSyntax) -> Self {
    let name = variable.bindings.first!.pattern
    var guarded = variable
    guarded.modifiers.append(
      DeclModifierSyntax(
        name: .keyword(.nonisolated),
        detail: DeclModifierDetailSyntax(detail: .identifier("unsafe")), trailingTrivia: .space))
    // A property wrapper stores its value in another variable.
    let isWrapped = variable.foreignWrapper != nil
    return Self(
      "unguarded", at: name,
      "several threads may use '\(name.trimmedDescription)' at once: observe it, make it a 'let' "
        + "such as a 'Mutex'" + (isWrapped ? "" : ", or guard it and say 'nonisolated(unsafe)'"),
      fix: isWrapped
        ? nil : Replacement("say that the class guards it", variable, by: guarded))
  }

  /// `var onChange: () -> Void` in a model that several threads use.
  static func confinedFunction(_ type: TypeSyntax) -> Self {
    Self(
      "function", at: type,
      "a function that several threads may call must be '@Sendable'",
      fix: Replacement("add '@Sendable'", type, by: type.sendable))
  }

  /// `@MainActor var x = 1` in a class without an actor.
  static func propertyOfActor(_ attribute: AttributeSyntax) -> Self {
    Self(
      "property-of-actor", at: attribute,
      "an observed property has the isolation of its model: '@\(attribute.shortName)' is for the "
        + "whole class, or for a property with '@Ignored'")
  }

  /// A `deinit` without isolation in a class of the main actor.
  static func nonisolatedDeinit(_ deinitializer: DeinitializerDeclSyntax) -> Self {
    var isolated = deinitializer
    isolated.modifiers.append(
      DeclModifierSyntax(
        leadingTrivia: deinitializer.leadingTrivia, name: .identifier("isolated"),
        trailingTrivia: .space))
    isolated.deinitKeyword.leadingTrivia = []
    return Self(
      "deinit", at: deinitializer.deinitKeyword,
      "the last reference to a '@MainActor' model may be released on any thread, but its deinit "
        + "must run on the main one: write 'isolated deinit'",
      fix: Replacement("add 'isolated'", deinitializer, by: isolated))
  }

  /// A subclass for several threads of a class for one thread.
  static func threadsOfParent(_ parent: String, _ attribute: AttributeSyntax) -> Self {
    Self(
      "threads-of-parent", at: attribute,
      "'.threadSafe' must begin at the base class: '\(parent)' belongs to one "
        + "thread"
    )
  }
}

extension TypeSyntax {
  /// The function type with `@Sendable`, which marks the function itself, not a type around it.
  fileprivate var sendable: TypeSyntax {
    if let type = self.as(FunctionTypeSyntax.self) {
      return TypeSyntax("@Sendable \(type.trimmed)").with(\.trailingTrivia, type.trailingTrivia)
    }
    if let type = self.as(AttributedTypeSyntax.self) {
      return TypeSyntax("@Sendable \(type.trimmed)").with(\.trailingTrivia, type.trailingTrivia)
    }
    if let type = self.as(OptionalTypeSyntax.self) {
      return TypeSyntax(type.with(\.wrappedType, type.wrappedType.sendable))
    }
    if let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return TypeSyntax(type.with(\.wrappedType, type.wrappedType.sendable))
    }
    if var tuple = self.as(TupleTypeSyntax.self), var element = tuple.elements.first {
      element.type = element.type.sendable
      tuple.elements = [element]
      return TypeSyntax(tuple)
    }
    return self
  }
}
