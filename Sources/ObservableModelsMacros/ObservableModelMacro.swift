import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ObservableModel`: the list of properties, the observation, the conformance.
struct ObservableModelMacro {}

extension ObservableModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let declaration = declaration.as(ClassDeclSyntax.self),
      let variable = member.as(VariableDeclSyntax.self)
    else { return [] }
    let model = ModelClass(declaration, node)
    if let slot = model.slot(of: variable) {
      let arguments = (["\(slot)"] + model.options.text).joined(separator: ", ")
      return ["@ObservedProperty(\(raw: arguments))"]
    }
    let isLazy = variable.attributes.making != nil && variable.isStoredInInstance
    return isLazy && variable.attributes.named("Lazy") == nil ? ["@Observables.Lazy"] : []
  }
}

extension ObservableModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let declaration = declaration.as(ClassDeclSyntax.self) else { return [] }
    let model = ModelClass(declaration, node)
    var conformances: [String] = []
    for text in protocols.map(\.trimmedDescription) {
      if text.hasSuffix("ObservableModel") { conformances.append("Observables.ObservableModel") }
      if text.hasSuffix("Observable"), model.options.isObservable {
        conformances.append("Observation.Observable")
      }
    }
    // A subclass has to say so again.
    if model.options.isThreadSafe, !model.inherits("@unchecked Sendable") {
      conformances.append("@unchecked Sendable")
    }
    if conformances.isEmpty { return [] }
    let list = conformances.joined(separator: ", ")
    return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: list) {}")]
  }
}

extension ObservableModelMacro: MemberMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let declaration = declaration.as(ClassDeclSyntax.self) else {
      context.diagnose(.notAClass(declaration, node))
      return []
    }
    let model = ModelClass(declaration, node)
    // Only a class whose superclass is a model conforms already without saying so.
    let isRoot =
      model.inherited.isEmpty || model.inherits("ObservableModel")
      || protocols.contains { $0.trimmedDescription.hasSuffix("ObservableModel") }
    ModelChecks(model, isRoot: isRoot, in: context).run()
    let isGeneric =
      declaration.genericParameterClause != nil
      || context.lexicalContext.contains { $0.isGeneric }
    let parent = isRoot ? nil : model.inherited.first
    return model.propertyMembers(inheriting: parent, isGeneric: isGeneric)
      + model.codingMembers(isRoot: isRoot)
  }
}

extension Syntax {
  /// A declaration in which a type cannot store anything, or may not: an extension doesn't say.
  fileprivate var isGeneric: Bool {
    self.is(ExtensionDeclSyntax.self)
      || asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}
