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

extension Drawing {
  /// The whole drawing as text; a repeated shape appears as the number of its first occurrence.
  var text: String {
    var numbers: [ObjectIdentifier: Int] = [:]
    func text(_ shape: Shape?) -> String {
      guard let shape else { return "nil" }
      if let number = numbers[ObjectIdentifier(shape)] { return "#\(number)" }
      numbers[ObjectIdentifier(shape)] = numbers.count
      return "(\(shape.sides) \(text(shape.next)))"
    }
    let names = names.map { "\($0.key)=\($0.value)" }.sorted()
    return """
      \(title) \(text(cover)) \(shapes.map { text($0) }) \(names) \(tags.map { $0 }.sorted())
      """
  }

  /// The whole drawing, by the identity of its shapes.
  var identity: [String] {
    var chains: [String] = []
    var known: Set<ObjectIdentifier> = []
    for first in [cover] + Array(shapes) {
      var shape = first
      var chain = ""
      while let one = shape {
        chain += " \(ObjectIdentifier(one).hashValue)"
        if !known.insert(ObjectIdentifier(one)).inserted { break }
        chain += " \(one.sides)"
        shape = one.next
      }
      chains.append(chain)
    }
    let names = names.map { "\($0.key)=\($0.value)" }.sorted()
    return [title, "\(names)", "\(tags.map { $0 }.sorted())"] + chains
  }

  /// A drawing with copies of the shapes, which are shared in the same way.
  func copy() -> Drawing {
    let copy = Drawing()
    var copies: [ObjectIdentifier: Shape] = [:]
    func copied(_ shape: Shape?) -> Shape? {
      guard let shape else { return nil }
      if let known = copies[ObjectIdentifier(shape)] { return known }
      let made = Shape(shape.sides)
      copies[ObjectIdentifier(shape)] = made
      made.next = copied(shape.next)
      return made
    }
    copy.title = title
    copy.cover = copied(cover)
    copy.shapes.set(shapes.compactMap { copied($0) })
    for (key, value) in names { copy.names[key] = value }
    for tag in tags { copy.tags.insert(tag) }
    return copy
  }

  /// All shapes reachable from the drawing.
  var reachable: [Shape] {
    var found: [ObjectIdentifier: Shape] = [:]
    var work = Array(shapes) + [cover].compactMap { $0 }
    while let shape = work.popLast() {
      guard found.updateValue(shape, forKey: ObjectIdentifier(shape)) == nil else { continue }
      if let next = shape.next { work.append(next) }
    }
    return Array(found.values)
  }

  /// Cuts the references between shapes, which may form rings.
  func release() { for shape in reachable { shape.next = nil } }
}
