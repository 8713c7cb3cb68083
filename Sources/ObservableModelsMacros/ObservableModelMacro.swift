import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@ObservableModel`, which writes the list of properties, the observation and the conformance.
struct ObservableModelMacro {
  /// The class, if there is a place for the code of the macro.
  private static func model(
    _ declaration: some DeclGroupSyntax, _ node: AttributeSyntax,
    in context: some MacroExpansionContext
  ) -> ModelClass? {
    guard !context.isLocal, let declaration = declaration.as(ClassDeclSyntax.self) else {
      return nil
    }
    let (model, obstacles) = ModelClass.known(declaration, node, in: context)
    return obstacles.isEmpty ? model : nil
  }
}

extension ObservableModelMacro: MemberAttributeMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    guard let model = model(declaration, node, in: context),
      let variable = member.as(VariableDeclSyntax.self)
    else { return [] }
    if let slot = model.slot(of: variable) {
      let isInitialized = model.initialized.mayInitialize(variable) ? [".initialized"] : []
      let isRecord = model.isRecord ? [".record"] : []
      let arguments = ["\(slot)"] + model.options.text + isInitialized + isRecord
      return ["@ObservedProperty(\(raw: arguments.joined(separator: ", ")))"]
    }
    if let relation = variable.attributes.relation, model.isRecord {
      return variable.foreignWrapper == nil ? [RelationArguments(relation).wrapper] : []
    }
    let isLazy =
      variable.attributes.making != nil && variable.isStoredInInstance && !variable.isConstant
    return isLazy && variable.attributes.named("Lazy") == nil ? ["@Observables.Lazy"] : []
  }
}

extension ObservableModelMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let model = model(declaration, node, in: context) else { return [] }
    var conformances: [String] = []
    if protocols.contains(named: "ObservableModel") {
      conformances.append((model.actor ?? model.noActor) + "Observables.ObservableModel")
    }
    if protocols.contains(named: "Observable"), model.options.isObservable {
      conformances.append(model.noActor + "ObservableModels.FrameworkObservable")
    }
    // A subclass has to repeat `Sendable`.
    if model.options.isThreadSafe, !model.inherits("Sendable") {
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
    if context.isLocal { return [] }
    let (model, obstacles) = ModelClass.known(declaration, node, in: context)
    if !obstacles.isEmpty {
      for obstacle in obstacles { context.diagnose(obstacle) }
      return []
    }
    // If the compiler does not ask for the conformance, the superclass is a model and conforms
    // already.
    let isRoot =
      model.inherited.isEmpty || model.inherits("ObservableModel")
      || protocols.contains(named: "ObservableModel")
    ModelChecks(model, isRoot: isRoot, in: context).run()
    let isGeneric =
      declaration.genericParameterClause != nil
      || context.lexicalContext.contains { $0.isGeneric }
    let parent = isRoot ? nil : model.inherited.first?.trimmedDescription
    if let parent, model.options.isThreadSafe, protocols.contains(named: "Sendable") {
      context.diagnose(.threadsOfParent(parent, node))
    }
    var members = model.propertyMembers(inheriting: parent, isGeneric: isGeneric)
    if protocols.contains(named: "Observable"), model.options.isObservable {
      members.append(model.registrar)
    }
    return members + model.isolatedMembers(isRoot: isRoot) + model.sharedMembers(in: context)
      + model.codingMembers(isRoot: isRoot) + model.recordMembers
  }
}

extension [TypeSyntax] {
  fileprivate func contains(named name: String) -> Bool { contains { $0.shortName == name } }
}

extension Syntax {
  /// Whether a static property cannot be stored here, or might not be allowed: an extension does
  /// not show that.
  fileprivate var isGeneric: Bool {
    self.is(ExtensionDeclSyntax.self)
      || asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
  }
}
