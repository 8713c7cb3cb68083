import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The further members of a class that says which threads may use it.
extension ModelClass {
  /// The attribute by which the class belongs to the main thread.
  var mainActor: AttributeSyntax? { declaration.attributes.named("MainActor") }

  /// The main actor, as it is written in a conformance.
  var actor: String? { mainActor.map { "@\($0.attributeName.trimmedDescription) " } }

  /// The text in a conformance by which a class belongs to no actor.
  ///
  /// An extension of a module whose default is the main actor would belong to that.
  var noActor: String {
    options.isThreadSafe || declaration.modifiers.has(.nonisolated) ? "nonisolated " : ""
  }

  /// A model of the main actor may be released on any thread; its watchers end on the main one.
  func isolatedMembers(isRoot: Bool) -> [DeclSyntax] {
    mainActor != nil && isRoot && deinitializer == nil ? ["isolated deinit {\n}"] : []
  }

  /// The members that make the compiler check whether constants are `Sendable`; for observed
  /// properties the accessors do that.
  func sharedMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
    guard options.isThreadSafe else { return [] }
    let names = declaration.memberBlock.members
      .compactMap { $0.decl.as(VariableDeclSyntax.self) }
      .filter {
        // For functions the macro itself has reported the error.
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

/// The call that refuses a value which is not `Sendable`; the compiler shows the line with the
/// advice in it.
func sendableCheck(of name: String) -> String {
  let advice = "or keep it in a 'Mutex', or in a private 'nonisolated(unsafe) var' and guard it"
  return "ObservableModels.requireSendable(\(name))  // \(advice)"
}

extension PatternBindingSyntax {
  /// The names of the variables that are declared: several by a pattern.
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
