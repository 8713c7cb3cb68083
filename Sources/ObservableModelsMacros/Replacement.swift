import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

/// A correction of a part of the source.
struct Replacement {
  let message: String
  let change: FixIt.Change

  init(_ message: String, _ node: some SyntaxProtocol, by other: some SyntaxProtocol) {
    self.message = message
    change = .replace(oldNode: Syntax(node), newNode: Syntax(other))
  }

  /// Replaces a token, and keeps the trivia around it.
  init(_ token: TokenSyntax, by kind: TokenKind) {
    let other = TokenSyntax(
      kind, leadingTrivia: token.leadingTrivia, trailingTrivia: token.trailingTrivia,
      presence: .present)
    self.init("replace '\(token.text)' with '\(other.text)'", token, by: other)
  }

  /// Replaces a declaration by others, and keeps the trivia around it.
  init(_ message: String, _ variable: VariableDeclSyntax, by text: String) {
    var declarations = DeclSyntax("\(raw: text)")
    declarations.leadingTrivia = variable.leadingTrivia
    declarations.trailingTrivia = variable.trailingTrivia
    self.init(message, variable, by: declarations)
  }
}
