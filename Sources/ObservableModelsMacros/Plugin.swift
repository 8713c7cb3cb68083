import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The list of macros for the compiler.
@main
struct Plugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ObservableModelMacro.self, ObservedPropertyMacro.self, MarkerMacro.self,
    PathMacro.self,
  ]
}
