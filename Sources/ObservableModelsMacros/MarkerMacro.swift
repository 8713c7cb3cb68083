import SwiftSyntax
import SwiftSyntaxMacros

/// An attribute that `@ObservableModel` reads; it adds nothing by itself.
struct MarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] { [] }
}
