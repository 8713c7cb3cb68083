import ObservableModels
import Testing

/// A list that records whether its storage was unique when it was changed.
private struct List: Equatable {
  private var storage = [0]
  private(set) var wasUnique = true
  mutating func append(_ value: Int) {
    let before = storage.withUnsafeBufferPointer(\.baseAddress)
    storage.reserveCapacity(8)
    let moved = storage.withUnsafeBufferPointer(\.baseAddress)
    storage.append(value)
    wasUnique = before == moved || storage.count == 2
  }
}

@ObservableModel private final class Holder {
  var list = List()
  var other = 0
}

/// The costs of an unobserved model.
struct CopyTests {
  @Test func `a value is changed in place while it is unobserved`() throws {
    let (loop, holder) = (Loop(clock: .virtual), Holder())
    try holder.observe("other", in: loop) { _ in }
    holder.list.append(1)
    holder.list.append(2)
    #expect(holder.list.wasUnique)
    try holder.observe("list", in: loop) { _ in }
    holder.list.append(3)
    #expect(!holder.list.wasUnique)
  }
}
