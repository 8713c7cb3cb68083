import SwiftSyntax
import SwiftSyntaxMacros
import Synchronization

/// A class with `@ObservableModel`, and its members as properties of a model.
struct ModelClass {
  let declaration: ClassDeclSyntax
  /// The access level of its new members, so that they can be seen wherever the class can.
  let access: String
  /// The properties in the order of their slots, which follow the slots of a superclass.
  let members: [ModelMember]
  let options: ModelOptions
  /// The indexes in `members` of the properties with observed accessors, by name.
  private let slots: [String: Int]
  /// The names to which the initializers of the class may give a first value.
  let initialized: InitializedNames

  /// The class of the last expansion.
  ///
  /// The compiler expands each member of a class separately, and passes the whole class each time.
  private static let last = Mutex<Known?>(nil)

  // The trees of swift-syntax are immutable. Keeping the tree ensures that no other tree has its
  // identity.
  private struct Known: @unchecked Sendable {
    let model: ModelClass
    let obstacles: [PlacedDiagnostic]
    let attribute: String
    let extending: String
  }

  /// Returns the class, and the errors that leave no place for the code of the macro.
  static func known(
    _ declaration: ClassDeclSyntax, _ attribute: AttributeSyntax,
    in context: some MacroExpansionContext
  ) -> (model: ModelClass, obstacles: [PlacedDiagnostic]) {
    let (text, extending) = (attribute.trimmedDescription, outerAccess(context))
    let known = last.withLock { $0 }
    if let known, known.model.declaration.id == declaration.id, known.attribute == text,
      known.extending == extending
    {
      return (known.model, known.obstacles)
    }
    let model = ModelClass(declaration, attribute, in: context)
    let obstacles = model.obstacles
    last.withLock {
      $0 = Known(model: model, obstacles: obstacles, attribute: text, extending: extending)
    }
    return (model, obstacles)
  }

  private static func outerAccess(_ context: some MacroExpansionContext) -> String {
    context.lexicalContext.first?.as(ExtensionDeclSyntax.self)?.modifiers.access ?? ""
  }

  init(
    _ declaration: ClassDeclSyntax, _ attribute: AttributeSyntax,
    in context: some MacroExpansionContext
  ) {
    self.declaration = declaration
    // The access level may be stated at the extension around the class.
    access =
      declaration.modifiers.hasAccess
      ? declaration.modifiers.access : Self.outerAccess(context)
    options = ModelOptions(attribute.list)
    members = declaration.memberBlock.members.compactMap { Self.member($0.decl) }
    slots = Dictionary(
      members.enumerated().compactMap { slot, member in
        if case .stored(isConstant: false) = member.kind { (member.name, slot) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
    initialized = InitializedNames(declaration)
  }

  var name: String { declaration.name.trimmed.text }
  var isFinal: Bool { declaration.modifiers.has(.final) }

  /// The superclass and protocols; a composition is split into its parts.
  var inherited: [TypeSyntax] {
    declaration.inheritanceClause?.inheritedTypes.flatMap { $0.type.parts } ?? []
  }

  func inherits(_ names: String...) -> Bool {
    inherited.contains { names.contains($0.shortName) }
  }

  /// The call, with one argument, of the `model` method that a literal names.
  ///
  /// A statement without a call if no method takes the argument; that error has been reported.
  func call(_ literal: ExprSyntax, with argument: String, _ type: TypeSyntax) -> String {
    guard let name = literal.literalText, let method = method(name, fits: { $0.takes(type) }),
      method.takes(type)
    else { return "_ = \(argument)" }
    return "\(method.attempt)model.\(name)(\(argument))"
  }

  /// The call of the `model` method that a literal names, and that configures `value`.
  ///
  /// A statement without a call if there is no such method; that error has been reported.
  func configuration(
    _ literal: ExprSyntax, of type: TypeSyntax, _ arguments: LazyArguments
  ) -> String {
    guard let name = literal.literalText,
      let method = method(name, fits: { $0.configures(type, arguments) }),
      method.configures(type, arguments)
    else { return "_ = value" }
    let count = method.signature.parameterClause.parameters.count
    let given = ["value", "argument"].prefix(count).joined(separator: ", ")
    return "\(method.attempt)model.\(name)(\(given))"
  }

  /// The method with this name that the class itself declares; an overload that fits, if there is
  /// one.
  func method(_ name: String, fits: (FunctionDeclSyntax) -> Bool) -> FunctionDeclSyntax? {
    let methods = declaration.memberBlock.members
      .compactMap { $0.decl.as(FunctionDeclSyntax.self) }
      .filter { plainName($0.name) == name }
    return methods.first(where: fits) ?? methods.first
  }

  /// The method that computes a property of a type.
  func maker(of member: ModelMember, _ type: TypeSyntax) -> FunctionDeclSyntax? {
    method(member.maker) { method in
      guard case .lazy(let arguments, _) = member.kind else { return false }
      return method.makes(arguments) && !method.result.isOther(than: type)
    }
  }

  /// The single key path of a computed property that has the value at this path.
  ///
  /// nil if the class has a method for the property, or a method with a similar name, which was
  /// probably meant for it.
  func valuePath(of member: ModelMember, _ arguments: LazyArguments) -> ExprSyntax? {
    guard arguments.isComputed, arguments.paths.count == 1 else { return nil }
    let others = members.map(\.maker)
    let names = declaration.memberBlock.members
      .compactMap { $0.decl.as(FunctionDeclSyntax.self).map { plainName($0.name) } }
    let isMade =
      names.contains(member.maker)
      || nearestName(to: member.maker, among: names.filter { !others.contains($0) }) != nil
    return isMade ? nil : arguments.paths.first
  }

  var deinitializer: DeinitializerDeclSyntax? {
    declaration.memberBlock.members.lazy.compactMap { $0.decl.as(DeinitializerDeclSyntax.self) }
      .first
  }

  /// The property that this variable declares.
  func member(of variable: VariableDeclSyntax) -> ModelMember? {
    guard variable.isStoredInInstance, let name = variable.onlyBinding?.name else { return nil }
    return members.first { $0.name == plainName(name) }
  }

  /// The slot of the property that this variable declares, if it is stored with observed accessors.
  func slot(of variable: VariableDeclSyntax) -> Int? {
    variable.onlyBinding.flatMap { slots[plainName($0.name)] }
  }

  /// The property that `member` declares, if it declares one.
  private static func member(_ member: DeclSyntax) -> ModelMember? {
    guard let variable = member.as(VariableDeclSyntax.self), variable.isStoredInInstance,
      variable.attributes.named("Ignored") == nil, let (_, name) = variable.onlyBinding,
      // Locks and atomic values cannot be read or written as values.
      !variable.isConstantOfSynchronization,
      // Another check reports opaque types.
      variable.bindings.first?.typeAnnotation?.type.isOpaque != true,
      !variable.isConstant || variable.attributes.making == nil
    else { return nil }
    let isReadOnly = variable.isConstant || variable.hasHiddenSetter
    let kind: ModelMember.Kind
    if let attribute = variable.attributes.making {
      let type = variable.bindings.first?.typeAnnotation?.type.trimmed
      kind = .lazy(LazyArguments(attribute), type)
    } else if let attribute = variable.attributes.relation {
      guard let type = variable.bindings.first?.typeAnnotation?.type.trimmed else { return nil }
      kind = .relation(RelationArguments(attribute), type)
    } else if variable.attributes.named("Observed") != nil
      || !variable.isHidden && variable.foreignWrapper == nil
    {
      kind = .stored(isConstant: variable.isConstant)
    } else {
      return nil
    }
    return ModelMember(
      kind: kind, name: plainName(name), spelling: name.text, isReadOnly: isReadOnly,
      isOpaque: variable.attributes.named("Opaque") != nil)
  }
}

/// The options of `@ObservableModel`.
struct ModelOptions {
  /// Whether several threads may write.
  let isThreadSafe: Bool
  /// Whether the toolchain's Observation also tracks the model.
  let isObservable: Bool
  /// Whether an initializer of the class may give the property its first value.
  let isInitialized: Bool
  /// Whether the class is a record, whose store is notified of writes.
  let isRecord: Bool
  /// The options as they are written.
  let text: [String]

  init(_ arguments: LabeledExprListSyntax) {
    text = arguments.map(\.expression.trimmedDescription).filter { Int($0) == nil }
    isThreadSafe = text.contains { $0.hasSuffix(".threadSafe") }
    isObservable = text.contains { $0.hasSuffix(".observable") }
    isInitialized = text.contains { $0.hasSuffix(".initialized") }
    isRecord = text.contains { $0.hasSuffix(".record") }
  }
}

extension AttributeListSyntax {
  /// The attribute of a property that a method computes.
  var making: AttributeSyntax? { named("Computed") ?? named("LazyProperty") }
}

extension VariableDeclSyntax {
  /// Whether it is stored in each instance, and is not `lazy`.
  var isStoredInInstance: Bool {
    !isOfType && !isLazy && !modifiers.has(.override)
      && !bindings.contains(where: \.isComputed)
  }

  /// Whether it is a constant whose value is a lock or atomic, which cannot be copied.
  var isConstantOfSynchronization: Bool {
    guard isConstant, let (binding, _) = onlyBinding else { return false }
    let type =
      binding.typeAnnotation?.type.plain.shortName
      ?? binding.initializer?.value.as(FunctionCallExprSyntax.self)?.calledName
    return type.map { ["Mutex", "Atomic", "AtomicLazyReference"].contains($0) } ?? false
  }

  /// An attribute that may be a property wrapper, which rules out other accessors.
  var foreignWrapper: AttributeSyntax? {
    attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
      guard let first = attribute.shortName.first, first.isUppercase else { return false }
      return ![
        "Observed", "Ignored", "Opaque", "LazyProperty", "Computed", "ObservedProperty",
        "MainActor", "HasMany", "HasOne", "BelongsTo", "Stored",
      ].contains(attribute.shortName)
    }
  }
}

extension FunctionCallExprSyntax {
  /// The called name without module and generic arguments: `Mutex` of `Mutex<[Int]>([])`.
  fileprivate var calledName: String? {
    let called =
      calledExpression.as(GenericSpecializationExprSyntax.self)?.expression ?? calledExpression
    return called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
      ?? called.as(DeclReferenceExprSyntax.self)?.baseName.text
  }
}
