import Foundation
import Observables
import TestSupport

/// A drawing that a random program writes, for the rules of deep changes.
struct RandomDrawing {
  let drawing: Drawing
  private var generator: SeededGenerator
  /// The shapes created so far, which may refer to each other, and may be deallocated.
  private var shapes: [WeakShape] = []

  private struct WeakShape { weak var shape: Shape? }

  init(seed: Int, _ drawing: Drawing = Drawing()) {
    (generator, self.drawing) = (SeededGenerator(seed: seed), drawing)
  }

  /// The seeds of random programs: `OBS_COUNT` or `count` of them, from `OBS_SEED` on.
  static func seeds(_ count: Int) -> Range<Int> {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["OBS_SEED"].flatMap { Int($0) } ?? 0
    return first..<first + (environment["OBS_COUNT"].flatMap { Int($0) } ?? count)
  }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

  /// Makes a random number of writes, within `count`.
  mutating func write(_ count: Range<Int>) { for _ in 0..<number(count) { step() } }

  /// Cuts the references between shapes.
  func release() { for known in shapes { known.shape?.next = nil } }

  private mutating func shape() -> Shape {
    let known = drawing.shapes.randomElement(using: &generator)
    if let known, Bool.random(using: &generator) { return known }
    let shape = Shape(number(3..<9))
    shapes.append(WeakShape(shape: shape))
    return shape
  }

  private mutating func step() {
    let shapes = drawing.shapes
    switch number(0..<10) {
    case 0: drawing.title = ["a", "b", "c"].randomElement(using: &generator)!
    case 1: drawing.cover = Bool.random(using: &generator) ? nil : shape()
    case 2, 3: shapes.insert(shape(), at: number(0..<shapes.count + 1))
    case 4 where !shapes.isEmpty: shapes.remove(at: number(0..<shapes.count))
    case 5 where !shapes.isEmpty: shapes[number(0..<shapes.count)] = shape()
    case 6 where !shapes.isEmpty:
      shapes.move(from: number(0..<shapes.count), to: number(0..<shapes.count))
    case 7:
      shapes.randomElement(using: &generator)?.next =
        Bool.random(using: &generator) ? nil : shape()
    case 8: drawing.names["x"] = [nil, 1, 2].randomElement(using: &generator)!
    default:
      if drawing.tags.contains("t") { drawing.tags.remove("t") } else { drawing.tags.insert("t") }
    }
    shapes.randomElement(using: &generator)?.sides = number(3..<9)
  }
}
