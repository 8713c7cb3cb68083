import SwiftSyntax

/// The names that the initializers of a class mention, and to which they may give a first value.
struct InitializedNames {
  private var names: Set<String> = []
  /// Whether there may be initializers, or statements in them, that the macro cannot see.
  private var isUnknown = false

  init(_ declaration: ClassDeclSyntax) {
    // The macro of another attribute may write an initializer.
    isUnknown = declaration.attributes.mayBeMacro
    for member in declaration.memberBlock.members { note(member.decl) }
  }

  /// Whether an initializer of the class may give the property its first value.
  ///
  /// The compiler's time for `init` accessors grows with the square of their number.
  func mayInitialize(_ variable: VariableDeclSyntax) -> Bool {
    guard let (binding, name) = variable.onlyBinding else { return true }
    let type = binding.typeAnnotation?.type
    let hasValue =
      binding.initializer != nil || type?.is(OptionalTypeSyntax.self) == true
      || type?.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) == true
    return !hasValue || isUnknown || names.contains(plainName(name))
  }

  private mutating func note(_ member: DeclSyntax) {
    if let condition = member.as(IfConfigDeclSyntax.self) {
      for clause in condition.clauses {
        guard case .decls(let members)? = clause.elements else { continue }
        for member in members { note(member.decl) }
      }
    } else if member.is(MacroExpansionDeclSyntax.self) {
      isUnknown = true
    } else if let initializer = member.as(InitializerDeclSyntax.self) {
      isUnknown = isUnknown || initializer.attributes.mayBeMacro
      let mentioned = Mentioned(viewMode: .sourceAccurate)
      if let body = initializer.body { mentioned.walk(body) }
      names.formUnion(mentioned.names)
      isUnknown = isUnknown || mentioned.hasMacro
    }
  }

  private final class Mentioned: SyntaxVisitor {
    private(set) var names: Set<String> = []
    private(set) var hasMacro = false

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
      names.insert(plainName(node.baseName))
      return .visitChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
      hasMacro = true
      return .skipChildren
    }

    override func visit(_ node: MacroExpansionDeclSyntax) -> SyntaxVisitorContinueKind {
      hasMacro = true
      return .skipChildren
    }
  }
}

extension AttributeListSyntax {
  /// Whether one of the attributes may be a macro of another library.
  fileprivate var mayBeMacro: Bool {
    contains { element in
      guard let attribute = element.as(AttributeSyntax.self) else { return true }
      let name = attribute.shortName
      return name.first?.isUppercase == true && name != "ObservableModel" && name != "MainActor"
    }
  }
}
