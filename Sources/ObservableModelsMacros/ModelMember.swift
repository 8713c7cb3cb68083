import SwiftSyntax

/// A member of a class that becomes a property of the model, with a slot of its own.
struct ModelMember {
  /// Where the value comes from.
  enum Kind {
    /// It is stored; a constant has no accessors to expand.
    case stored(isConstant: Bool)
    /// `@Computed` or `@LazyProperty`: a method computes it.
    case lazy(LazyArguments)
  }

  let kind: Kind
  /// As a key path calls it, without backticks.
  let name: String
  /// As Swift spells it.
  let spelling: String
  /// Not to be set by name.
  let isReadOnly: Bool

  /// The entry in the list of properties.
  func entry(in model: ModelClass) -> String {
    switch kind {
    case .stored:
      let setter = isReadOnly ? "" : ", set: { $0.\(spelling) = $1 }"
      return "Observables.Property(\(stringLiteral(name)), get: { $0.\(spelling) }\(setter))"
    case .lazy(let arguments):
      return computed(by: arguments, in: model) + (isReadOnly ? ".readOnlyByName" : "")
    }
  }

  private func computed(by arguments: LazyArguments, in model: ModelClass) -> String {
    let head = arguments.head(name, spelling)
    if let loader = arguments.loader?.literalText {
      return "\(head), loader: { \(model.attempt(loader))$0.\(loader)($1) })"
    }
    let call = "\(model.attempt(maker))"
    guard model.method(maker)?.isOfType == true else {
      return "\(head), get: { \(call)$0.\(maker)() })"
    }
    let configure = arguments.configure?.literalText.map { method in
      ", configure: { \(model.attempt(method))$0.\(method)($1) }"
    }
    return "\(head), create: { \(call)\(model.name).\(maker)() }\(configure ?? ""))"
  }

  /// The method that computes the property, if it is lazy.
  var maker: String { "make" + name.prefix(1).uppercased() + name.dropFirst() }
}

/// `text` as a literal of Swift.
func stringLiteral(_ text: String) -> String {
  let escaped = text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
  return "\"\(escaped)\""
}

/// The text of a name without the backticks around it.
func plainName(_ token: TokenSyntax) -> String {
  token.text.count > 2 && token.text.hasPrefix("`")
    ? String(token.text.dropFirst().dropLast())
    : token.text
}

extension FunctionDeclSyntax {
  var isOfType: Bool { modifiers.has(.static) || modifiers.has(.class) }
  var isThrowing: Bool { signature.effectSpecifiers?.throwsClause != nil }
}

extension VariableDeclSyntax {
  /// The only variable that is declared, where it has a name.
  var onlyBinding: (binding: PatternBindingSyntax, name: TokenSyntax)? {
    guard bindings.count == 1, let binding = bindings.first,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
    else { return nil }
    return (binding, name)
  }

  var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }
  var isLazy: Bool { modifiers.has(.lazy) }
  var isOfType: Bool { modifiers.has(.static) || modifiers.has(.class) }

  /// Nobody outside of the class or file sees it.
  var isHidden: Bool {
    modifiers.contains {
      $0.detail == nil && [.keyword(.private), .keyword(.fileprivate)].contains($0.name.tokenKind)
    }
  }

  /// `private(set)` and the like.
  var hasHiddenSetter: Bool { modifiers.contains { $0.detail != nil && $0.name.text != "unowned" } }
}

extension PatternBindingSyntax {
  /// It has a getter, and stores nothing.
  var isComputed: Bool {
    switch accessorBlock?.accessors {
    case .none: false
    case .getter: true
    case .accessors(let accessors):
      accessors.contains {
        ![.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
      }
    }
  }
}

extension DeclModifierListSyntax {
  func has(_ keyword: Keyword) -> Bool { contains { $0.name.tokenKind == .keyword(keyword) } }

  /// The access level, if it is stated and reaches beyond the module's default.
  var access: String {
    first { ["open", "public", "package"].contains($0.name.text) && $0.detail == nil }
      .map { $0.name.text + " " } ?? ""
  }
}

extension AttributeListSyntax {
  /// The attribute of this name, qualified or not.
  func named(_ name: String) -> AttributeSyntax? {
    lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.shortName == name }
  }
}

extension AttributeSyntax {
  /// Its name without the module.
  var shortName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }

  /// What is in its parentheses.
  var list: LabeledExprListSyntax {
    arguments?.as(LabeledExprListSyntax.self) ?? LabeledExprListSyntax([])
  }
}
