import Observables

/// A drawing of shapes, for tests of deep changes.
final class Drawing: ObservableModel {
  static let properties = ModelProperties(for: Drawing.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("cover", get: { $0.cover }, set: { $0.cover = $1 })
    Property("shapes", get: { $0.shapes })
    Property("names", get: { $0.names })
    Property("tags", get: { $0.tags })
  }
  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var cover: Shape? { didSet { observation.didSet(1, from: oldValue, to: cover) } }
  let shapes = ObservableArray<Shape>()
  let names = ObservableDictionary<String, Int>()
  let tags = ObservableSet<String>()
}

/// A shape, which can be decoded.
final class Shape: ObservableModel, Decodable {
  static let properties = ModelProperties(for: Shape.self) {
    Property("sides", get: { $0.sides }, set: { $0.sides = $1 })
    Property("next", get: { $0.next }, set: { $0.next = $1 })
  }
  let observation = ModelObservation()
  var sides: Int { didSet { observation.didSet(0, from: oldValue, to: sides) } }
  var next: Shape? { didSet { observation.didSet(1, from: oldValue, to: next) } }

  init(_ sides: Int, next: Shape? = nil) { (self.sides, self.next) = (sides, next) }

  private enum CodingKeys: CodingKey { case sides, next }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    sides = try container.decode(Int.self, forKey: .sides)
    next = try container.decodeIfPresent(Shape.self, forKey: .next)
  }
}
