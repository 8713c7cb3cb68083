import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ObservedProperty`: it renames the storage of a stored property and adds accessors that report.
struct ObservedPropertyMacro {
  /// The generated text is laid out already; formatting it takes longer than the rest of the
  /// expansion.
  static var formatMode: FormatMode { .disabled }
}

extension ObservedPropertyMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let (binding, name) = variable.onlyBinding
    else { return [] }
    let kept = variable.modifiers.filter {
      ["weak", "unowned", "nonisolated"].contains($0.name.text)
    }
    // The lock guards the storage; the compiler cannot see that.
    let guarded =
      ModelOptions(node.list).isThreadSafe && !kept.contains { $0.name.text == "nonisolated" }
      ? "nonisolated(unsafe) " : ""
    let modifiers = guarded + kept.map { $0.trimmedDescription + " " }.joined()
    var stored = binding.trimmed
    stored.pattern = PatternSyntax(
      IdentifierPatternSyntax(
        identifier: .identifier(storageName(of: name), trailingTrivia: name.trailingTrivia)))
    if let observers = stored.accessorBlock {
      stored.accessorBlock = OwnAccess(of: name).rewrite(observers).cast(AccessorBlockSyntax.self)
    }
    return ["private \(raw: modifiers)var \(stored)"]
  }
}

extension ObservedPropertyMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      let (_, name) = variable.onlyBinding,
      let slot = node.list.first?.expression.trimmedDescription
    else { return [] }
    let accessors = ObservedAccessors(
      name: name.text, storage: storageName(of: name), slot: "Self.firstModelSlot + \(slot)",
      options: ModelOptions(node.list), isConfined: variable.isConfinedFunction)
    return accessors.all
  }
}

/// Replaces a property by its storage inside of its `willSet` and `didSet`, so that writing it
/// there does not run them again.
private final class OwnAccess: SyntaxRewriter {
  private let name: String
  private let storage: String
  private var isShadowed = false

  init(of name: TokenSyntax) {
    (self.name, storage) = (name.text, storageName(of: name))
    super.init()
  }

  override func visit(_ node: AccessorDeclSyntax) -> DeclSyntax {
    let declarations = Declarations(of: name)
    declarations.walk(node)
    isShadowed = declarations.isFound
    return super.visit(node)
  }

  override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
    guard node.baseName.text == name, node.argumentNames == nil else { return ExprSyntax(node) }
    if let access = node.parent?.as(MemberAccessExprSyntax.self), access.declName.id == node.id {
      let base = access.base?.as(DeclReferenceExprSyntax.self)
      guard base?.baseName.tokenKind == .keyword(.self) else { return ExprSyntax(node) }
    } else if isShadowed {
      return ExprSyntax(node)
    }
    var node = node
    node.baseName = .identifier(
      storage, leadingTrivia: node.baseName.leadingTrivia,
      trailingTrivia: node.baseName.trailingTrivia)
    return ExprSyntax(node)
  }

  /// Whether another declaration shadows the name.
  private final class Declarations: SyntaxVisitor {
    private let name: String
    private(set) var isFound = false

    init(of name: String) {
      self.name = name
      super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
      isFound = isFound || node.identifier.text == name
      return .visitChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
      isFound = isFound || node.name.text == name
      return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
      isFound = isFound || (node.secondName ?? node.firstName).text == name
      return .visitChildren
    }
  }
}
