import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `#path(User.self, \.address?.zip)`: the compiler has checked the key path, and this macro spells
/// it as text.
struct PathMacro: ExpressionMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) throws -> ExprSyntax {
    // The error was reported; the expansion still has to be a path.
    let none: ExprSyntax = "Observables.Path(stringLiteral: \"*\")"
    let arguments = Array(node.arguments)
    guard arguments.count == 2, let root = arguments.first?.expression.trimmedDescription else {
      return none
    }
    guard let literal = arguments[1].expression.as(KeyPathExprSyntax.self) else {
      context.diagnose(
        PlacedDiagnostic(
          "key-path", at: arguments[1].expression,
          "'#path' reads a key path as it is written: a literal such as '\\.address?.zip'"))
      return none
    }
    guard let base = arguments[0].expression.as(MemberAccessExprSyntax.self)?.base,
      root.hasSuffix(".self")
    else {
      context.diagnose(
        PlacedDiagnostic(
          "root", at: arguments[0].expression,
          "'#path' reads the type as it is written, such as 'User.self'"))
      return none
    }
    let type = base.trimmedDescription
    var text: [String] = []
    var prefix = "\\\(type)"
    var prefixes: [String] = []
    for component in literal.components {
      switch spelling(of: component) {
      case .name(let name):
        prefixes.append(prefix == "\\\(type)" ? prefix + ".self" : prefix)
        text.append(name)
      case .nothing: break
      case .unknown(let message):
        context.diagnose(PlacedDiagnostic("key-path", at: component, message))
        return none
      }
      prefix += component.trimmedDescription
    }
    if text.isEmpty {
      context.diagnose(
        PlacedDiagnostic(
          "key-path", at: literal, "the key path is empty: it has to name a property"))
      return none
    }
    let path = stringLiteral(text.joined(separator: "."))
    return """
      ObservableModels.path(\(raw: path), through: [\(raw: prefixes.joined(separator: ", "))])
      """
  }

  private enum Spelling {
    case name(String)
    case nothing
    case unknown(String)
  }

  private static func spelling(of component: KeyPathComponentSyntax) -> Spelling {
    switch component.component {
    case .property(let property):
      let name = property.declName.baseName
      if name.tokenKind == .keyword(.self) { return .nothing }
      if property.declName.argumentNames == nil, name.text.first?.isNumber != true {
        return .name(escaped(plainName(name)))
      }
      return .unknown("an element of a tuple has no name in a key path that is text")
    case .optional: return .nothing
    case .subscript(let access):
      guard access.arguments.count == 1, let argument = access.arguments.first?.expression else {
        return .unknown("a component of a path is one index or key")
      }
      if let number = argument.as(IntegerLiteralExprSyntax.self) {
        let digits = number.literal.text.filter { $0 != "_" }
        if digits.allSatisfy({ "0" <= $0 && $0 <= "9" }) { return .name(digits) }
      }
      if let key = argument.literalText { return .name(escaped(key)) }
      return .unknown(
        "the index is not known when the program is compiled: write a literal, or put the path "
          + "together by 'Path(…)'")
    default:
      return .unknown("a method cannot be observed")
    }
  }

  /// The name as a component of a path (P1).
  private static func escaped(_ name: String) -> String {
    let text = name.map { $0 == "." || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    let isMarked = name == "*" || "#&@".contains(name.first ?? " ") || name.allSatisfy(\.isNumber)
    return (isMarked ? "\\" : "") + text
  }
}
