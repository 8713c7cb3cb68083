import SwiftParser
import SwiftSyntax
import Testing

@testable import TestedMacros

/// Properties that get an accessor for their first value.
struct InitializedPropertyTests {
  @Test func `properties without a value, and properties that an initializer mentions`() {
    expect(
      """
      class User {
        var a = 1
        var b: Int
        var c: Int?
        var d: Int!
        var e = 5
        var f = 6
        var g = 7
        init(b: Int) {
          self.b = b
          e = 1
          ({ self.f += 1 })()
        }
        func other() { g = 3 }
      }
      """, ["b", "e", "f"])
  }

  @Test func `initializers under a condition count`() {
    expect(
      """
      class User {
        var a = 1
        var b = 2
        #if DEBUG
          init() { (a, _) = (1, 2) }
        #endif
      }
      """, ["a"])
  }

  @Test func `all properties, if a macro may initialize them`() {
    expect("@Memberwise class User { var a = 1 }", ["a"])
    expect("class User { var a = 1; init() { #make() } }", ["a"])
    expect("class User { var a = 1; @Body init() }", ["a"])
    expect("class User { var a = 1; #members }", ["a"])
    expect("@MainActor class User { var a = 1; @objc init() {} }", [])
  }

  private func expect(
    _ source: String, _ expected: [String], location: Testing.SourceLocation = #_sourceLocation
  ) {
    let statement = Parser.parse(source: source).statements.first?.item
    let names = statement?.as(ClassDeclSyntax.self).map { declaration in
      let initialized = InitializedNames(declaration)
      return declaration.memberBlock.members.compactMap { $0.decl.as(VariableDeclSyntax.self) }
        .filter { initialized.mayInitialize($0) }.compactMap { $0.onlyBinding?.name.text }
    }
    #expect(names == expected, sourceLocation: location)
  }
}
