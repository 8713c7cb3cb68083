import TestSupport
import Testing

@testable import Observables

/// C10: edits turn the former list into the present one.
struct JournalTests {
  // C10
  @Test func `a change that is reverted within a turn is no edit`() {
    var journal = Journal<Int>()
    journal.record(.insert(7, at: 0))
    journal.record(.remove(7, at: 0))
    #expect(!journal.hasEdits(since: 0, current: { [1, 2] }, same: ==))
    #expect(journal.edits(since: 0, current: { [1, 2] }, same: ==) == [])
  }

  // C10
  @Test func `one operation is one edit`() {
    for edit in [
      CollectionEdit.insert(9, at: 1), .remove(1, at: 0), .replace(2, with: 9, at: 1),
      .move(1, from: 0, at: 2),
    ] {
      var (journal, list) = (Journal<Int>(), [1, 2, 3])
      journal.record(edit)
      edit.apply(to: &list)
      let current = list
      #expect(journal.edits(since: 0, current: { current }, same: ==) == [edit])
    }
  }

  // C10
  @Test func `inserts or removals alone are delivered without reading the list`() {
    var journal = Journal<Int>()
    for index in 0..<1000 { journal.record(.insert(index, at: 0)) }
    let edits = journal.edits(
      since: 0,
      current: { () -> [Int] in
        Issue.record("The list was looked at")
        return []
      }, same: ==)
    #expect(edits == (0..<1000).map { .insert($0, at: 0) })
  }

  // C10
  @Test func `elements of a sorted list are numbered once instead of compared`() {
    var journal = Journal<Int>()
    journal.rearranged(from: [3, 1, 2], isPermutation: true)
    var lists: [[Int]] = []
    let edits = journal.edits(
      since: 0, current: { [1, 2, 3] },
      same: { _, _ in
        Issue.record("Elements were compared")
        return false
      },
      numbers: {
        lists = [$0, $1]
        return ($0, $1)
      })
    #expect(edits == [.remove(3, at: 0), .insert(3, at: 2)])
    #expect(lists == [[3, 1, 2], [1, 2, 3]])
  }

  // C10
  @Test func `a detour is delivered as the shorter way`() {
    var journal = Journal<Int>()
    journal.record(.insert(4, at: 3))
    journal.record(.replace(1, with: 5, at: 0))
    journal.record(.remove(4, at: 3))
    #expect(
      journal.edits(since: 0, current: { [5, 2, 3] }, same: ==) == [.replace(1, with: 5, at: 0)])
  }

  // C10
  @Test func `two swapped elements are two replacements, without reading the list`() {
    var journal = Journal<Int>()
    journal.record(.replace(1, with: 3, at: 0))
    journal.record(.replace(3, with: 1, at: 2))
    let unread = {
      Issue.record("The list was looked at")
      return [Int]()
    }
    #expect(journal.hasEdits(since: 0, current: unread, same: ==))
    #expect(
      journal.edits(since: 0, current: unread, same: ==) == [
        .replace(1, with: 3, at: 0), .replace(3, with: 1, at: 2),
      ])
  }

  // C10
  @Test func `of two replacements only those with another element are edits`() {
    var journal = Journal<Int>()
    journal.record(.replace(1, with: 1, at: 0))
    journal.record(.replace(3, with: 2, at: 2))
    #expect(journal.hasEdits(since: 0, current: { [] }, same: ==))
    #expect(
      journal.edits(since: 0, current: { [] }, same: ==) == [.replace(3, with: 2, at: 2)])
  }

  // C10
  @Test func `after an unread change of the whole nothing more is kept`() {
    var journal = Journal<Int>()
    for _ in 0..<1000 { journal.rearranged(from: [3, 2, 1], isPermutation: true) }
    journal.record(.insert(4, at: 3))
    #expect(journal.count == 1)
    #expect(
      journal.edits(since: 0, current: { [3, 2, 1, 4] }, same: ==) == [.insert(4, at: 3)])
  }

  // C10
  @Test func `a reader that lags behind costs no more than the list`() {
    var journal = Journal<Int>()
    var list = [0, 1, 2]
    let (slow, slowList) = (journal.end, list)
    for i in 0..<5000 {
      CollectionEdit.insert(i, at: 1).apply(to: &list)
      journal.record(.insert(i, at: 1))
      journal.record(.remove(list.remove(at: 0), at: 0))
    }
    let current = list
    journal.compact(for: [slow, journal.end], current: { current })
    #expect(journal.count == 1)
    var mirror = slowList
    for edit in journal.edits(since: slow, current: { current }, same: ==) {
      edit.apply(to: &mirror)
    }
    #expect(mirror == list)
  }

  // C10
  @Test func `former contents count by their length`() {
    var journal = Journal<Int>()
    let list = Array(0..<1000)
    let slow = journal.end
    for _ in 0..<100 {
      journal.rearranged(from: list, isPermutation: true)
      journal.compact(for: [slow, journal.end], current: { list })
    }
    #expect(journal.count < 10)
    #expect(!journal.hasEdits(since: slow, current: { list }, same: ==))
  }

  // C10
  @Test func `a long list is rarely read while its journal grows`() {
    var journal = Journal<Int>()
    var list = Array(0..<100_000)
    let slow = journal.end
    var looks = 0
    for index in 0..<20_000 {
      list[0] += 1
      journal.record(.replace(index, with: index + 1, at: 0))
      let current = list
      journal.compact(for: [slow, journal.end]) {
        looks += 1
        return current
      }
    }
    #expect(looks == 1)
  }

  // C10
  @Test(arguments: 0..<20)
  func `a random history is right for each of its readers`(block: Int) {
    let count = Size.of(60, light: 6)
    for seed in block * count..<(block + 1) * count {
      var generator = SeededGenerator(seed: seed)
      let program = (0..<60).map { _ in Step.random(using: &generator) }
      if let failure = smallestFailure(of: program, Run.difference) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }
}

private enum Step {
  case insert(Int, at: Int)
  case remove(at: Int)
  case replace(at: Int, with: Int)
  case move(from: Int, to: Int)
  case sort
  case assign([Int])
  case read(Int)
  case compact

  static func random(using generator: inout SeededGenerator) -> Step {
    func below(_ limit: Int) -> Int { .random(in: 0..<limit, using: &generator) }
    return switch below(24) {
    case 0..<6: .insert(below(5), at: below(50))
    case 6..<10: .remove(at: below(50))
    case 10..<13: .replace(at: below(50), with: below(5))
    case 13..<15: .move(from: below(50), to: below(50))
    case 15: .sort
    case 16: .assign((0..<below(8)).map { _ in below(5) })
    case 17: .compact
    default: .read(below(3))
    }
  }
}

/// A list with a journal of few entries, and readers that are compared with it.
private struct Run {
  private var journal = Journal<Int>(minimalLimit: 4)
  private var list = [0, 1, 2]
  private var readers = Array(repeating: (position: 0, list: [0, 1, 2]), count: 3)

  static func difference(_ program: [Step]) -> String? {
    var run = Run()
    return run.difference(program)
  }

  private mutating func difference(_ program: [Step]) -> String? {
    for (place, step) in program.enumerated() {
      switch step {
      case .insert(let element, let position):
        record(.insert(element, at: position % (list.count + 1)))
      case .remove(let position) where !list.isEmpty:
        let position = position % list.count
        record(.remove(list[position], at: position))
      case .replace(let position, let element) where !list.isEmpty:
        let position = position % list.count
        record(.replace(list[position], with: element, at: position))
      case .move(let from, let position) where !list.isEmpty:
        let from = from % list.count
        record(.move(list[from], from: from, at: position % list.count))
      case .sort:
        journal.rearranged(from: list, isPermutation: true)
        list.sort()
      case .assign(let elements):
        journal.rearranged(from: list, isPermutation: false)
        list = elements
      case .compact:
        let current = list
        journal.compact(for: readers.map(\.position), current: { current })
      case .read(let index):
        if let difference = read(index) { return "step \(place): \(difference)" }
      default: break
      }
    }
    return readers.indices.lazy.compactMap { [self] index in
      var run = self
      return run.read(index)
    }.first
  }

  private mutating func record(_ edit: CollectionEdit<Int>) {
    journal.record(edit)
    edit.apply(to: &list)
  }

  private mutating func read(_ index: Int) -> String? {
    let (position, former) = readers[index]
    let current = list
    let title = "reader \(index) from \(former) to \(current)"
    let edits = journal.edits(since: position, current: { current }, same: ==)
    if edits.isEmpty != (former == list) { return "\(title): \(edits)" }
    if journal.hasEdits(since: position, current: { current }, same: ==) == edits.isEmpty {
      return "\(title): hasEdits"
    }
    var mirror = former
    for edit in edits { edit.apply(to: &mirror) }
    if mirror != list { return "\(title): \(edits)" }
    let difference = CollectionDifference<Int>(edits, ofListWith: former.count)
    if former.applying(difference) != list { return "\(title): \(difference)" }
    var members: [Int: Int] = [:]
    for element in former { members[element, default: 0] += 1 }
    let isKnown = journal.forEachMemberChange(since: position) { element, count in
      members[element, default: 0] += count
      return true
    }
    if isKnown {
      for element in list { members[element, default: 0] -= 1 }
      if members.contains(where: { $0.value != 0 }) { return "\(title): members" }
    }
    readers[index] = (journal.end, list)
    journal.trim(before: readers.map(\.position).min()!)
    return nil
  }
}
