import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Finds declarations that cannot work in a class with `@ObservableModel`.
struct ModelChecks {
  let model: ModelClass
  /// Whether the class inherits no properties; the macro cannot see inherited ones.
  let isRoot: Bool
  let context: any MacroExpansionContext

  init(_ model: ModelClass, isRoot: Bool, in context: some MacroExpansionContext) {
    (self.model, self.isRoot, self.context) = (model, isRoot, context)
  }

  func run() {
    checkThreads()
    checkActor()
    checkRecord()
    for member in model.declaration.memberBlock.members {
      if let condition = member.decl.as(IfConfigDeclSyntax.self) { check(condition) }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { continue }
      if let attribute = variable.attributes.making {
        check(lazy: variable, attribute)
      } else if variable.attributes.relation != nil {
        continue
      } else if variable.isStoredInInstance, variable.attributes.named("Ignored") == nil {
        check(stored: variable)
      }
    }
  }

  /// Reports a `deinit` that is not isolated in a model of the main actor.
  private func checkActor() {
    if model.mainActor != nil, isRoot, let deinitializer = model.deinitializer,
      !deinitializer.modifiers.contains(where: { $0.name.text == "isolated" })
    {
      context.diagnose(.nonisolatedDeinit(deinitializer))
    }
  }

  // MARK: Stored properties

  /// Reports properties inside of `#if`.
  ///
  /// The macro does not know whether they are compiled, and the slots would count missing ones.
  private func check(_ condition: IfConfigDeclSyntax) {
    for clause in condition.clauses {
      guard case .decls(let members)? = clause.elements else { continue }
      for member in members {
        if let inner = member.decl.as(IfConfigDeclSyntax.self) { check(inner) }
        guard let variable = member.decl.as(VariableDeclSyntax.self), variable.isStoredInInstance
        else { continue }
        if variable.attributes.making != nil
          || !variable.isHidden && !variable.isConstant
            && variable.attributes.named("Ignored") == nil
        {
          context.diagnose(
            PlacedDiagnostic(
              "condition", at: variable.bindings,
              "declare observed properties outside '#if', or exclude this one with '@Ignored'")
          )
        } else if model.needsCodingKeys {
          context.diagnose(
            PlacedDiagnostic(
              "condition-coding", at: variable.bindings,
              "a property inside '#if' would not be encoded; declare it outside, or "
                + "give \(model.name) 'CodingKeys' of its own"))
        }
      }
    }
  }

  private func check(stored variable: VariableDeclSyntax) {
    if variable.isConstant {
      if let binding = variable.bindings.first(where: { $0.accessorBlock != nil }) {
        context.diagnose(.observersOfConstant(variable, binding))
      }
      return
    }
    if variable.isHidden, variable.attributes.named("Observed") == nil { return }
    if variable.bindings.count > 1 {
      context.diagnose(.severalVariables(variable))
    } else if variable.onlyBinding == nil {
      context.diagnose(
        PlacedDiagnostic(
          "pattern", at: variable.bindings.first!.pattern,
          "declare each observed variable in a separate declaration, with one name"))
    } else if let (binding, name) = variable.onlyBinding, binding.typeAnnotation == nil,
      binding.initializer == nil
    {
      context.diagnose(.missingType(of: binding, name))
    } else if let (binding, _) = variable.onlyBinding,
      let type = binding.typeAnnotation?.type, type.isOpaque
    {
      context.diagnose(
        PlacedDiagnostic(
          "opaque", at: type,
          "an observed property needs a named type: two values of '\(type.trimmedDescription)' may "
            + "have different types; write 'any' instead of 'some'"))
    } else if let wrapper = variable.foreignWrapper {
      context.diagnose(.foreignWrapper(wrapper, on: variable))
    }
  }

  // MARK: Lazy properties

  private func check(lazy variable: VariableDeclSyntax, _ attribute: AttributeSyntax) {
    guard let (binding, name) = variable.onlyBinding else {
      context.diagnose(
        PlacedDiagnostic(
          "pattern", at: variable.bindings,
          "'@\(attribute.shortName)' is for one variable with a name"))
      return
    }
    let arguments = LazyArguments(attribute)
    for path in arguments.paths { check(path: path) }
    if variable.isConstant {
      context.diagnose(.lazyConstant(variable, attribute))
    } else if binding.isComputed {
      context.diagnose(.getterInPlace(variable, binding, name, attribute))
    } else if variable.isOfType || variable.isLazy {
      context.diagnose(
        PlacedDiagnostic(
          "instance", at: variable.bindingSpecifier,
          "'@\(attribute.shortName)' is for instance properties, and replaces 'lazy'"))
    } else if binding.typeAnnotation == nil {
      context.diagnose(.missingType(of: binding, name))
    } else if let loader = arguments.loader {
      check(
        method: loader, "String", what: "a loader is given the name of the property"
      ) { $0.takes("String") }
    } else {
      check(makerOf: variable, binding, attribute, arguments)
    }
  }

  private func check(
    makerOf variable: VariableDeclSyntax, _ binding: PatternBindingSyntax,
    _ attribute: AttributeSyntax, _ arguments: LazyArguments
  ) {
    guard let member = model.member(of: variable), let type = binding.typeAnnotation?.type else {
      return
    }
    if model.valuePath(of: member, arguments) != nil { return }
    guard let maker = model.maker(of: member, type) else {
      context.diagnose(.missingMaker(member.maker, variable, binding, attribute))
      return
    }
    if let with = arguments.with, !maker.isOfType {
      context.diagnose(
        PlacedDiagnostic(
          "with", at: with,
          "a value created with an argument needs a 'static func \(member.maker)(_:)'"))
    } else if !maker.makes(arguments) {
      let taken =
        arguments.with == nil
        ? "computes '\(member.name)': it must take no arguments"
        : "creates '\(member.name)': it must take the value of 'with', without a label"
      context.diagnose(
        PlacedDiagnostic(
          "maker", at: maker.name, "'\(member.maker)' \(taken), and not be 'async'"))
    } else if maker.isOfType, !type.isOptional {
      context.diagnose(.createdNotOptional(type, member.maker))
    } else if maker.result.isOther(than: type) {
      context.diagnose(.otherResult(of: maker, type, member.name))
    }
    if let configure = arguments.configure {
      if !maker.isOfType {
        context.diagnose(
          PlacedDiagnostic(
            "configure", at: configure,
            "a value configured once needs a 'static func \(member.maker)()'"))
      }
      let given =
        arguments.with == nil
        ? "it receives the created value" : "it receives the created value and the result of 'with'"
      check(method: configure, type.wrappedType, what: given) {
        $0.configures(type.wrappedType, arguments)
      }
    }
  }

  /// Reports a literal that does not name a method of the class.
  private func check(
    method literal: ExprSyntax, _ type: TypeSyntax, what: String,
    fits: (FunctionDeclSyntax) -> Bool
  ) {
    guard let name = literal.literalText else {
      context.diagnose(
        PlacedDiagnostic("literal", at: literal, "the name of a method must be a plain literal"))
      return
    }
    guard let method = model.method(name, fits: fits) else {
      let names = model.declaration.memberBlock.members
        .compactMap { $0.decl.as(FunctionDeclSyntax.self).map { plainName($0.name) } }
      context.diagnose(
        .unknownName(
          name, in: literal, nearest: nearestName(to: name, among: names), replacing: name,
          "\(model.name) has no method '\(name)'"))
      return
    }
    if !fits(method) {
      context.diagnose(
        PlacedDiagnostic(
          "parameters", at: method.signature.parameterClause,
          "'\(name)' takes one argument without a label, '_: \(type)': \(what)"))
    }
  }

  // MARK: Key paths

  /// Reports a key path whose first name is not a property of this class.
  private func check(path literal: ExprSyntax) {
    guard let text = literal.literalText else { return }
    let components = pathComponents(text)
    if let empty = components.firstIndex(of: "") {
      context.diagnose(
        PlacedDiagnostic(
          "path", at: literal,
          text.isEmpty
            ? "the key path is empty (a name, '*' or '#n' was expected)"
            : "empty component \(empty + 1) in key path '\(text)'"))
      return
    }
    let name = components[0]
    let names = model.members.map(\.name)
    guard isRoot, name != "*", !names.contains(name) else { return }
    let hidden = model.declaration.memberBlock.members.contains { member in
      member.decl.as(VariableDeclSyntax.self)?.bindings.contains {
        $0.pattern.as(IdentifierPatternSyntax.self).map { plainName($0.identifier) } == name
      } ?? false
    }
    context.diagnose(
      hidden
        ? PlacedDiagnostic(
          "unpublished", at: literal,
          "component 1 of key path '\(text)': '\(name)' of \(model.name) is not observed; private "
            + "properties need '@Observed', computed ones '@Computed'")
        : .unknownName(
          name, in: literal, nearest: nearestName(to: name, among: names), replacing: name,
          "component 1 of key path '\(text)': \(model.name) has no property '\(name)'"))
  }
}

/// Splits a key path into components as they are written, without the escapes of dots.
func pathComponents(_ text: String) -> [String] {
  var components = [""]
  var isEscaped = false
  for character in text {
    if isEscaped {
      components[components.count - 1].append(character)
      isEscaped = false
    } else if character == "\\" {
      isEscaped = true
    } else if character == "." {
      components.append("")
    } else {
      components[components.count - 1].append(character)
    }
  }
  return components
}
