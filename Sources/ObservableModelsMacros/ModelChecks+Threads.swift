import SwiftSyntax
import SwiftSyntaxMacros

/// Checks for properties that several threads cannot use.
extension ModelChecks {
  /// Reports stored properties that are neither constant, nor observed, nor marked as guarded by
  /// the class.
  ///
  /// The compiler checks that constant and observed properties are `Sendable`.
  func checkThreads() {
    guard model.options.isThreadSafe else { return }
    for variable in model.declaration.memberBlock.variables where !variable.isOfType {
      if variable.isLazy, variable.attributes.making == nil {
        context.diagnose(
          PlacedDiagnostic(
            "lazy", at: variable.modifiers.first { $0.name.tokenKind == .keyword(.lazy) }!,
            "several threads may be the first to read a 'lazy' property: compute it in 'init', or "
              + "keep it in a 'Mutex'"))
      } else if variable.isStoredInInstance {
        check(variable)
      }
    }
  }

  private func check(_ variable: VariableDeclSyntax) {
    if variable.isConfinedFunction, let type = variable.bindings.first?.typeAnnotation?.type,
      variable.isConstant || model.slot(of: variable) != nil
    {
      context.diagnose(.confinedFunction(type))
      return
    }
    let isGuarded =
      variable.isConstant || variable.isUnchecked || variable.attributes.making != nil
      // Another check has reported why a visible property is not observed.
      || !variable.isHidden && variable.attributes.named("Ignored") == nil
      || variable.attributes.named("Observed") != nil
    if !isGuarded { context.diagnose(.unguarded(variable)) }
  }
}

extension VariableDeclSyntax {
  /// Whether its type is a function that only one thread may call.
  var isConfinedFunction: Bool {
    bindings.first?.typeAnnotation?.type.isConfinedFunction ?? false
  }
}

extension MemberBlockSyntax {
  /// The variables, including variables inside of `#if`.
  var variables: [VariableDeclSyntax] { members.flatMap(\.variables) }
}

extension MemberBlockItemSyntax {
  fileprivate var variables: [VariableDeclSyntax] {
    if let variable = decl.as(VariableDeclSyntax.self) { return [variable] }
    return decl.as(IfConfigDeclSyntax.self)?.clauses.flatMap { clause in
      clause.elements?.as(MemberBlockItemListSyntax.self)?.flatMap(\.variables) ?? []
    } ?? []
  }
}
