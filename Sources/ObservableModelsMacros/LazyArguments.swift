import SwiftParser
import SwiftSyntax

/// The arguments of `@Computed` or `@LazyProperty`.
struct LazyArguments {
  let isComputed: Bool
  /// The key paths of the dependencies, as they are written.
  let paths: [ExprSyntax]
  private let labeled: [String: ExprSyntax]

  init(_ attribute: AttributeSyntax) {
    isComputed = attribute.shortName == "Computed"
    // The list is filtered as an array: filtering a list of syntax makes another list, whose nodes
    // have no place in the source.
    let arguments = Array(attribute.list)
    paths = arguments.filter { $0.label == nil }.map(\.expression)
    labeled = Dictionary(
      arguments.compactMap { argument in argument.label.map { ($0.text, argument.expression) } },
      uniquingKeysWith: { $1 })
  }

  /// The literal that names the method which loads the property.
  var loader: ExprSyntax? { labeled["loader"] }

  /// The literal that names the method which configures the created value.
  var configure: ExprSyntax? { labeled["configure"] }

  /// The argument of the methods that create and configure the value.
  var with: ExprSyntax? { labeled["with"] }

  /// The entry in the list of properties, without the part that computes it.
  func head(_ name: String, _ spelling: String) -> String {
    let isTracked = isComputed && paths.isEmpty
    let from = paths.map(\.trimmedDescription).joined(separator: ", ")
    return """
      Observables.Property(\(stringLiteral(name)), \
      \(isTracked ? "tracked" : "lazy"): { $0.$\(spelling) }\
      \(paths.isEmpty ? "" : ", from: [\(from)]")\
      \(labeled["isCached"].map { ", isCached: \($0.trimmedDescription)" } ?? "")
      """
  }
}

extension ExprSyntax {
  /// The value of a string literal.
  var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}
