import Observables

/// A vertex of random graphs: three links to other vertices, one of them weak, and two values.
final class Vertex: ObservableModel {
  static let properties = ModelProperties(for: Vertex.self) {
    Property("a", get: { $0.a })
    Property("b", get: { $0.b })
    Property("w", get: { $0.w })
    Property("x", get: { $0.x })
    Property("y", get: { $0.y })
  }
  static let links = ["a", "b", "w"]
  static let values = ["x", "y"]

  let observation = ModelObservation()
  let id: Int
  var a: Vertex? { didSet { observation.didSet(0, from: oldValue, to: a) } }
  var b: Vertex? { didSet { observation.didSet(1, from: oldValue, to: b) } }
  weak var w: Vertex? { didSet { observation.didSet(2, from: oldValue, to: w) } }
  var x = 0 { didSet { observation.didSet(3, from: oldValue, to: x) } }
  var y = 0 { didSet { observation.didSet(4, from: oldValue, to: y) } }

  init(_ id: Int) { self.id = id }

  func link(_ name: String) -> Vertex? {
    switch name {
    case "a": a
    case "b": b
    case "w": w
    default: nil
    }
  }

  func set(_ name: String, to other: Vertex?) {
    switch name {
    case "a": a = other
    case "b": b = other
    default: w = other
    }
  }

  func value(_ name: String) -> Int { name == "x" ? x : y }

  func set(_ name: String, to value: Int) {
    if name == "x" { x = value } else { y = value }
  }
}
