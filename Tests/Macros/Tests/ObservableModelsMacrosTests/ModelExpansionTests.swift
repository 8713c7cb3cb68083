import Testing

/// Members that `@ObservableModel` adds to a class.
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
      """
      public final class User {
        @ObservedProperty(0) var name = ""
        @ObservedProperty(1) private(set) var number = 1
        let id: Int
        var upper: String { name }
        static var shared = 0
        lazy var later = 1
        private var secret = 0
        var cache = 0

        public let observation = Observables.ModelObservation()

        private static var firstModelSlot: Int { 0 }

        public static let properties: Observables.ModelProperties = \
      Observables.ModelProperties(for: User.self) {
          Observables.Property("name", get: { $0.name }, set: { $0.name = $1 })
          Observables.Property("number", get: { $0.number })
          Observables.Property("id", get: { $0.id })
        }
      }

      extension User: Observables.ObservableModel { }
      """)
  }

  @Test func `a class that is open to inheritance`() {
    expectExpansion(
      #"@ObservableModel class User { var name = "" }"#,
      """
      let observation = Observables.ModelObservation()
      private static var firstModelSlot: Int { 0 }
      class var properties: Observables.ModelProperties { modelProperties }
      private static let modelProperties: Observables.ModelProperties = \
      Observables.ModelProperties(for: User.self) {
        Observables.Property("name", get: { $0.name }, set: { $0.name = $1 })
      } }
      """, "extension User: Observables.ObservableModel { }")
  }

  @Test func `a class that inherits from a model`() {
    expectExpansion(
      """
      @ObservableModel final class Employee: User {
        var salary = 0
      }
      """, isHeir: true,
      """
      final class Employee: User { @ObservedProperty(0) var salary = 0
      private static let firstModelSlot = User.properties.names.count
      override class var properties: Observables.ModelProperties { modelProperties }
      private static let modelProperties: Observables.ModelProperties = \
      Observables.ModelProperties(for: Employee.self, inheriting: User.properties) {
        Observables.Property("salary", get: { $0.salary }, set: { $0.salary = $1 })
      } }
      """)
  }

  @Test func `a generic class`() {
    expectExpansion(
      """
      @ObservableModel final class Box<Value> {
        var value: Value
      }
      """,
      """
      @ObservedProperty(0, .initialized) var value: Value
      let observation = Observables.ModelObservation()
      private static var firstModelSlot: Int { 0 }
      static var properties: Observables.ModelProperties {
        Observables.ModelProperties.shared(for: Box.self) {
          Observables.Property("value", get: { $0.value }, set: { $0.value = $1 })
        }
      } }
      """, "extension Box: Observables.ObservableModel { }")
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
      """
      @ObservedProperty(0) var first = ""
      @Observables.Lazy var full: String
      private func makeFull() throws -> String { first }
      @Observables.Lazy private(set) var line: String
      func makeLine() -> String { first }
      @Observables.Lazy var view: View?
      static func makeView() -> View { View() }
      func prepare(_ view: View) throws {}
      @Observables.Lazy var size: Int
      func load(_ name: String) {}
      """,
      """
      Observables.Property("full", lazy: { $0.$full }, from: ["first"], isCached: false, \
      get: { (model: Card) -> String in let value: String = try model.makeFull() return value })
      Observables.Property("line", tracked: { $0.$line }, \
      get: { (model: Card) -> String in let value: String = model.makeLine() return value \
      }).readOnlyByName
      Observables.Property("view", lazy: { $0.$view }, \
      create: { () -> View in let value: View = Card.makeView() return value }, \
      configure: { (model: Card, value: View) in try model.prepare(value) })
      Observables.Property("size", lazy: { $0.$size }, \
      loader: { (model: Card, name: String) in model.load(name) })
      """)
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
      """
      private enum CodingKeys: String, CodingKey {
        case _name = "name" case id case note
      } }

      extension Record: Observables.ObservableModel { }
      """)
  }

  @Test func `a constant collection of a Codable class`() {
    expectExpansion(
      """
      @ObservableModel open class Poem: Codable {
        var name = ""
        let lines: ObservableArray<String> = []
      }
      """,
      """
      public let observation = Observables.ModelObservation()
      private static var firstModelSlot: Int { 0 }
      open class var properties: Observables.ModelProperties { modelProperties }
      """,
      """
      private enum CodingKeys: String, CodingKey { case _name = "name" case lines }

      public required init(from decoder: any Decoder) throws {
        let values = try ObservableModels.ModelDecoding(decoder, CodingKeys.self)
        self._name = try values.value(._name)
        try values.fill(self.lines, .lines)
      }

      init() { } }
      """)
  }

  @Test func `a class of the main actor`() {
    expectExpansion(
      #"@MainActor @ObservableModel class Panel: @MainActor Codable { var text = "" }"#,
      """
      isolated deinit { }

      private enum CodingKeys: String, CodingKey { case _text = "text" } }

      extension Panel: @MainActor Observables.ObservableModel { }
      """)
  }

  @Test func `an open class, in an extension with an access level`() {
    expectExpansion(
      """
      public extension Space {
        @ObservableModel nonisolated final class Planet {
          public unowned(unsafe) var sun: Star
          public nonisolated(unsafe) var name = ""
        }
      }
      @ObservableModel open class Star: Body & Codable {
        private enum CodingKeys: CodingKey {}
      }
      """, isHeir: true,
      """
      nonisolated final class Planet {
        @ObservedProperty(0, .initialized) public unowned(unsafe) var sun: Star
        @ObservedProperty(1) public nonisolated(unsafe) var name = ""
        public let observation = Observables.ModelObservation()
        private static var firstModelSlot: Int { 0 }
        public static var properties: Observables.ModelProperties {
          Observables.ModelProperties.shared(for: Planet.self) {
            Observables.Property("sun", get: { $0.sun }, set: { $0.sun = $1 })
            Observables.Property("name", get: { $0.name }, set: { $0.name = $1 })
          }
        } }
      """,
      """
      open class Star: Body & Codable {
        private enum CodingKeys: CodingKey {}
        private static let firstModelSlot = Body.properties.names.count
        override open class var properties: Observables.ModelProperties { modelProperties }
        private static let modelProperties: Observables.ModelProperties = \
      Observables.ModelProperties(for: Star.self, inheriting: Body.properties) { } }
      """)
  }

  @Test func `a class inside a function, which the compiler refuses`() {
    expectExpansion(
      #"func run() { @ObservableModel final class User { var name = "" } }"#,
      #"func run() { final class User { var name = "" } }"#)
  }

  @Test(.needsSwift62)
  func `a class for several threads`() {
    let advice = """
      // or keep it in a 'Mutex', or in a private 'nonisolated(unsafe) var' and guard it
      """
    expectExpansion(
      """
      @ObservableModel(.threadSafe) final class Counter: Sendable {
        let id: Int, (low, high) = (1, 2)
        private let state = Mutex<[Int]>([])
        let number: Atomic<Int>
        nonisolated(unsafe) let unchecked = Unchecked()
        #if DEBUG
          let debug = 1
        #endif
      }
      """, "let observation = Observables.ModelObservation(.threadSafe)",
      """
      Observables.ModelProperties(for: Counter.self) {
        Observables.Property("unchecked", get: { $0.unchecked })
      }

      private func __macro_local_9constantsfMu_() {
        ObservableModels.requireSendable(id) \(advice)
        ObservableModels.requireSendable(low) \(advice)
        ObservableModels.requireSendable(high) \(advice)
        ObservableModels.requireSendable(state) \(advice)
        ObservableModels.requireSendable(number) \(advice)
      } }

      extension Counter: nonisolated Observables.ObservableModel { }
      """)
  }

  @Test(.needsSwift62)
  func `options`() {
    expectExpansion(
      """
      @ObservableModel(.threadSafe, .observable) final class Counter {
        var count = 0
      }
      """,
      "@ObservedProperty(0, .threadSafe, .observable) var count = 0",
      "let observation = Observables.ModelObservation(.threadSafe)",
      """
      let modelRegistrar = ObservableModels.ModelRegistrar() }

      extension Counter: nonisolated Observables.ObservableModel, nonisolated \
      ObservableModels.FrameworkObservable, @unchecked Sendable { }
      """)
  }
}
