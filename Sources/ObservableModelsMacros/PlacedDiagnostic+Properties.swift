import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder

extension PlacedDiagnostic {
  /// `let x = 1 { didSet { … } }`.
  static func observersOfConstant(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax
  ) -> Self {
    Self(
      "constant", at: variable.bindingSpecifier,
      "a 'let' never changes: it cannot have observers, and is observed as part of a path only",
      fix: Replacement(variable.bindingSpecifier, by: .keyword(.var)))
  }

  /// `@Computed let x: Int`.
  static func lazyConstant(_ variable: VariableDeclSyntax, _ attribute: AttributeSyntax) -> Self {
    Self(
      "lazy-constant", at: variable.bindingSpecifier,
      "a '@\(attribute.shortName)' property gets its value later: it must be a 'var'",
      fix: Replacement(variable.bindingSpecifier, by: .keyword(.var)))
  }

  /// `var a = 1, b = 2`.
  static func severalVariables(_ variable: VariableDeclSyntax) -> Self {
    var head = variable
    head.bindings = []
    let text = variable.bindings
      .map { binding in
        var binding = binding
        binding.trailingComma = nil
        return "\(head.trimmedDescription) \(binding.trimmedDescription)"
      }
      .joined(separator: "\n" + variable.indentation)
    return Self(
      "several", at: variable.bindings,
      "declare observed properties separately: each needs its own accessors",
      fix: Replacement("declare each separately", variable, by: text))
  }

  /// `var x`, without a type, and without a value from which the type could be inferred.
  static func missingType(of binding: PatternBindingSyntax, _ name: TokenSyntax) -> Self {
    var typed = binding.with(\.pattern, binding.pattern.trimmed)
    typed.typeAnnotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space),
      type: TypeSyntax("\(raw: "<#Type#>")"))
    if binding.initializer != nil { typed.typeAnnotation?.trailingTrivia = .space }
    return Self(
      "type", at: name, "the type of '\(name.text)' is missing",
      fix: Replacement("add a type", binding, by: typed))
  }

  /// `@Published var x = 1`.
  static func foreignWrapper(
    _ attribute: AttributeSyntax, on variable: VariableDeclSyntax
  ) -> Self {
    var changed = variable
    let ignored = AttributeSyntax("@Ignored").with(\.trailingTrivia, .space)
    changed.attributes = variable.attributes + [.attribute(ignored)]
    return Self(
      "wrapper", at: attribute,
      "'@\(attribute.shortName)' may add accessors, and so does an observed property",
      fix: Replacement("exclude the property with '@Ignored'", variable, by: changed))
  }

  /// `@Computed var full: String { … }`: a macro cannot replace a getter.
  static func getterInPlace(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ name: TokenSyntax,
    _ attribute: AttributeSyntax
  ) -> Self {
    let maker = "make" + plainName(name).prefix(1).uppercased() + plainName(name).dropFirst()
    let message = """
      the getter of a '@\(attribute.shortName)' property would run at each read, as no macro can \
      replace it: compute the value in a method '\(maker)()'
      """
    guard let (effects, body) = binding.getter, let type = binding.typeAnnotation?.type else {
      return Self("getter", at: binding, message)
    }
    var declared = variable
    declared.bindings = [
      PatternBindingSyntax(
        pattern: binding.pattern, typeAnnotation: binding.typeAnnotation?.trimmed)
    ]
    let text = """
      \(declared.trimmedDescription)
      \(variable.indentation)private func \(maker)() \(effects)-> \(type.trimmed) \(body)
      """
    return Self(
      "getter", at: binding.accessorBlock ?? AccessorBlockSyntax(accessors: .getter([])), message,
      fix: Replacement("move the getter to '\(maker)()'", variable, by: text))
  }

  /// No method computes the property.
  static func missingMaker(
    _ maker: String, _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax,
    _ attribute: AttributeSyntax
  ) -> Self {
    let type = binding.typeAnnotation!.type.trimmed
    let text = """
      \(variable.trimmedDescription)
      \(variable.indentation)private func \(maker)() -> \(type) { \("<#value#>") }
      """
    return Self(
      "maker", at: attribute,
      "nothing computes the property: the class needs a method '\(maker)() -> \(type)'",
      fix: Replacement("add '\(maker)()'", variable, by: text))
  }

  /// A value that is created on first use, but whose type has no nil.
  static func createdNotOptional(_ type: TypeSyntax, _ maker: String) -> Self {
    let optional = OptionalTypeSyntax(
      wrappedType: type.trimmed, trailingTrivia: type.trailingTrivia)
    return Self(
      "optional", at: type,
      "'static \(maker)()' creates the value, and assigning nil creates it again: the property "
        + "must be optional",
      fix: Replacement("make it optional", type, by: optional))
  }

  /// A method whose result has a different type from its property.
  static func otherResult(
    of maker: FunctionDeclSyntax, _ type: TypeSyntax, _ property: String
  ) -> Self {
    let message = """
      '\(maker.name.text)()' computes '\(property)', which is '\(type.trimmed)', \
      not '\(maker.result.trimmed)'
      """
    guard let result = maker.signature.returnClause?.type else {
      return Self("result", at: maker.name, message)
    }
    let right = type.optionalType.with(\.trailingTrivia, result.trailingTrivia)
    return Self(
      "result", at: result, message,
      fix: Replacement("replace '\(result.trimmed)' with '\(right.trimmed)'", result, by: right))
  }

  /// A literal with a name that the class does not have.
  static func unknownName(
    _ name: String, in literal: ExprSyntax, nearest: String?, replacing text: String,
    _ message: String
  ) -> Self {
    guard let nearest else { return Self("name", at: literal, message) }
    let written = literal.trimmedDescription
    let fixed = written.replacing(text, with: nearest, maxReplacements: 1)
    return Self(
      "name", at: literal, message + didYouMean(nearest),
      fix: Replacement(
        "replace '\(name)' with '\(nearest)'", literal, by: ExprSyntax("\(raw: fixed)")))
  }
}

extension VariableDeclSyntax {
  /// The spaces before the declaration.
  fileprivate var indentation: String {
    let last = leadingTrivia.description.split(separator: "\n").last ?? ""
    return last.allSatisfy(\.isWhitespace) ? String(last) : ""
  }
}

extension PatternBindingSyntax {
  /// The effects and body of the getter, if there is no other accessor.
  fileprivate var getter: (effects: String, body: String)? {
    switch accessorBlock?.accessors {
    case .getter(let statements): return ("", "{ \(statements.trimmed) }")
    case .accessors(let accessors):
      guard accessors.count == 1, let getter = accessors.first, let body = getter.body,
        getter.accessorSpecifier.tokenKind == .keyword(.get)
      else { return nil }
      let effects = getter.effectSpecifiers.map { $0.trimmedDescription + " " } ?? ""
      return (effects, "\(body.trimmed)")
    case .none: return nil
    }
  }
}
