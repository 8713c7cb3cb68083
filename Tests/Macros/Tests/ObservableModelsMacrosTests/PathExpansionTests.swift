import Testing

/// `#path`.
struct PathExpansionTests {
  @Test func `names become components, and their types are checked`() {
    expectExpansion(
      #"let path = #path(\.address?.zip)"#,
      #"""
      let path = ObservableModels.path([.property("address"), .property("zip")], \#
      through: [\.self, \.address?, \.address?.zip])
      """#)
  }

  @Test func `an explicit root stays`() {
    expectExpansion(
      #"let path = #path(\User.name)"#,
      #"""
      let path = ObservableModels.path([.property("name")], through: [\User.self, \User.name])
      """#)
  }

  @Test func `a type inside the root is not a component`() {
    expectExpansion(
      #"let path = #path(\Shop<Int>.Item.name)"#,
      #"""
      let path = ObservableModels.path([.property("name")], through: [\Shop<Int>.Item.self, \#
      \Shop<Int>.Item.name])
      """#)
    expectExpansion(
      #"let path = #path(\User.URL)"#,
      #"""
      let path = ObservableModels.path([.property("URL")], through: [\User.self, \User.URL])
      """#)
  }

  @Test(.needsSwift62)
  func `indices, slots and keys differ from names`() {
    expectExpansion(
      #"let path = #path(\User.items[0].`a.b`["*"])"#,
      #"""
      let path = ObservableModels.path([.property("items"), .index(0), \#
      .property("a.b"), .key("*")], through: [\User.self, \User.items, \User.items[0], \#
      \User.items[0].`a.b`, \#
      \User.items[0].`a.b`["*"]])
      """#)
    expectExpansion(
      #"let path = #path(\.items[slot: 1_0])"#,
      #"""
      let path = ObservableModels.path([.property("items"), .slot(10)], \#
      through: [\.self, \.items, \.items[slot: 1_0]])
      """#)
  }

  @Test func `an unknown index`() {
    expectDiagnostic(
      #"let path = #path(\User.items⚑[index])"#,
      """
      the index is not known at compile time: write a literal, or build the path \
      with 'Path(…)'
      """)
  }

  @Test func `a subscript of another kind`() {
    expectDiagnostic(
      #"let path = #path(\User.items⚑[from: 1])"#,
      "a component of a path is one index or key")
  }

  @Test func `a path without a name`() {
    expectDiagnostic(
      #"let path = #path(⚑\User.self)"#,
      "the key path is empty: it has to name a property")
  }

  @Test func `a key path that is not a literal`() {
    expectDiagnostic(
      "let path = #path(⚑other)",
      "'#path' reads a key path as it is written: a literal such as '\\.address?.zip'")
  }
}
