import SwiftSyntax
import SwiftSyntaxBuilder

/// A member of a class that becomes a property of the model, with its own slot.
struct ModelMember {
  /// The source of the value.
  enum Kind {
    /// A stored property; a constant has no accessors to expand.
    case stored(isConstant: Bool)
    /// `@Computed` or `@LazyProperty`: a method computes the value; the type is as written.
    case lazy(LazyArguments, TypeSyntax?)
    /// `@HasMany`, `@HasOne` or `@BelongsTo`: rows of a table, which the record's store loads.
    case relation(RelationArguments, TypeSyntax)
  }

  let kind: Kind
  /// The name in key paths, without backticks.
  let name: String
  /// The name as Swift spells it.
  let spelling: String
  /// Whether it cannot be set by name.
  let isReadOnly: Bool
  /// Whether `**` in key paths does not follow it.
  let isOpaque: Bool

  /// The entry in the list of properties.
  func entry(in model: ModelClass) -> String {
    switch kind {
    case .stored:
      let setter = isReadOnly ? "" : ", set: { $0.\(spelling) = $1 }"
      return "Observables.Property(\(stringLiteral(name)), get: { $0.\(spelling) }\(setter))"
        + (isOpaque ? ".opaque" : "")
    case .lazy(let arguments, let type):
      // An assigned value would be saved, and would be wrong.
      let isStored = model.isRecord && model.isStoredColumn(self)
      return computed(by: arguments, type, in: model)
        + (isReadOnly || isStored ? ".readOnlyByName" : "")
    case .relation(let arguments, let type):
      return arguments.entry(name, spelling, type, isReadOnly: isReadOnly, in: model)
    }
  }

  /// The entry of a lazy property.
  ///
  /// The types of closures and values are written out, so that the compiler reports a method with
  /// another type.
  private func computed(
    by arguments: LazyArguments, _ type: TypeSyntax?, in model: ModelClass
  ) -> String {
    let head = arguments.head(name, spelling)
    if let loader = arguments.loader {
      let call = model.call(loader, with: "name", "String")
      return "\(head), loader: { (model: \(model.name), name: String) in \(call) })"
    }
    if let type, let path = model.valuePath(of: self, arguments) {
      let result = type.optionalType
      let call = "try model.value(at: \(path.trimmedDescription), as: (\(result)).self)"
      return "\(head), get: { (model: \(model.name)) -> \(result) in \(body(result, call)) })"
    }
    guard let type, let method = model.maker(of: self, type), method.makes(arguments),
      !method.result.isOther(than: type), type.isOptional || !method.isOfType,
      method.isOfType || arguments.with == nil
    else {
      // The missing or wrong part has been reported.
      return "\(head), get: { _ in fatalError() })"
    }
    guard method.isOfType else {
      let (result, call) = (type.optionalType, "\(method.attempt)model.\(maker)()")
      return "\(head), get: { (model: \(model.name)) -> \(result) in \(body(result, call)) })"
    }
    let created = type.wrappedType
    let argument = arguments.with == nil ? "" : "argument"
    let call = "\(method.attempt)\(model.name).\(maker)(\(argument))"
    let configure = arguments.configure.map { configure in
      let call = model.configuration(configure, of: created, arguments)
      let parameters =
        argument.isEmpty
        ? "(model: \(model.name), value: \(created))" : "model, value, \(argument)"
      return ", configure: { \(parameters) in \(call) }"
    }
    return """
      \(head)\(arguments.with.map { ", with: \($0.trimmedDescription)" } ?? ""), \
      create: { (\(argument)) -> \(created) in \(body(created, call)) }\(configure ?? ""))
      """
  }

  private func body(_ type: TypeSyntax, _ call: String) -> String {
    "let value: \(type) = \(call)\nreturn value"
  }

  /// The name of the method that computes the property, if it is lazy.
  var maker: String { "make" + name.prefix(1).uppercased() + name.dropFirst() }
}

/// `text` as a Swift literal.
func stringLiteral(_ text: String) -> String {
  let escaped = text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
  return "\"\(escaped)\""
}

/// The text of a name, without backticks.
func plainName(_ token: TokenSyntax) -> String {
  token.text.count > 2 && token.text.hasPrefix("`")
    ? String(token.text.dropFirst().dropLast())
    : token.text
}

extension FunctionDeclSyntax {
  var isOfType: Bool { modifiers.has(.static) || modifiers.has(.class) }
  var result: TypeSyntax { signature.returnClause?.type ?? "Void" }

  /// `try `, if the function throws; otherwise empty.
  var attempt: String { signature.effectSpecifiers?.throwsClause == nil ? "" : "try " }

  /// Whether it can be called synchronously, without arguments.
  var takesNothing: Bool {
    signature.parameterClause.parameters.isEmpty
      && signature.effectSpecifiers?.asyncSpecifier == nil
  }

  /// Whether it can make the value of a lazy property, as far as the macro can see.
  ///
  /// Its argument is the value of `with`.
  func makes(_ arguments: LazyArguments) -> Bool {
    if arguments.with == nil { return takesNothing }
    let parameters = signature.parameterClause.parameters
    return parameters.count == 1 && parameters.first?.firstName.tokenKind == .wildcard
      && signature.effectSpecifiers?.asyncSpecifier == nil
  }

  /// Whether it can configure a value of a type, as far as the macro can see: it takes nothing, the
  /// value, or the value and the argument of `with`.
  func configures(_ type: TypeSyntax, _ arguments: LazyArguments) -> Bool {
    let parameters = signature.parameterClause.parameters
    return parameters.count <= (arguments.with == nil ? 1 : 2)
      && parameters.allSatisfy { $0.firstName.tokenKind == .wildcard }
      && parameters.first.map { !type.isOther(than: $0.type) } ?? true
      && signature.effectSpecifiers?.asyncSpecifier == nil
  }

  /// Whether it can be called with one argument of a type, as far as the macro can see.
  func takes(_ type: TypeSyntax) -> Bool {
    let parameters = signature.parameterClause.parameters
    guard parameters.count == 1, let parameter = parameters.first else { return false }
    return parameter.firstName.tokenKind == .wildcard && !type.isOther(than: parameter.type)
  }
}

extension VariableDeclSyntax {
  /// The only declared variable, if it has a name.
  var onlyBinding: (binding: PatternBindingSyntax, name: TokenSyntax)? {
    guard bindings.count == 1, let binding = bindings.first,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
    else { return nil }
    return (binding, name)
  }

  var isConstant: Bool { bindingSpecifier.tokenKind == .keyword(.let) }
  var isLazy: Bool { modifiers.has(.lazy) }
  var isOfType: Bool { modifiers.has(.static) || modifiers.has(.class) }

  /// Whether it is invisible outside of the class or file.
  var isHidden: Bool {
    modifiers.contains {
      $0.detail == nil && [.keyword(.private), .keyword(.fileprivate)].contains($0.name.tokenKind)
    }
  }

  /// Whether it has a restricted setter, such as `private(set)`.
  var hasHiddenSetter: Bool { modifiers.contains { $0.detail?.detail.text == "set" } }

  /// Whether it is `nonisolated(unsafe)`: the class itself ensures that one thread at a time uses
  /// it.
  var isUnchecked: Bool {
    modifiers.contains { $0.name.text == "nonisolated" && $0.detail?.detail.text == "unsafe" }
  }
}

extension PatternBindingSyntax {
  /// Whether it has a getter and no storage.
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

  var hasAccess: Bool {
    contains {
      ["open", "public", "package", "internal", "fileprivate", "private"].contains($0.name.text)
        && $0.detail == nil
    }
  }

  /// The access level, if it is stated and is wider than the default.
  var access: String {
    first { ["open", "public", "package"].contains($0.name.text) && $0.detail == nil }
      .map { $0.name.text + " " } ?? ""
  }
}

extension AttributeListSyntax {
  /// The attribute with this name, qualified or not.
  func named(_ name: String) -> AttributeSyntax? {
    lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.shortName == name }
  }
}

extension AttributeSyntax {
  /// The name of the attribute without the module.
  var shortName: String {
    attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.trimmedDescription
  }

  /// The arguments in the parentheses of the attribute.
  var list: LabeledExprListSyntax {
    arguments?.as(LabeledExprListSyntax.self) ?? LabeledExprListSyntax([])
  }
}
