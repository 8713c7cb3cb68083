import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import TestedMacros

private let roots: [String: MacroSpec] = specs(
  conformances: ["ObservableModel", "Sendable", "Observable"])
private let heirs: [String: MacroSpec] = specs(conformances: [])
private let heirsOfOneThread: [String: MacroSpec] = specs(conformances: ["Sendable"])

private func specs(conformances: [String]) -> [String: MacroSpec] {
  [
    "ObservableModel": MacroSpec(
      type: ObservableModelMacro.self, conformances: conformances.map { "\(raw: $0)" }),
    "Computed": MacroSpec(type: MarkerMacro.self),
    "LazyProperty": MacroSpec(type: MarkerMacro.self),
    "Ignored": MacroSpec(type: MarkerMacro.self),
    "HasMany": MacroSpec(type: MarkerMacro.self),
    "HasOne": MacroSpec(type: MarkerMacro.self),
    "BelongsTo": MacroSpec(type: MarkerMacro.self),
    "Stored": MacroSpec(type: MarkerMacro.self),
    "path": MacroSpec(type: PathMacro.self),
  ]
}

#if canImport(SwiftSyntax602)
  private let knowsSwift62 = true
#else
  private let knowsSwift62 = false
#endif

extension Trait where Self == ConditionTrait {
  /// Skips a test with versions of swift-syntax before 602: they do not know the raw names and the
  /// `nonisolated` conformances of Swift 6.2, and indent accessors differently.
  static var needsSwift62: Self { .enabled(if: knowsSwift62) }
}

/// Expects the expansion of `source`, without the accessors of the properties.
func expectExpansion(
  _ source: String, isHeir: Bool = false, to expanded: String,
  location: Testing.SourceLocation = #_sourceLocation
) {
  expect(source, isHeir ? heirs : roots, to: expanded, at: location)
}

/// Expects a diagnostic for `source`, and the result of its fix.
func expectDiagnostic(
  _ source: String, isHeir: Bool = false, _ line: Int, _ column: Int, _ message: String,
  fix: String? = nil,
  _ fixed: String? = nil, location: Testing.SourceLocation = #_sourceLocation
) {
  let diagnostic = DiagnosticSpec(
    message: message, line: line, column: column,
    fixIts: fix.map { [FixItSpec(message: $0)] } ?? [])
  expect(
    source, isHeir ? heirsOfOneThread : roots, to: nil, [diagnostic], fixed: fixed, at: location)
}

/// Expects the expansion of a property's accessors.
func expectAccessors(
  _ source: String, to expanded: String, location: Testing.SourceLocation = #_sourceLocation
) {
  let specs = ["ObservedProperty": MacroSpec(type: ObservedPropertyMacro.self)]
  expect(source, specs, to: expanded, at: location)
}

/// Expects an expansion, or any expansion if `expanded` is nil.
private func expect(
  _ source: String, _ specs: [String: MacroSpec], to expanded: String?,
  _ diagnostics: [DiagnosticSpec] = [], fixed: String? = nil,
  at location: Testing.SourceLocation
) {
  assertMacroExpansion(
    source, expandedSource: expanded ?? "", diagnostics: diagnostics, macroSpecs: specs,
    fixedSource: fixed, indentationWidth: .spaces(2)
  ) { failure in
    if expanded == nil, failure.message.hasPrefix("Macro expansion did not produce") { return }
    Issue.record(Comment(rawValue: failure.message), sourceLocation: location)
  }
}
