import Observables
import Synchronization

final class Item: ObservableModel, Codable {
  static let properties = ModelProperties(for: Item.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
    Property("link", get: { $0.link }, set: { $0.link = $1 })
    Property("parts", get: { $0.parts })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var tags: [String] { didSet { observation.didSet(1, from: oldValue, to: tags) } }
  var link: Item? { didSet { observation.didSet(2, from: oldValue, to: link) } }
  let parts: ObservableArray<Item>

  init(_ name: String, tags: [String] = [], parts: [Item] = []) {
    (self.name, self.tags) = (name, tags)
    self.parts = ObservableArray(parts)
    note()
  }

  private enum CodingKeys: CodingKey { case name, tags, link, parts }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
    tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
    link = try container.decodeIfPresent(Item.self, forKey: .link)
    parts = try container.decodeIfPresent(ObservableArray<Item>.self, forKey: .parts) ?? []
    note()
  }

  /// The items that were made since the last call of `endAll`, which may own each other.
  ///
  /// Nothing here keeps them alive, so mirrors have to.
  private static let made = Mutex<[Made]>([])

  private struct Made: @unchecked Sendable { weak var item: Item? }

  private func note() {
    let item = Made(item: self)
    Item.made.withLock { $0.append(item) }
  }

  /// Breaks the cycles of all items, when the mirrors of a test have ended.
  static func endAll() {
    let all = made.withLock { made in
      defer { made = [] }
      return made
    }
    for made in all {
      made.item?.link = nil
      made.item?.parts.removeAll()
    }
  }

  func encode(to encoder: any Encoder) throws {}
}

final class Document: ObservableModel {
  static let properties = ModelProperties(for: Document.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("count", get: { $0.count }, set: { $0.count = $1 })
    Property("items", get: { $0.items })
    Property("byName", get: { $0.byName })
    Property("numbers", get: { $0.numbers })
    Property("best", get: { $0.best }, set: { $0.best = $1 })
    Property("left", get: { $0.left })
    Property("right", get: { $0.right })
  }
  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var count = 0 { didSet { observation.didSet(1, from: oldValue, to: count) } }
  let items = ObservableArray<Item>()
  let byName = ObservableDictionary<String, Item>()
  let numbers = ObservableSet<Int>()
  var best: Item? { didSet { observation.didSet(5, from: oldValue, to: best) } }

  /// Lists whose items are in no others.
  let left = ObservableArray<Item>()
  let right = ObservableArray<Item>()

  /// The text of the tree, with all sharing.
  var dump: String {
    var known: [ObjectIdentifier: Int] = [:]
    func text(_ item: Item?) -> String {
      guard let item else { return "nil" }
      if let number = known[ObjectIdentifier(item)] { return "#\(number)" }
      known[ObjectIdentifier(item)] = known.count + 1
      return "(\(item.name) \(item.tags) \(text(item.link)) \(item.parts.map(text)))"
    }
    let entries = byName.keys.sorted().map { "\($0): \(text(byName[$0]))" }
    return "\(title) \(count) \(items.map(text)) \(entries) \(numbers.sorted()) \(text(best)) "
      + "\(left.map(text)) \(right.map(text))"
  }
}
