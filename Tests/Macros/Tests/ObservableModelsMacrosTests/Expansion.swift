import SwiftParser
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
  let knowsSwift62 = true
#else
  let knowsSwift62 = false
#endif

extension Trait where Self == ConditionTrait {
  /// Skips a test with versions of swift-syntax before 602: they do not know the raw names and the
  /// `nonisolated` conformances of Swift 6.2.
  static var needsSwift62: Self { .enabled(if: knowsSwift62) }
}

/// Expects that the expansion of `source` contains each of the fragments, wherever either
/// breaks lines.
func expectExpansion(
  _ source: String, isHeir: Bool = false, _ fragments: String...,
  location: Testing.SourceLocation = #_sourceLocation
) {
  expect(source, isHeir ? heirs : roots, fragments, at: location)
}

/// Expects the expansion of a property's accessors.
func expectAccessors(
  _ source: String, _ fragments: String...,
  location: Testing.SourceLocation = #_sourceLocation
) {
  let specs = ["ObservedProperty": MacroSpec(type: ObservedPropertyMacro.self)]
  expect(source, specs, fragments, at: location)
}

private func expect(
  _ source: String, _ specs: [String: MacroSpec], _ fragments: [String],
  at location: Testing.SourceLocation
) {
  let file = Parser.parse(source: source)
  let context = BasicMacroExpansionContext(
    sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "test.swift")])
  let expanded = file.expand(
    macroSpecs: specs,
    contextGenerator: { syntax in
      BasicMacroExpansionContext(
        sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
    })
  #expect(context.diagnostics.isEmpty, sourceLocation: location)
  let text = squeezed("\(expanded)")
  for fragment in fragments where !text.contains(squeezed(fragment)) {
    Issue.record("not in \(expanded):\n\(fragment)", sourceLocation: location)
  }
}

/// With one space wherever there is whitespace.
private func squeezed(_ text: String) -> String {
  text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

/// A mistake in a class, and what the macros say about it.
struct Mistake: CustomTestStringConvertible {
  let testDescription: String
  /// The code, with '⚑' before the place of the diagnostic.
  let source: String
  let message: String
  let fix: String?
  let fixed: String?
  let isHeir: Bool
  /// Whether versions of swift-syntax before 602 cannot parse it.
  let since62: Bool

  /// The fix replaces the text `old`.
  init(
    _ name: String, _ source: String, _ message: String, fix: String? = nil, _ old: String = "",
    _ new: String = "", isHeir: Bool = false, since62: Bool = false
  ) {
    (testDescription, self.source, self.message) = (name, source, message)
    (self.fix, self.isHeir, self.since62) = (fix, isHeir, since62)
    fixed = fix.map { _ in
      source.replacing("⚑", with: "").replacing(old, with: new, maxReplacements: 1)
    }
  }

  /// A mistake in a member of a class 'User'.
  static func inUser(
    _ name: String, _ members: String, _ message: String, fix: String? = nil, _ old: String = "",
    _ new: String = ""
  ) -> Mistake {
    let lines = members.split(separator: "\n", omittingEmptySubsequences: false)
    let source =
      "@ObservableModel final class User {\n\(lines.map { "  \($0)\n" }.joined())}"
    return Mistake(name, source, message, fix: fix, old, new)
  }

  func expect(at location: Testing.SourceLocation = #_sourceLocation) {
    guard let place = source.firstIndex(of: "⚑") else {
      return _ = Issue.record("no place in \(source)", sourceLocation: location)
    }
    let before = source[..<place].split(separator: "\n", omittingEmptySubsequences: false)
    let diagnostic = DiagnosticSpec(
      message: message, line: before.count, column: before.last!.utf8.count + 1,
      fixIts: fix.map { [FixItSpec(message: $0)] } ?? [])
    assertMacroExpansion(
      source.replacing("⚑", with: ""), expandedSource: "", diagnostics: [diagnostic],
      macroSpecs: isHeir ? heirsOfOneThread : roots, fixedSource: fixed,
      indentationWidth: .spaces(2)
    ) { failure in
      // The expansion is the subject of other tests.
      if failure.message.hasPrefix("Macro expansion did not produce") { return }
      Issue.record("\(testDescription): \(failure.message)", sourceLocation: location)
    }
  }
}

/// Expects a diagnostic for `source` where it has a '⚑', and the result of its fix.
func expectDiagnostic(
  _ source: String, _ message: String, fix: String? = nil, _ old: String = "", _ new: String = "",
  location: Testing.SourceLocation = #_sourceLocation
) {
  Mistake("", source, message, fix: fix, old, new).expect(at: location)
}
