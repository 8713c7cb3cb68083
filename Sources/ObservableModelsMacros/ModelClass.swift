import SwiftSyntax

/// A class with `@ObservableModel`, and what its members are to a model.
struct ModelClass {
  let declaration: ClassDeclSyntax
  /// In the order of their slots, behind those of a superclass.
  let members: [ModelMember]
  let options: ModelOptions

  init(_ declaration: ClassDeclSyntax, _ attribute: AttributeSyntax) {
    self.declaration = declaration
    options = ModelOptions(attribute.list)
    members = declaration.memberBlock.members.compactMap { Self.member($0.decl) }
  }

  var name: String { declaration.name.trimmed.text }
  var access: String { declaration.modifiers.access }
  var isFinal: Bool { declaration.modifiers.has(.final) }

  /// Protocols and the superclass, as they are named.
  var inherited: [String] {
    declaration.inheritanceClause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
  }

  func inherits(_ names: String...) -> Bool {
    inherited.contains { names.contains($0) || names.contains("\($0.split(separator: ".").last!)") }
  }

  /// What a call of a method begins with: `try` where it throws.
  func attempt(_ method: String) -> String {
    self.method(method)?.isThrowing == true ? "try " : ""
  }

  /// The method of that name, if it is declared in the class itself.
  func method(_ name: String) -> FunctionDeclSyntax? {
    declaration.memberBlock.members.lazy.compactMap { $0.decl.as(FunctionDeclSyntax.self) }
      .first { plainName($0.name) == name }
  }

  /// The stored property with observed accessors that is declared so, and its slot.
  func slot(of variable: VariableDeclSyntax) -> Int? {
    guard let name = variable.onlyBinding?.name else { return nil }
    return members.firstIndex { member in
      if case .stored(isConstant: false) = member.kind { return member.name == plainName(name) }
      return false
    }
  }

  /// The property that `member` becomes, if it becomes one.
  private static func member(_ member: DeclSyntax) -> ModelMember? {
    guard let variable = member.as(VariableDeclSyntax.self), variable.isStoredInInstance,
      variable.attributes.named("Ignored") == nil, let (_, name) = variable.onlyBinding
    else { return nil }
    let isReadOnly = variable.isConstant || variable.hasHiddenSetter
    let kind: ModelMember.Kind
    if let attribute = variable.attributes.making {
      kind = .lazy(LazyArguments(attribute))
    } else if variable.attributes.named("Observed") != nil
      || !variable.isHidden && variable.foreignWrapper == nil
    {
      kind = .stored(isConstant: variable.isConstant)
    } else {
      return nil
    }
    return ModelMember(
      kind: kind, name: plainName(name), spelling: name.text, isReadOnly: isReadOnly)
  }
}

/// What `@ObservableModel` is asked for besides.
struct ModelOptions {
  /// Several threads may write.
  let isThreadSafe: Bool
  /// The toolchain's Observation tracks it, too.
  let isObservable: Bool
  /// As they are written.
  let text: [String]

  init(_ arguments: LabeledExprListSyntax) {
    text = arguments.map(\.expression.trimmedDescription).filter { Int($0) == nil }
    isThreadSafe = text.contains { $0.hasSuffix(".threadSafe") }
    isObservable = text.contains { $0.hasSuffix(".observable") }
  }
}

extension AttributeListSyntax {
  /// What says that a method computes a property.
  var making: AttributeSyntax? { named("Computed") ?? named("LazyProperty") }
}

extension VariableDeclSyntax {
  /// It is stored in each instance, and not by `lazy`.
  var isStoredInInstance: Bool {
    !isOfType && !isLazy && !modifiers.has(.override)
      && !bindings.contains(where: \.isComputed)
  }

  /// An attribute that may be a property wrapper, which leaves no place for other accessors.
  var foreignWrapper: AttributeSyntax? {
    attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
      guard let first = attribute.shortName.first, first.isUppercase else { return false }
      return !["Observed", "Ignored", "LazyProperty", "Computed", "ObservedProperty", "MainActor"]
        .contains(attribute.shortName)
    }
  }
}
