import TestSupport
import Testing

@testable import Observables

struct HeapTests {
  @Test(arguments: 1...20)
  func `a heap gives the same elements as a sorted array`(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var heap = Heap<Int>(by: <)
    var reference: [Int] = []
    for _ in 0..<2000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<60:
        let element = Int.random(in: 0..<500, using: &random)
        heap.insert(element)
        reference.append(element)
        reference.sort()
      case 60..<98:
        let least = reference.isEmpty ? nil : reference.removeFirst()
        #expect(heap.removeFirst() == least)
      default:
        let remainder = Int.random(in: 0..<3, using: &random)
        heap.removeAll { $0 % 3 == remainder }
        reference.removeAll { $0 % 3 == remainder }
      }
      #expect(heap.first == reference.first)
      #expect(heap.count == reference.count)
    }
  }
}
