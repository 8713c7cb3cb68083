import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The additional members of a class with a declared thread use.
extension ModelClass {
  /// The attribute by which the class belongs to the main thread.
  var mainActor: AttributeSyntax? { declaration.attributes.named("MainActor") }

  /// The main actor, as written in a conformance.
  var actor: String? { mainActor.map { "@\($0.attributeName.trimmedDescription) " } }

  /// The text in a conformance that frees it from any actor.
  ///
  /// In a module whose default is the main actor, an extension belongs to that actor otherwise.
  var noActor: String {
    options.isThreadSafe || declaration.modifiers.has(.nonisolated) ? "nonisolated " : ""
  }

  /// The isolated `deinit` of a model of the main actor.
  ///
  /// Any thread may release the model; its watchers end on the main thread.
  func isolatedMembers(isRoot: Bool) -> [DeclSyntax] {
    mainActor != nil && isRoot && deinitializer == nil ? ["isolated deinit {\n}"] : []
  }

  /// The members by which the compiler checks that constants are `Sendable`; the accessors check
  /// observed properties.
  func sharedMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
    guard options.isThreadSafe else { return [] }
    let names = declaration.memberBlock.members
      .compactMap { $0.decl.as(VariableDeclSyntax.self) }
      .filter {
        // The macro itself has reported functions.
        $0.isConstant && $0.isStoredInInstance && !$0.isUnchecked && !$0.isConfinedFunction
      }
      .flatMap { $0.bindings.flatMap(\.names) }
    if names.isEmpty { return [] }
    return [
      """
      private func \(context.makeUniqueName("constants"))() {
        \(raw: names.map(sendableCheck).joined(separator: "\n  "))
      }
      """
    ]
  }
}

/// The call by which the compiler rejects a value that is not `Sendable`; its error shows the line
/// with the advice.
func sendableCheck(of name: String) -> String {
  let advice = "or keep it in a 'Mutex', or in a private 'nonisolated(unsafe) var' and guard it"
  return "ObservableModels.requireSendable(\(name))  // \(advice)"
}

extension PatternBindingSyntax {
  /// The names of the declared variables; a pattern declares several.
  fileprivate var names: [String] {
    let names = Names(viewMode: .sourceAccurate)
    names.walk(pattern)
    return names.found
  }

  private final class Names: SyntaxVisitor {
    private(set) var found: [String] = []

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
      found.append(node.identifier.text)
      return .skipChildren
    }
  }
}
