import Testing

/// `#path`.
struct PathExpansionTests {
  @Test func `names become text, and what they are applied to is checked`() {
    expectExpansion(
      #"let path = #path(User.self, \.address?.zip)"#,
      to: #"""
        let path = ObservableModels.path("address.zip", through: [\User.self, \User.address?])
        """#)
  }

  @Test func `indices, keys and marks are spelled as text spells them`() {
    expectExpansion(
      #"let path = #path(User.self, \User.items[0].`a.b`["*"])"#,
      to: #"""
        let path = ObservableModels.path("items.0.a\\.b.\\*", through: [\User.self, \User.items, \#
        \User.items[0], \User.items[0].`a.b`])
        """#)
  }

  @Test func `an index that is not known`() {
    expectDiagnostic(
      #"let path = #path(User.self, \.items[index])"#, 1, 36,
      """
      the index is not known when the program is compiled: write a literal, or put the path \
      together by 'Path(…)'
      """)
  }

  @Test func `a type that is not known`() {
    expectDiagnostic(
      #"let path = #path(type(of: user), \.name)"#, 1, 18,
      "'#path' reads the type as it is written, such as 'User.self'")
  }

  @Test func `a key path that is no literal`() {
    expectDiagnostic(
      "let path = #path(User.self, other)", 1, 29,
      "'#path' reads a key path as it is written: a literal such as '\\.address?.zip'")
  }
}
