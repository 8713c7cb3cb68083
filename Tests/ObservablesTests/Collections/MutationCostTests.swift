import Observables
import Testing

/// The cost of a mutation depends on the change, not on the size of the collection.
///
/// The cost is measured as comparisons and hashes of elements, which do not depend on the load of
/// the machine.
struct MutationCostTests {
  private static let size = 2000

  /// An element that counts its comparisons and hashes.
  private struct Counted: Hashable {
    final class Meter {
      var comparisons = 0
      var hashes = 0
    }
    let number: Int
    let meter: Meter
    static func == (a: Counted, b: Counted) -> Bool {
      a.meter.comparisons += 1
      return a.number == b.number
    }
    func hash(into hasher: inout Hasher) {
      meter.hashes += 1
      hasher.combine(number)
    }
  }

  private let loop = Loop()
  private let meter = Counted.Meter()

  private func observeSlots(of list: ObservableArray<Counted>) throws {
    for index in list.indices { try list.observe(try Path("#\(index)"), in: loop) { _ in } }
  }

  private func element(_ number: Int) -> Counted { Counted(number: number, meter: meter) }

  // C3
  @Test func `appending compares only the new slot`() throws {
    let list = ObservableArray((0..<MutationCostTests.size).map(element))
    try observeSlots(of: list)
    meter.comparisons = 0
    for number in 0..<10 {
      list.append(element(number))
      list.removeLast()
      loop.endTurn()
    }
    #expect(meter.comparisons < 100)
  }

  // C3
  @Test func `swapping neighbours compares only their slots`() throws {
    let list = ObservableArray((0..<MutationCostTests.size).map(element))
    try observeSlots(of: list)
    meter.comparisons = 0
    for index in 0..<10 {
      list.swapAt(index, index + 1)
      list.move(from: index, to: index + 1)
      loop.endTurn()
    }
    #expect(meter.comparisons < 200)
  }

  // C6
  @Test(arguments: [false, true])
  func `adding and removing a few members of a set hashes only these`(isObserved: Bool) throws {
    let set = ObservableSet((0..<MutationCostTests.size).map(element))
    if isObserved { try set.observe("*", in: loop) { _ in } }
    meter.hashes = 0
    set.formUnion([element(1), element(-1)])
    set.subtract([element(2), element(-2)])
    set.formSymmetricDifference([element(3), element(-3)])
    #expect(meter.hashes < 100)
  }

  // C5
  @Test(arguments: [false, true])
  func `merging a few keys hashes only these`(isObserved: Bool) throws {
    let entries = (0..<MutationCostTests.size).map { (element($0), $0) }
    let dictionary = ObservableDictionary(Dictionary(uniqueKeysWithValues: entries))
    if isObserved { try dictionary.observe("*", in: loop) { _ in } }
    meter.hashes = 0
    dictionary.merge([(element(1), 5), (element(-1), 6)]) { $1 }
    #expect(meter.hashes < 100)
  }
}
