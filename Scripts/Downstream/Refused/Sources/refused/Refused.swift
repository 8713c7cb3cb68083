import ObservableModels
import Synchronization

// MARK: Names

@ObservableModel final class Misspelt {
  var first = ""
  @Computed("frist") var full: String
  private func makeFull() -> String { first }
  @LazyProperty(configure: "fil") var card: String?
  private static func makeCard() -> String { "" }
  private func fill(_ card: String) {}
  @LazyProperty(loader: "laod") var photo: String
  private func load(_ name: String) {}
  @Computed("first.") var last: String
  private func makeLast() -> String { first }
  private var hidden = 0
  @Computed("hidden") var shown: Int
  private func makeShown() -> Int { hidden }
}

@ObservableModel final class TakenByInstance {
  var observation = 1
  var other = 2
}

@ObservableModel final class TakenByType {
  static var properties: [String] { [] }
  var other = 2
}

@ObservableModel final class TakenByStorage {
  var name = ""
  // swift-format-ignore: NoLeadingUnderscores
  private var _name = ""
}

@ObservableModel(.observable) class TakenByRegistrar {
  var modelRegistrar = 1
}

// MARK: Makers

struct Photo {}

@ObservableModel final class OtherTypes {
  var first = ""
  @Computed("first") var full: String
  private func makeFull() -> Int { 1 }
  @Computed var label: String
  private func makeLabel() {}
  @LazyProperty(configure: "fill") var card: String?
  private static func makeCard() -> String { "" }
  private func fill(_ card: Int) {}
  @LazyProperty(loader: "load") var size: Int
  private func load(_ size: Int) {}
  @LazyProperty var number: Int?
  private static func makeNumber() -> [Int] { [] }
}

@ObservableModel final class OtherTypeOfAnApp {
  var photo = Photo()
  @Computed("photo") var thumbnail: Photo
  private func makeThumbnail() -> OtherTypes { OtherTypes() }
}

@ObservableModel final class Shapes {
  @LazyProperty var missing: Photo
  @LazyProperty var created: Photo
  private static func makeCreated() -> Photo { Photo() }
  @LazyProperty(configure: "fill") var computed: Photo
  private func makeComputed() -> Photo { Photo() }
  private func fill(_ photo: Photo) {}
  @Computed var slow: Photo
  private func makeSlow() async -> Photo { Photo() }
  @Computed("created") var inPlace: Int { 1 }
  @Computed let constant: Int
  private func makeConstant() -> Int { 1 }
  @Computed var untyped = 1
  init() { constant = 1 }
}

// MARK: Threads

final class Confined { var count = 0 }

@ObservableModel(.threadSafe) final class Unguarded {
  var count = 0
  var onChange: (() -> Void)?
  var confined: Confined?
  @Ignored var cache = 1
  lazy var later = 1
  private var secret = 1
  private let constant = Confined()
  let call: () -> Void = {}
  private let guarded = Mutex(1)
  nonisolated(unsafe) private var checked = 1
}

@MainActor @ObservableModel(.threadSafe) final class OfBoth {
  var count = 0
}

@ObservableModel class OfOneThread { var count = 0 }

@ObservableModel(.threadSafe) final class OfSeveral: OfOneThread { var other = 0 }

@MainActor @ObservableModel final class Ending {
  var count = 0
  deinit { print("over") }
}

@ObservableModel final class PartlyOfAnActor {
  @MainActor var count = 0
}

// MARK: Declarations

@ObservableModel struct Point { var x = 1 }

@ObservableModel actor Counter { var count = 1 }

@ObservableModel enum Size { case small }

@propertyWrapper struct Wrapped { var wrappedValue: Int }

protocol Shape {}
struct Circle: Shape {}

@ObservableModel final class Properties {
  var a = 1, b = 2
  var (c, d) = (1, 2)
  var shape: some Shape = Circle()
  @Wrapped var wrapped = 1
  let constant: Int { didSet {} }
  #if DEBUG
    var conditional = 1
  #endif
  init() { constant = 1 }
}

func local() {
  @ObservableModel final class Local { var x = 1 }
}

// MARK: Paths

@ObservableModel final class Item { var name = "" }

@ObservableModel final class Shelf<Value> {
  var items: [Item] = []
  var value: Value?
}

func paths(_ shelf: Shelf<Item>, _ index: Int) throws {
  _ = #path(\Shelf<Item>.value?.nmae)
  _ = #path(\Shelf<Item>.items.every.nmae)
  _ = #path(\Shelf<Item>.items[index].name)
  _ = #path(\Shelf<Item>.self)
  _ = #path(\.value)
  let literal = \Shelf<Item>.value
  _ = #path(literal)
  shelf.observe(#path(\Item.name)) { _ in }
  shelf.observe(#path(\.value?.nmae)) { _ in }
  shelf.observe(#path(\.value?.name), #path(\Item.name)) { _ in }
  let _: Int = try shelf.value(at: #path(\.value?.name))
  let _: [String] = try shelf.value(at: #path(\.items.every.name))
  _ = shelf.values(#path(\.items.every.name))
}

func lists(_ shelf: Shelf<Item>) throws {
  let _: Path = ["items", "name"]
  _ = Path(["items", "name"])
}
