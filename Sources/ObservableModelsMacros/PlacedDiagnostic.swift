import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The message about a wrong use of a macro, or about its fix.
struct ModelDiagnostic: DiagnosticMessage, FixItMessage {
  let message: String
  let id: String

  var diagnosticID: MessageID { MessageID(domain: "ObservableModels", id: id) }
  var fixItID: MessageID { diagnosticID }
  var severity: DiagnosticSeverity { .error }
}

/// A message at its place.
struct PlacedDiagnostic {
  let diagnostic: Diagnostic

  init(
    _ id: String, at node: some SyntaxProtocol, _ message: String,
    fix: Replacement? = nil
  ) {
    diagnostic = Diagnostic(
      node: node, message: ModelDiagnostic(message: message, id: id),
      fixIts: fix.map { fix in
        [FixIt(message: ModelDiagnostic(message: fix.message, id: id), changes: [fix.change])]
      } ?? [])
  }

  /// `@ObservableModel` on a declaration that is not a class.
  static func notAClass(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) -> Self {
    let keyword = declaration.introducer
    let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text
    let what = name.map { "'\($0)' is \(article(keyword.text)) \(keyword.text)" }
    let start = "'@ObservableModel' is for classes" + (what.map { "; \($0)" } ?? "")
    switch keyword.tokenKind {
    case .keyword(.actor):
      return Self(
        "actor", at: keyword,
        "\(start), whose properties cannot be read from outside; "
          + "for a class that several threads write, use '@ObservableModel(.threadSafe)'",
        fix: Replacement(keyword, by: .identifier("final class")))
    case .keyword(.struct):
      return Self(
        "struct", at: keyword,
        "\(start), whose copies have no identity that could be observed; "
          + "it may be the value of an observed property",
        fix: Replacement(keyword, by: .identifier("final class")))
    case .keyword(.enum):
      return Self(
        "enum", at: keyword,
        "\(start), which has no stored properties; it may be the value of an observed property")
    default:
      return Self("declaration", at: keyword, start)
    }
  }

  private static func article(_ word: String) -> String {
    "aeiou".contains(word.first ?? "x") ? "an" : "a"
  }
}

extension MacroExpansionContext {
  func diagnose(_ placed: PlacedDiagnostic) { diagnose(placed.diagnostic) }
}
