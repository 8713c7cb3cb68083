import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `#path(\.address?.zip)`: the compiler checks the key path, and this macro spells its components,
/// each with the key path that leads to it.
struct PathMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    // The error has been reported; the expansion still has to be a path.
    let none: ExprSyntax = #"Observables.KeyPathTo(unchecked: "*")"#
    guard let argument = node.arguments.first?.expression else { return none }
    guard let literal = argument.as(KeyPathExprSyntax.self) else {
      context.diagnose(
        PlacedDiagnostic(
          "key-path", at: argument,
          "'#path' reads a key path as it is written: a literal such as '\\.address?.zip'"))
      return none
    }
    var steps: [String] = []
    var prefixes: [String] = []
    let types = nestedTypes(literal)
    let root =
      "\\" + (literal.root?.trimmedDescription ?? "")
      + types.map(\.trimmedDescription).joined()
    var prefix = root
    for component in literal.components.dropFirst(types.count) {
      switch spelling(of: component) {
      case .step(let step):
        prefixes.append(prefix == root ? prefix + ".self" : prefix)
        steps.append(step)
      case .nothing: break
      case .unknown(let message):
        context.diagnose(PlacedDiagnostic("key-path", at: component, message))
        return none
      }
      prefix += component.trimmedDescription
    }
    if steps.isEmpty {
      context.diagnose(
        PlacedDiagnostic(
          "key-path", at: literal, "the key path is empty: it has to name a property"))
      return none
    }
    prefixes.append(prefix)
    return """
      ObservableModels.path([\(raw: steps.joined(separator: ", "))], \
      through: [\(raw: prefixes.joined(separator: ", "))])
      """
  }

  /// The components after a written root that are nested types: `Inner` of `\Outer.Inner.name`.
  ///
  /// The macro assumes that a capitalized name is a type. If it is a property, the compiler rejects
  /// the expansion.
  private static func nestedTypes(_ literal: KeyPathExprSyntax) -> [KeyPathComponentSyntax] {
    if literal.root == nil { return [] }
    return literal.components.dropLast().prefix { component in
      guard case .property(let property) = component.component else { return false }
      return property.declName.baseName.text.first?.isUppercase ?? false
    }
  }

  private enum Spelling {
    case step(String)
    case nothing
    case unknown(String)
  }

  private static func spelling(of component: KeyPathComponentSyntax) -> Spelling {
    if case .property(let property) = component.component {
      let name = property.declName.baseName
      if name.tokenKind == .keyword(.self) { return .nothing }
      if property.declName.argumentNames == nil, name.text.first?.isNumber != true {
        return .step(".property(\(stringLiteral(plainName(name))))")
      }
      return .unknown("a path cannot name an element of a tuple")
    }
    if case .optional = component.component { return .nothing }
    if case .subscript(let access) = component.component { return spelling(of: access) }
    // No `switch`: swift-syntax 600 has no other component, so a `default` would not compile there.
    return .unknown("a method cannot be observed")
  }

  private static func spelling(of access: KeyPathSubscriptComponentSyntax) -> Spelling {
    guard access.arguments.count == 1, let argument = access.arguments.first,
      argument.label == nil || argument.label?.text == "slot"
    else {
      return .unknown("a component of a path is one index or key")
    }
    if let number = argument.expression.as(IntegerLiteralExprSyntax.self) {
      let digits = number.literal.text.filter { $0 != "_" }
      if digits.allSatisfy({ "0" <= $0 && $0 <= "9" }) {
        return .step(argument.label == nil ? ".index(\(digits))" : ".slot(\(digits))")
      }
    }
    if argument.label == nil, argument.expression.literalText != nil {
      return .step(".key(\(argument.expression.trimmedDescription))")
    }
    return .unknown(
      "the index is not known at compile time: write a literal, or build the path "
        + "with 'Path(…)'")
  }
}
