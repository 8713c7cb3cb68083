import Observables
import Observation
import OpenCombine

/// The floor: the same class without observation.
final class PlainLeaf {
  var value = 0
  var next: PlainLeaf?
}

/// Our model: three of them make a path of three components.
final class Leaf: ObservableModel {
  static let properties = ModelProperties(for: Leaf.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
    Property("next", get: { $0.next }, set: { $0.next = $1 })
    Property("other", get: { $0.other }, set: { $0.other = $1 })
  }
  let observation = ModelObservation()
  var value = 0 { didSet { observation.didSet(0, from: oldValue, to: value) } }
  var next: Leaf? { didSet { observation.didSet(1, from: oldValue, to: next) } }
  var other = 0 { didSet { observation.didSet(2, from: oldValue, to: other) } }

  init(value: Int = 0) { self.value = value }
}

/// The toolchain's Observation framework.
@Observable
final class TrackedLeaf {
  var value = 0
  var next: TrackedLeaf?
}

/// OpenCombine's `@Published`.
final class PublishedLeaf: OpenCombine.ObservableObject {
  @OpenCombine.Published var value = 0
  @OpenCombine.Published var next: PublishedLeaf?
}

/// OpenCombine's bare subjects.
final class SubjectLeaf {
  let value = CurrentValueSubject<Int, Never>(0)
  let next = CurrentValueSubject<SubjectLeaf?, Never>(nil)
}
