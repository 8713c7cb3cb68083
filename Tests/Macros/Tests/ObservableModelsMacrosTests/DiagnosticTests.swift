import Testing

/// Diagnostics for code that the macros cannot handle.
struct DiagnosticTests {
  @Test func `a struct, which may become a class`() {
    expectDiagnostic(
      """
      @ObservableModel struct Point {
        var x = 0
      }
      """,
      1, 18,
      """
      '@ObservableModel' is for classes; 'Point' is a struct, whose copies have no \
      identity that could be observed; it may be the value of an observed property
      """,
      fix: "replace 'struct' with 'final class'",
      """
      @ObservableModel final class Point {
        var x = 0
      }
      """)
  }

  @Test func `an actor, with the option for several threads`() {
    expectDiagnostic(
      """
      @ObservableModel public actor Counter {
        var count = 0
      }
      """,
      1, 25,
      """
      '@ObservableModel' is for classes; 'Counter' is an actor, whose properties cannot \
      be read from outside; for a class that several threads write, use \
      '@ObservableModel(.threadSafe)'
      """,
      fix: "replace 'actor' with 'final class'",
      """
      @ObservableModel public final class Counter {
        var count = 0
      }
      """)
  }

  @Test func `a class that the toolchain's Observation observes by another macro`() {
    expectDiagnostic(
      """
      @Observable @ObservableModel final class User {
        var first = ""
      }
      """,
      1, 1,
      """
      '@Observable' and '@ObservableModel' each write the accessors of User's properties: \
      use only '@ObservableModel(.observable)' for both
      """)
  }

  @Test func `a class of the main actor that any thread may use`() {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) @MainActor final class User {
        var first = ""
      }
      """,
      1, 31,
      """
      '.threadSafe' is for models that any thread may use, '@MainActor' for models of one thread: \
      User can have only one of them
      """)
  }

  @Test func `a class with accessors from both macros`() {
    expectDiagnostic(
      """
      @ObservableModel @Observable final class User {
        var first = ""
      }
      """,
      1, 18,
      """
      '@Observable' and '@ObservableModel' each write the accessors of User's properties: \
      use only '@ObservableModel(.observable)' for both
      """)
  }

  @Test func `a property of the main actor in a class that is not`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Ignored @MainActor var note = ""
        @MainActor var first = ""
      }
      """,
      3, 3,
      """
      an observed property has the isolation of its model: '@MainActor' is for the whole class, or \
      for a property with '@Ignored'
      """)
  }

  @Test func `a deinit of a class of the main actor`() {
    expectDiagnostic(
      """
      @MainActor @ObservableModel final class User {
        var first = ""

        /// Says goodbye.
        deinit { print("over") }
      }
      """,
      5, 3,
      """
      the last reference to a '@MainActor' model may be released on any thread, but its deinit \
      must run on the main one: write 'isolated deinit'
      """,
      fix: "add 'isolated'",
      """
      @MainActor @ObservableModel final class User {
        var first = ""

        /// Says goodbye.
        isolated deinit { print("over") }
      }
      """)
  }

  @Test(.needsSwift62)
  func `a closure that several threads can call`() {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class User {
        var onFirst: (@Sendable () -> Void)?
        var onMain: @MainActor () -> Void
        var onChange: (() -> Void)? = nil
      }
      """,
      4, 17, "a function that several threads may call must be '@Sendable'", fix: "add '@Sendable'",
      """
      @ObservableModel(.threadSafe) final class User {
        var onFirst: (@Sendable () -> Void)?
        var onMain: @MainActor () -> Void
        var onChange: (@Sendable () -> Void)? = nil
      }
      """)
  }

  @Test(
    .needsSwift62,
    arguments: [
      "@Ignored var cache = 0", "private var cache = 0", "@Ignored weak var cache: A?",
    ])
  func `an unguarded variable of a class for several threads`(variable: String) {
    let isHidden = variable.hasPrefix("private")
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
      7, variable.contains("weak") ? 21 : isHidden ? 15 : 16,
      """
      several threads may use 'cache' at once: observe it, make it a 'let' such as a 'Mutex', or \
      guard it and say 'nonisolated(unsafe)'
      """,
      fix: "say that the class guards it",
      """
      @ObservableModel(.threadSafe) final class User {
        private nonisolated(unsafe) var guarded = 0
        @Observed private var observed = 0
        #if DEBUG
          private let constant = 0
        #endif
        \(variable.replacing("var", with: "nonisolated(unsafe) var"))
      }
      """)
  }

  @Test(.needsSwift62)
  func `a lazy variable that several threads can read first`() {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class User {
        private lazy var cache = 0
      }
      """,
      2, 11,
      """
      several threads may be the first to read a 'lazy' property: compute it in 'init', or keep it \
      in a 'Mutex'
      """)
  }

  @Test(arguments: [
    ("var", "observation", "= 0"), ("static let", "properties", "= 0"),
    ("private class var", "modelProperties", ": Int { 0 }"),
    ("static var", "firstModelSlot", "= 0"), ("func", "observation", "() {}"),
  ])
  func `names that the macro uses`(before: String, name: String, after: String) {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class User {
        var first = ""
        \(before) \(name) \(after)
      }
      """,
      3, 4 + before.count,
      "'\(name)' is declared by '@ObservableModel' in each model: use another name")
  }

  @Test func `a variable with the name of a property's storage`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        private var _first = 1
      }
      """,
      3, 15, "'_first' is taken: '@ObservableModel' stores 'first' in it; use another name")
  }

  @Test func `a method that computes another type`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var size: Optional<Int>
        private func makeSize() -> [Swift.Int?] { [] }
        @Computed("first") var number: Int?
        private func makeNumber() -> Int { 1 }
        @Computed("first") var named: Name
        private func makeNamed() -> String { "" }
      }
      """,
      4, 30, "'makeSize()' computes 'size', which is 'Optional<Int>', not '[Swift.Int?]'",
      fix: "replace '[Swift.Int?]' with 'Optional<Int>'",
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var size: Optional<Int>
        private func makeSize() -> Optional<Int> { [] }
        @Computed("first") var number: Int?
        private func makeNumber() -> Int { 1 }
        @Computed("first") var named: Name
        private func makeNamed() -> String { "" }
      }
      """)
  }

  @Test func `a method that computes nothing`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Computed var size: Int
        private func makeSize() {}
        @LazyProperty(configure: "fill") var card: Card?
        private static func makeCard() -> Card { Card() }
        private func fill(_ size: Int) {}
        private func fill(_ card: Card) {}
      }
      """,
      3, 16, "'makeSize()' computes 'size', which is 'Int', not 'Void'")
  }

  @Test func `a loader that receives something unexpected`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty(loader: "load") var size: Int
        private func load(_ number: Int) {}
      }
      """,
      3, 20,
      """
      'load' takes one argument without a label, '_: String': a loader is given the name of the \
      property
      """)
  }

  @Test func `a subclass for several threads, of a class for one`() {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class Employee: User {
        var salary = 0
      }
      """, isHeir: true,
      1, 1,
      """
      '.threadSafe' must begin at the base class: 'User' belongs to one thread
      """)
  }

  @Test func `a property that exists under a condition`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        #if DEBUG
          @Ignored var note = ""
          let fixed = 1
          var first = ""
        #endif
      }
      """,
      5, 9, "declare observed properties outside '#if', or exclude this one with '@Ignored'")
  }

  @Test func `a property under a condition that would not be encoded`() {
    expectDiagnostic(
      """
      @ObservableModel final class User: Codable {
        #if DEBUG
          private var note = ""
        #endif
      }
      """,
      3, 17,
      """
      a property inside '#if' would not be encoded; declare it outside, or give User \
      'CodingKeys' of its own
      """)
  }

  @Test func `a property of an opaque type`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var shape: (some Shape)? = Circle()
      }
      """,
      2, 14,
      """
      an observed property needs a named type: two values of '(some Shape)?' may have different \
      types; write 'any' instead of 'some'
      """)
  }

  @Test func `a configure method without a static create method`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty(configure: "fill") var card: Card
        private func makeCard() -> Card { Card() }
        private func fill(_ card: Card) {}
      }
      """,
      2, 28, "a value configured once needs a 'static func makeCard()'")
  }

  @Test func `an enumeration`() {
    expectDiagnostic(
      """
      @ObservableModel enum Size {
        case small
      }
      """,
      1, 18,
      """
      '@ObservableModel' is for classes; 'Size' is an enum, which has no stored \
      properties; it may be the value of an observed property
      """)
  }

  @Test func `observers of a constant`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        let name: String { didSet {} }
      }
      """,
      2, 3,
      """
      a 'let' never changes: it cannot have observers, and is observed as part of a path \
      only
      """,
      fix: "replace 'let' with 'var'",
      """
      @ObservableModel final class User {
        var name: String { didSet {} }
      }
      """)
  }

  @Test func `several variables in one declaration`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        public var a = 1, b: Int
      }
      """,
      2, 14,
      """
      declare observed properties separately: each needs its own accessors
      """,
      fix: "declare each separately",
      """
      @ObservableModel final class User {
        public var a = 1
        public var b: Int
      }
      """)
  }

  @Test func `a pattern`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var (a, b) = (1, 2)
      }
      """,
      2, 7,
      """
      declare each observed variable in a separate declaration, with one name
      """)
  }

  @Test func `a missing type`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var name
      }
      """,
      2, 7,
      """
      the type of 'name' is missing
      """,
      fix: "add a type",
      """
      @ObservableModel final class User {
        var name: <#Type#>
      }
      """)
  }

  @Test func `an attribute that may be a property wrapper`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Published var name = ""
      }
      """,
      2, 3,
      """
      '@Published' may add accessors, and so does an observed property
      """,
      fix: "exclude the property with '@Ignored'",
      """
      @ObservableModel final class User {
        @Published @Ignored var name = ""
      }
      """)
  }

  @Test func `a misspelt name in a path, with the nearest one`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("frist.count") var full: String
        func makeFull() -> String { first }
      }
      """,
      3, 13,
      """
      component 1 of key path 'frist.count': User has no property 'frist' (did you mean \
      'first'?)
      """,
      fix: "replace 'frist' with 'first'",
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first.count") var full: String
        func makeFull() -> String { first }
      }
      """)
  }

  @Test func `a path that begins with a private property`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        private var first = ""
        @Computed("first") var full: String
        func makeFull() -> String { first }
      }
      """,
      3, 13,
      """
      component 1 of key path 'first': 'first' of User is not observed; private properties \
      need '@Observed', computed ones '@Computed'
      """)
  }

  @Test func `a malformed path`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first..b") var full: String
        func makeFull() -> String { first }
      }
      """,
      3, 13,
      """
      empty component 2 in key path 'first..b'
      """)
  }

  @Test func `a getter where a method is expected`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var full: String { first + "!" }
      }
      """,
      3, 39,
      """
      the getter of a '@Computed' property would run at each read, as no macro can replace \
      it: compute the value in a method 'makeFull()'
      """,
      fix: "move the getter to 'makeFull()'",
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var full: String
        private func makeFull() -> String { first + "!" }
      }
      """)
  }

  @Test func `a missing method`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty var photo: Photo
      }
      """,
      2, 3,
      """
      nothing computes the property: the class needs a method 'makePhoto() -> Photo'
      """,
      fix: "add 'makePhoto()'",
      """
      @ObservableModel final class User {
        @LazyProperty var photo: Photo
        private func makePhoto() -> Photo { <#value#> }
      }
      """)
  }

  @Test func `a method whose name is misspelt`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var full: String
        private func makeFul() -> String { first + "!" }
      }
      """,
      3, 3,
      "nothing computes the property: the class needs a method 'makeFull() -> String'",
      fix: "add 'makeFull()'",
      """
      @ObservableModel final class User {
        var first = ""
        @Computed("first") var full: String
        private func makeFull() -> String { <#value#> }
        private func makeFul() -> String { first + "!" }
      }
      """)
  }

  @Test func `a lazy constant`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Computed let full: String
        func makeFull() -> String { "" }
      }
      """,
      2, 13,
      """
      a '@Computed' property gets its value later: it must be a 'var'
      """,
      fix: "replace 'let' with 'var'",
      """
      @ObservableModel final class User {
        @Computed var full: String
        func makeFull() -> String { "" }
      }
      """)
  }

  @Test func `a lazy property without a type`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Computed var full = ""
        func makeFull() -> String { "" }
      }
      """,
      2, 17,
      """
      the type of 'full' is missing
      """,
      fix: "add a type",
      """
      @ObservableModel final class User {
        @Computed var full: <#Type#> = ""
        func makeFull() -> String { "" }
      }
      """)
  }

  @Test func `a created property that is not optional`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty var view: View
        static func makeView() -> View { View() }
      }
      """,
      2, 27,
      """
      'static makeView()' creates the value, and assigning nil creates it again: the \
      property must be optional
      """,
      fix: "make it optional",
      """
      @ObservableModel final class User {
        @LazyProperty var view: View?
        static func makeView() -> View { View() }
      }
      """)
  }

  @Test func `a misspelt loader`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty(loader: "laod") var size: Int
        func load(_ name: String) {}
      }
      """,
      2, 25,
      """
      User has no method 'laod' (did you mean 'load'?)
      """,
      fix: "replace 'laod' with 'load'",
      """
      @ObservableModel final class User {
        @LazyProperty(loader: "load") var size: Int
        func load(_ name: String) {}
      }
      """)
  }

  @Test func `a loader with other parameters`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty(loader: "load") var size: Int
        func load(name: String) {}
      }
      """,
      3, 12,
      """
      'load' takes one argument without a label, '_: String': a loader is given the name \
      of the property
      """)
  }

  @Test func `a method with parameters`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Computed var full: String
        func makeFull(_ a: Int) -> String { "" }
      }
      """,
      3, 8,
      """
      'makeFull' computes 'full': it must take no arguments, and not be 'async'
      """)
  }

  @Test func `a static computed property`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @Computed static var full: String
      }
      """,
      2, 20,
      """
      '@Computed' is for instance properties, and replaces 'lazy'
      """)
  }
}
