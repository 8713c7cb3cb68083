import Testing

/// What `@ObservableModel` adds to a class.
struct ModelExpansionTests {
  @Test func `a final class`() {
    expectExpansion(
      """
      @ObservableModel public final class User {
        var name = ""
        private(set) var number = 1
        let id: Int
        var upper: String { name }
        static var shared = 0
        lazy var later = 1
        private var secret = 0
        @Ignored var cache = 0
      }
      """,
      to: #"""
        public final class User {
          @ObservedProperty(0)
          var name = ""
          @ObservedProperty(1)
          private(set) var number = 1
          let id: Int
          var upper: String { name }
          static var shared = 0
          lazy var later = 1
          private var secret = 0
          var cache = 0

          public let observation = Observables.ModelObservation()

          private static var firstModelSlot: Int {
            0
          }

          public static let properties = Observables.ModelProperties(for: User.self) {
            Observables.Property("name", get: {
                $0.name
              }, set: {
                $0.name = $1
              })
            Observables.Property("number", get: {
                $0.number
              })
            Observables.Property("id", get: {
                $0.id
              })
          }
        }

        extension User: Observables.ObservableModel {
        }
        """#)
  }

  @Test func `a class that is open to inheritance`() {
    expectExpansion(
      """
      @ObservableModel class User {
        var name = ""
      }
      """,
      to: #"""
        class User {
          @ObservedProperty(0)
          var name = ""

          let observation = Observables.ModelObservation()

          private static var firstModelSlot: Int {
            0
          }

          class var properties: Observables.ModelProperties {
            modelProperties
          }

          private static let modelProperties = Observables.ModelProperties(for: User.self) {
            Observables.Property("name", get: {
                $0.name
              }, set: {
                $0.name = $1
              })
          }
        }

        extension User: Observables.ObservableModel {
        }
        """#)
  }

  @Test func `a class that inherits from a model`() {
    expectExpansion(
      """
      @ObservableModel final class Employee: User {
        var salary = 0
      }
      """, isHeir: true,
      to: #"""
        final class Employee: User {
          @ObservedProperty(0)
          var salary = 0

          private static let firstModelSlot = User.properties.names.count

          override class var properties: Observables.ModelProperties {
            modelProperties
          }

          private static let modelProperties = Observables.ModelProperties(for: Employee.self, inheriting: User.properties) {
            Observables.Property("salary", get: {
                $0.salary
              }, set: {
                $0.salary = $1
              })
          }
        }
        """#)
  }

  @Test func `a generic class`() {
    expectExpansion(
      """
      @ObservableModel final class Box<Value> {
        var value: Value
      }
      """,
      to: #"""
        final class Box<Value> {
          @ObservedProperty(0)
          var value: Value

          let observation = Observables.ModelObservation()

          private static var firstModelSlot: Int {
            0
          }

          static var properties: Observables.ModelProperties {
            ObservableModels.properties(of: Box.self) {
              Observables.ModelProperties(for: Box.self) {
                Observables.Property("value", get: {
                    $0.value
                  }, set: {
                    $0.value = $1
                  })
              }
            }
          }
        }

        extension Box: Observables.ObservableModel {
        }
        """#)
  }

  @Test func `lazy properties`() {
    expectExpansion(
      """
      @ObservableModel final class Card {
        var first = ""
        @Computed("first", isCached: false) var full: String
        private func makeFull() throws -> String { first }
        @Computed private(set) var line: String
        func makeLine() -> String { first }
        @LazyProperty(configure: "prepare") var view: View?
        static func makeView() -> View { View() }
        func prepare(_ view: View) throws {}
        @LazyProperty(loader: "load") var size: Int
        func load(_ name: String) {}
      }
      """,
      to: #"""
        final class Card {
          @ObservedProperty(0)
          var first = ""
          @Observables.Lazy var full: String
          private func makeFull() throws -> String { first }
          @Observables.Lazy private(set) var line: String
          func makeLine() -> String { first }
          @Observables.Lazy var view: View?
          static func makeView() -> View { View() }
          func prepare(_ view: View) throws {}
          @Observables.Lazy var size: Int
          func load(_ name: String) {}

          let observation = Observables.ModelObservation()

          private static var firstModelSlot: Int {
            0
          }

          static let properties = Observables.ModelProperties(for: Card.self) {
            Observables.Property("first", get: {
                $0.first
              }, set: {
                $0.first = $1
              })
            Observables.Property("full", lazy: {
                $0.$full
              }, from: ["first"], isCached: false, get: {
                try $0.makeFull()
              })
            Observables.Property("line", tracked: {
                $0.$line
              }, get: {
                $0.makeLine()
              }).readOnlyByName
            Observables.Property("view", lazy: {
                $0.$view
              }, create: {
                Card.makeView()
              }, configure: {
                try $0.prepare($1)
              })
            Observables.Property("size", lazy: {
                $0.$size
              }, loader: {
                $0.load($1)
              })
          }
        }

        extension Card: Observables.ObservableModel {
        }
        """#)
  }

  @Test func `coding keys`() {
    expectExpansion(
      """
      @ObservableModel final class Record: Codable {
        var name = ""
        let id = 1
        private var note = ""
        @Computed var line: String
        func makeLine() -> String { name }
      }
      """,
      to: #"""
        final class Record: Codable {
          @ObservedProperty(0)
          var name = ""
          let id = 1
          private var note = ""
          @Observables.Lazy var line: String
          func makeLine() -> String { name }

          let observation = Observables.ModelObservation()

          private static var firstModelSlot: Int {
            0
          }

          static let properties = Observables.ModelProperties(for: Record.self) {
            Observables.Property("name", get: {
                $0.name
              }, set: {
                $0.name = $1
              })
            Observables.Property("id", get: {
                $0.id
              })
            Observables.Property("line", tracked: {
                $0.$line
              }, get: {
                $0.makeLine()
              })
          }

          private enum CodingKeys: String, CodingKey {
            case _name = "name"
            case id
            case note
          }
        }

        extension Record: Observables.ObservableModel {
        }
        """#)
  }

  @Test func `options`() {
    expectExpansion(
      """
      @ObservableModel(.threadSafe, .observable) final class Counter {
        var count = 0
      }
      """,
      to: #"""
        final class Counter {
          @ObservedProperty(0, .threadSafe, .observable)
          var count = 0

          let observation = Observables.ModelObservation(.threadSafe)

          let modelRegistrar = Observation.ObservationRegistrar()

          private static var firstModelSlot: Int {
            0
          }

          static let properties = Observables.ModelProperties(for: Counter.self) {
            Observables.Property("count", get: {
                $0.count
              }, set: {
                $0.count = $1
              })
          }
        }

        extension Counter: Observables.ObservableModel, @unchecked Sendable {
        }
        """#)
  }
}
