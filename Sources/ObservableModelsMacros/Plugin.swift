import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// Tells the compiler which macros there are.
@main
struct Plugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ObservableModelMacro.self, ObservedPropertyMacro.self, MarkerMacro.self,
    PathMacro.self,
  ]
}
