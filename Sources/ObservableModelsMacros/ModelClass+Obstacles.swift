import SwiftSyntax
import SwiftSyntaxMacros

extension ModelClass {
  /// Errors that leave no place for the code of the macro.
  ///
  /// If there are any, the macro writes no code, so that no further errors follow.
  var obstacles: [PlacedDiagnostic] { takenNames + contradictions }

  /// Errors about members that have the names of generated members.
  private var takenNames: [PlacedDiagnostic] {
    let stored = members.filter {
      if case .stored(isConstant: true) = $0.kind { false } else { true }
    }
    let storage = Dictionary(
      stored.map { ("_" + $0.name, $0.name) }, uniquingKeysWith: { $1 })
    return declaredNames.compactMap { token, isOfType in
      let name = plainName(token)
      if !isOfType, let property = storage[name] {
        return PlacedDiagnostic(
          "taken", at: token,
          "'\(name)' is taken: '@ObservableModel' stores '\(property)' in it; use another name")
      }
      guard (isOfType ? namesOfType : namesOfInstance).contains(name) else { return nil }
      return PlacedDiagnostic(
        "taken", at: token,
        "'\(name)' is declared by '@ObservableModel' in each model: use another name")
    }
  }

  /// The variables, and the functions whose calls look like them.
  private var declaredNames: [(name: TokenSyntax, isOfType: Bool)] {
    declaration.memberBlock.members.flatMap { member -> [(name: TokenSyntax, isOfType: Bool)] in
      if let function = member.decl.as(FunctionDeclSyntax.self) {
        let isPlain = function.signature.parameterClause.parameters.isEmpty
        return isPlain ? [(function.name, function.isOfType)] : []
      }
      guard let variable = member.decl.as(VariableDeclSyntax.self) else { return [] }
      return variable.bindings.compactMap { binding in
        let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
        return name.map { ($0, variable.isOfType) }
      }
    }
  }

  private var namesOfType: [String] {
    ["properties", "modelProperties", "firstModelSlot"] + (isRecord ? ["recordSchema"] : [])
  }

  private var namesOfInstance: [String] {
    ["observation"] + (options.isObservable ? ["modelRegistrar"] : [])
      + (isRecord ? ["recordHold", "recordState"] : [])
  }

  private var contradictions: [PlacedDiagnostic] {
    if let attribute = declaration.attributes.named("Observable") {
      return [
        PlacedDiagnostic(
          "observable", at: attribute,
          "'@Observable' and '@ObservableModel' each write the accessors of \(name)'s properties: "
            + "use only '@ObservableModel(.observable)' for both")
      ]
    }
    if let attribute = mainActor {
      if !options.isThreadSafe { return [] }
      return [
        PlacedDiagnostic(
          "threads", at: attribute,
          "'.threadSafe' is for models that any thread may use, '@MainActor' for models of one "
            + "thread: \(name) can have only one of them")
      ]
    }
    return declaration.memberBlock.variables.compactMap { variable in
      guard let attribute = variable.attributes.named("MainActor"), member(of: variable) != nil
      else {
        return nil
      }
      return .propertyOfActor(attribute)
    }
  }
}

extension MacroExpansionContext {
  /// Whether the class is inside of a function, where a model cannot be extended, so the compiler
  /// refuses it.
  var isLocal: Bool {
    lexicalContext.contains {
      $0.is(FunctionDeclSyntax.self) || $0.is(InitializerDeclSyntax.self)
        || $0.is(DeinitializerDeclSyntax.self) || $0.is(SubscriptDeclSyntax.self)
        || $0.is(AccessorDeclSyntax.self) || $0.is(ClosureExprSyntax.self)
        || $0.is(PatternBindingSyntax.self)
    }
  }
}
