import Testing

/// Diagnostics for code that the macros cannot handle.
struct DiagnosticTests {
  @Test(arguments: Mistake.all.filter { knowsSwift62 || !$0.since62 })
  func `a mistake is named where it is, and mended if that is possible`(_ mistake: Mistake) {
    mistake.expect()
  }

  @Test(arguments: [
    ("var", "observation", "= 0"), ("static let", "properties", "= 0"),
    ("private class var", "modelProperties", ": Int { 0 }"),
    ("static var", "firstModelSlot", "= 0"), ("func", "observation", "() {}"),
  ])
  func `names that the macro uses`(before: String, name: String, after: String) {
    expectDiagnostic(
      "@ObservableModel(.threadSafe) final class User { \(before) ⚑\(name) \(after) }",
      "'\(name)' is declared by '@ObservableModel' in each model: use another name")
  }

  @Test(
    .needsSwift62,
    arguments: [
      "@Ignored var ⚑cache = 0", "private var ⚑cache = 0", "@Ignored weak var ⚑cache: A?",
    ])
  func `an unguarded variable of a class for several threads`(variable: String) {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class User {
        private nonisolated(unsafe) var guarded = 0
        @Observed private var observed = 0
        #if DEBUG
          private let constant = 0
        #endif
        \(variable)
      }
      """,
      """
      several threads may use 'cache' at once: observe it, make it a 'let' such as a 'Mutex', or \
      guard it and say 'nonisolated(unsafe)'
      """,
      fix: "say that the class guards it", "var cache", "nonisolated(unsafe) var cache")
  }
}

extension Mistake {
  static let all: [Mistake] = [
    .init(
      "a struct, which may become a class",
      "@ObservableModel ⚑struct Point { var x = 0 }",
      """
      '@ObservableModel' is for classes; 'Point' is a struct, whose copies have no identity that \
      could be observed; it may be the value of an observed property
      """,
      fix: "replace 'struct' with 'final class'", "struct", "final class"),
    .init(
      "an actor, with the option for several threads",
      "@ObservableModel public ⚑actor Counter { var count = 0 }",
      """
      '@ObservableModel' is for classes; 'Counter' is an actor, whose properties cannot be read \
      from outside; for a class that several threads write, use '@ObservableModel(.threadSafe)'
      """,
      fix: "replace 'actor' with 'final class'", "actor", "final class"),
    .init(
      "a class that the toolchain's Observation observes by another macro",
      #"⚑@Observable @ObservableModel final class User { var first = "" }"#,
      """
      '@Observable' and '@ObservableModel' each write the accessors of User's properties: use \
      only '@ObservableModel(.observable)' for both
      """),
    .init(
      "a class of the main actor that any thread may use",
      #"@ObservableModel(.threadSafe) ⚑@MainActor final class User { var first = "" }"#,
      """
      '.threadSafe' is for models that any thread may use, '@MainActor' for models of one thread: \
      User can have only one of them
      """),
    .init(
      "a class with accessors from both macros",
      #"@ObservableModel ⚑@Observable final class User { var first = "" }"#,
      """
      '@Observable' and '@ObservableModel' each write the accessors of User's properties: use \
      only '@ObservableModel(.observable)' for both
      """),
    .inUser(
      "a property of the main actor in a class that is not",
      """
      @Ignored @MainActor var note = ""
      ⚑@MainActor var first = ""
      """,
      """
      an observed property has the isolation of its model: '@MainActor' is for the whole class, \
      or for a property with '@Ignored'
      """),
    .init(
      "a deinit of a class of the main actor",
      """
      @MainActor @ObservableModel final class User {
        var first = ""

        /// Says goodbye.
        ⚑deinit { print("over") }
      }
      """,
      """
      the last reference to a '@MainActor' model may be released on any thread, but its deinit \
      must run on the main one: write 'isolated deinit'
      """,
      fix: "add 'isolated'", "deinit", "isolated deinit"),
    .init(
      "a closure that several threads can call",
      """
      @ObservableModel(.threadSafe) final class User {
        var onFirst: (@Sendable () -> Void)?
        var onMain: @MainActor () -> Void
        var onChange: ⚑(() -> Void)? = nil
      }
      """,
      "a function that several threads may call must be '@Sendable'",
      fix: "add '@Sendable'", "onChange: (", "onChange: (@Sendable ", since62: true),
    .init(
      "a lazy variable that several threads can read first",
      "@ObservableModel(.threadSafe) final class User { private ⚑lazy var cache = 0 }",
      """
      several threads may be the first to read a 'lazy' property: compute it in 'init', or keep \
      it in a 'Mutex'
      """, since62: true),
    .inUser(
      "a variable with the name of a property's storage",
      """
      var first = ""
      private var ⚑_first = 1
      """,
      "'_first' is taken: '@ObservableModel' stores 'first' in it; use another name"),
    .inUser(
      "a method that computes another type",
      """
      var first = ""
      @Computed("first") var size: Optional<Int>
      private func makeSize() -> ⚑[Swift.Int?] { [] }
      @Computed("first") var number: Int?
      private func makeNumber() -> Int { 1 }
      @Computed("first") var named: Name
      private func makeNamed() -> String { "" }
      """,
      "'makeSize()' computes 'size', which is 'Optional<Int>', not '[Swift.Int?]'",
      fix: "replace '[Swift.Int?]' with 'Optional<Int>'", "[Swift.Int?]", "Optional<Int>"),
    .inUser(
      "a method that computes nothing",
      """
      @Computed var size: Int
      private func ⚑makeSize() {}
      @LazyProperty(configure: "fill") var card: Card?
      private static func makeCard() -> Card { Card() }
      private func fill(_ size: Int) {}
      private func fill(_ card: Card) {}
      """,
      "'makeSize()' computes 'size', which is 'Int', not 'Void'"),
    .inUser(
      "a loader that receives something unexpected",
      """
      @LazyProperty(loader: "load") var size: Int
      private func load⚑(_ number: Int) {}
      """,
      """
      'load' takes one argument without a label, '_: String': a loader is given the name of the \
      property
      """),
    .init(
      "a subclass for several threads, of a class for one",
      "⚑@ObservableModel(.threadSafe) final class Employee: User { var salary = 0 }",
      "'.threadSafe' must begin at the base class: 'User' belongs to one thread", isHeir: true),
    .inUser(
      "a property that exists under a condition",
      """
      #if DEBUG
        @Ignored var note = ""
        let fixed = 1
        var ⚑first = ""
      #endif
      """,
      "declare observed properties outside '#if', or exclude this one with '@Ignored'"),
    .init(
      "a property under a condition that would not be encoded",
      """
      @ObservableModel final class User: Codable {
        #if DEBUG
          private var ⚑note = ""
        #endif
      }
      """,
      """
      a property inside '#if' would not be encoded; declare it outside, or give User 'CodingKeys' \
      of its own
      """),
    .inUser(
      "a property of an opaque type",
      "var shape: ⚑(some Shape)? = Circle()",
      """
      an observed property needs a named type: two values of '(some Shape)?' may have different \
      types; write 'any' instead of 'some'
      """),
    .inUser(
      "a configure method without a static create method",
      """
      @LazyProperty(configure: ⚑"fill") var card: Card
      private func makeCard() -> Card { Card() }
      private func fill(_ card: Card) {}
      """,
      "a value configured once needs a 'static func makeCard()'"),
    .init(
      "an enumeration",
      "@ObservableModel ⚑enum Size { case small }",
      """
      '@ObservableModel' is for classes; 'Size' is an enum, which has no stored properties; it \
      may be the value of an observed property
      """),
    .inUser(
      "observers of a constant",
      "⚑let name: String { didSet {} }",
      "a 'let' never changes: it cannot have observers, and is observed as part of a path only",
      fix: "replace 'let' with 'var'", "let", "var"),
    .inUser(
      "several variables in one declaration",
      "public var ⚑a = 1, b: Int",
      "declare observed properties separately: each needs its own accessors",
      fix: "declare each separately", ", b", "\n  public var b"),
    .inUser(
      "a pattern",
      "var ⚑(a, b) = (1, 2)",
      "declare each observed variable in a separate declaration, with one name"),
    .inUser(
      "a missing type",
      "var ⚑name",
      "the type of 'name' is missing",
      fix: "add a type", "name", "name: <#Type#>"),
    .inUser(
      "an attribute that may be a property wrapper",
      #"⚑@Published var name = """#,
      "'@Published' may add accessors, and so does an observed property",
      fix: "exclude the property with '@Ignored'", "Published ", "Published @Ignored "),
    .inUser(
      "a misspelt name in a path, with the nearest one",
      """
      var first = ""
      @Computed(⚑"frist.count") var full: String
      func makeFull() -> String { first }
      """,
      "component 1 of key path 'frist.count': User has no property 'frist' (did you mean 'first'?)",
      fix: "replace 'frist' with 'first'", "frist", "first"),
    .inUser(
      "a path that begins with a private property",
      """
      private var first = ""
      @Computed(⚑"first") var full: String
      func makeFull() -> String { first }
      """,
      """
      component 1 of key path 'first': 'first' of User is not observed; private properties need \
      '@Observed', computed ones '@Computed'
      """),
    .inUser(
      "a malformed path",
      """
      var first = ""
      @Computed(⚑"first..b") var full: String
      func makeFull() -> String { first }
      """,
      "empty component 2 in key path 'first..b'"),
    .inUser(
      "a getter where a method is expected",
      """
      var first = ""
      @Computed("first") var full: String ⚑{ first + "!" }
      """,
      """
      the getter of a '@Computed' property would run at each read, as no macro can replace it: \
      compute the value in a method 'makeFull()'
      """,
      fix: "move the getter to 'makeFull()'", ": String",
      ": String\n  private func makeFull() -> String"),
    .inUser(
      "a missing method",
      "⚑@LazyProperty var photo: Photo",
      "nothing computes the property: the class needs a method 'makePhoto() -> Photo'",
      fix: "add 'makePhoto()'",
      "photo: Photo", "photo: Photo\n  private func makePhoto() -> Photo { <#value#> }"),
    .inUser(
      "a method whose name is misspelt",
      """
      var first = ""
      ⚑@Computed("first") var full: String
      private func makeFul() -> String { first + "!" }
      """,
      "nothing computes the property: the class needs a method 'makeFull() -> String'",
      fix: "add 'makeFull()'", "private func makeFul()",
      "private func makeFull() -> String { <#value#> }\n  private func makeFul()"),
    .inUser(
      "a lazy constant",
      """
      @Computed ⚑let full: String
      func makeFull() -> String { "" }
      """,
      "a '@Computed' property gets its value later: it must be a 'var'",
      fix: "replace 'let' with 'var'", "let", "var"),
    .inUser(
      "a lazy property without a type",
      """
      @Computed var ⚑full = ""
      func makeFull() -> String { "" }
      """,
      "the type of 'full' is missing",
      fix: "add a type", "full", "full: <#Type#>"),
    .inUser(
      "a created property that is not optional",
      """
      @LazyProperty var view: ⚑View
      static func makeView() -> View { View() }
      """,
      """
      'static makeView()' creates the value, and assigning nil creates it again: the property \
      must be optional
      """,
      fix: "make it optional", ": View", ": View?"),
    .inUser(
      "a misspelt loader",
      """
      @LazyProperty(loader: ⚑"laod") var size: Int
      func load(_ name: String) {}
      """,
      "User has no method 'laod' (did you mean 'load'?)",
      fix: "replace 'laod' with 'load'", "laod", "load"),
    .inUser(
      "a loader with other parameters",
      """
      @LazyProperty(loader: "load") var size: Int
      func load⚑(name: String) {}
      """,
      """
      'load' takes one argument without a label, '_: String': a loader is given the name of the \
      property
      """),
    .inUser(
      "a method with parameters",
      """
      @Computed var full: String
      func ⚑makeFull(_ a: Int) -> String { "" }
      """,
      "'makeFull' computes 'full': it must take no arguments, and not be 'async'"),
    .inUser(
      "a static computed property",
      "@Computed static ⚑var full: String",
      "'@Computed' is for instance properties, and replaces 'lazy'"),
  ]
}
