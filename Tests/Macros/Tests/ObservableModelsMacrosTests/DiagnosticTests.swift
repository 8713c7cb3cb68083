import Testing

/// What the macros say about what cannot work.
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
      fix: "replace 'struct' by 'final class'",
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
      '@ObservableModel' is for classes; 'Counter' is an actor, whose properties nobody \
      outside may read; a class that several threads write is \
      '@ObservableModel(.threadSafe)'
      """,
      fix: "replace 'actor' by 'final class'",
      """
      @ObservableModel public final class Counter {
        var count = 0
      }
      """)
  }

  @Test func `a class of an actor`() {
    expectDiagnostic(
      """
      @ObservableModel @MainActor final class User {
        var first = ""
      }
      """,
      1, 18,
      """
      a model is confined to the thread of its loop, which may be the main one, and to no actor
      """,
      fix: "remove '@MainActor'",
      """
      @ObservableModel final class User {
        var first = ""
      }
      """)
  }

  @Test func `a property that is there under a condition`() {
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
      5, 9, "observed properties are declared outside of '#if'; '@Ignored' leaves this one alone")
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
      what is stored inside of '#if' would not be encoded; declare it outside of it, or give User \
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
      an observed property has a type with a name, as two of '(some Shape)?' are not the same; write \
      'any' instead of 'some'
      """)
  }

  @Test func `something to configure that is not created`() {
    expectDiagnostic(
      """
      @ObservableModel final class User {
        @LazyProperty(configure: "fill") var card: Card
        private func makeCard() -> Card { Card() }
        private func fill(_ card: Card) {}
      }
      """,
      2, 28, "what is configured once is created by a 'static func makeCard()'")
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
      a 'let' is never written: it has no observers, and is observed as part of a path \
      only
      """,
      fix: "replace 'let' by 'var'",
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
      observed properties are declared one by one: each has accessors of its own
      """,
      fix: "declare each by itself",
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
      an observed property has a name of its own; declare each variable by itself
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
      '@Published' may bring accessors of its own, and so does an observed property
      """,
      fix: "leave the property alone by '@Ignored'",
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
      fix: "replace 'frist' by 'first'",
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
      are where they say '@Observed', computed ones where they say '@Computed'
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
      it: the value is computed by a method 'makeFull()'
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
      a '@Computed' property gets its value later: it is a 'var'
      """,
      fix: "replace 'let' by 'var'",
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
      'static makeView()' creates the value, and assigning nil has it created again: the \
      property is optional
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
      fix: "replace 'laod' by 'load'",
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
      'makeFull' computes 'full': it takes no arguments, and is not 'async'
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
      '@Computed' is for properties of instances, and says 'lazy' itself
      """)
  }
}
