import Observables
import Testing

/// Mutations whose elements, arguments or predicates access the collection themselves.
struct ReentrantMutationTests {
  private final class Guest {
    private weak let list: ObservableArray<Guest?>?
    init(_ list: ObservableArray<Guest?>) { self.list = list }
    deinit { list?.append(nil) }
  }

  private func list(_ isObserved: Bool, _ loop: Loop) throws -> ObservableArray<Guest?> {
    let list = ObservableArray<Guest?>()
    for _ in 0..<4 { list.append(Guest(list)) }
    if isObserved { try list.observe("*", in: loop) { _ in } }
    return list
  }

  @Test(arguments: [false, true], [0, 1, 2, 3, 4, 5, 6])
  func `an element that changes the array as it dies finds it in order`(
    isObserved: Bool, mutation: Int
  ) throws {
    let loop = Loop()
    let list = try list(isObserved, loop)
    switch mutation {
    case 0: list[1] = nil
    case 1: list.removeSubrange(1..<3)
    case 2: list.removeAll()
    case 3: list.removeAll(keepingCapacity: true)
    case 4: list.replaceSubrange(0..<2, with: [nil])
    case 5: list.removeLast(2)
    default: list.set([nil, nil])
    }
    loop.endTurn()
    loop.endTurn()
    // The elements that each mutation leaves, and one entry for each guest that died.
    let (left, died) = [(4, 1), (2, 2), (0, 4), (0, 4), (3, 2), (2, 2), (2, 4)][mutation]
    #expect(list.count == left + died)
  }

  // C10
  @Test func `an element that dies after its removal was delivered may change the array`() throws {
    let loop = Loop()
    let list = try list(false, loop)
    var told: [Int] = []
    try list.observeEdits(in: loop) { list, edits in told.append(edits.count) }
    list.removeLast(3)
    loop.endTurn()
    loop.endTurn()
    #expect(list.count == 4)
    // Three removals; then the three elements, which the edits no longer held, died and added
    // entries.
    #expect(told == [3, 3])
  }

  @Test(arguments: [false, true])
  func `an array can be inserted into itself`(isObserved: Bool) throws {
    let (loop, numbers) = (Loop(), ObservableArray([1, 2, 3]))
    if isObserved { try numbers.observe("*", in: loop) { _ in } }
    numbers.append(contentsOf: numbers)
    #expect(numbers.elements == [1, 2, 3, 1, 2, 3])
    numbers.insert(contentsOf: numbers, at: 1)
    #expect(numbers.elements == [1, 1, 2, 3, 1, 2, 3, 2, 3, 1, 2, 3])
    numbers.replaceSubrange(1..., with: numbers)
    #expect(numbers.elements == [1, 1, 1, 2, 3, 1, 2, 3, 2, 3, 1, 2, 3])
  }

  @Test(arguments: [false, true])
  func `a lazy view of the array itself can be appended`(isObserved: Bool) throws {
    let (loop, numbers) = (Loop(), ObservableArray([1, 2, 3]))
    if isObserved { try numbers.observe("*", in: loop) { _ in } }
    numbers.append(contentsOf: numbers.lazy.map { [numbers] in $0 * 10 + numbers.count })
    #expect(numbers.elements == [1, 2, 3, 13, 23, 33])
  }
}
