import TestSupport
import Testing

@testable import Observables

/// C10 for dictionaries and sets.
struct KeyedJournalTests {
  // C10
  @Test func `a key that returns to its former value is no edit`() {
    var journal = KeyedJournal<String, Int>()
    journal.record("a", from: 1, to: 2)
    journal.record("b", from: nil, to: 3)
    journal.record("a", from: 2, to: 1)
    #expect(
      journal.edits(since: 0, same: ==) == [KeyedEdit(key: "b", old: nil, new: 3)])
    journal.record("b", from: 3, to: nil)
    #expect(!journal.hasEdits(since: 0, same: ==))
  }

  // C10
  @Test func `keys that come and go leave nothing behind for a slow reader`() {
    var journal = KeyedJournal<Int, Int>()
    journal.record(-1, from: nil, to: 0)
    for key in 0..<10_000 {
      journal.record(key, from: nil, to: 1)
      journal.record(key, from: 1, to: nil)
      journal.compact(for: [0, journal.end], keyCount: 1)
    }
    #expect(journal.count < 1100)
    #expect(journal.edits(since: 0, same: ==) == [KeyedEdit(key: -1, old: nil, new: 0)])
  }

  // C10
  @Test(arguments: 0..<20)
  func `a random history is right for each of its readers`(block: Int) {
    let count = Size.of(200, light: 20)
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
  case write(Int, Int?)
  case read(Int)
  case compact

  static func random(using generator: inout SeededGenerator) -> Step {
    func below(_ limit: Int) -> Int { .random(in: 0..<limit, using: &generator) }
    return switch below(16) {
    case 0..<8: .write(below(5), below(3))
    case 8..<12: .write(below(5), nil)
    case 12: .compact
    default: .read(below(3))
    }
  }
}

/// A dictionary with a journal of few entries, and readers that are compared with it.
private struct Run {
  private var journal = KeyedJournal<Int, Int>(minimalLimit: 0)
  private var values: [Int: Int] = [:]
  private var readers = Array(repeating: (position: 0, values: [Int: Int]()), count: 3)

  static func difference(_ program: [Step]) -> String? {
    var run = Run()
    return run.difference(program)
  }

  private mutating func difference(_ program: [Step]) -> String? {
    for (place, step) in program.enumerated() {
      switch step {
      case .write(let key, let value):
        if values[key] == value { continue }
        journal.record(key, from: values[key], to: value)
        values[key] = value
      case .compact:
        journal.compact(for: readers.map(\.position), keyCount: 0)
      case .read(let index):
        if let difference = read(index) { return "step \(place): \(difference)" }
      }
    }
    return nil
  }

  private mutating func read(_ index: Int) -> String? {
    let (position, former) = readers[index]
    let title = "reader \(index) from \(former) to \(values)"
    let edits = journal.edits(since: position, same: ==)
    if journal.hasEdits(since: position, same: ==) == edits.isEmpty { return "\(title): hasEdits" }
    var mirror = former
    for edit in edits {
      if mirror[edit.key] != edit.old || edit.old == edit.new { return "\(title): \(edits)" }
      mirror[edit.key] = edit.new
    }
    if mirror != values || Set(edits.map(\.key)).count != edits.count {
      return "\(title): \(edits)"
    }
    var members: [Int: Int] = [:]
    for (_, value) in former { members[value, default: 0] += 1 }
    journal.forEachMemberChange(since: position) { _, value, count in
      members[value, default: 0] += count
      return true
    }
    for (_, value) in values { members[value, default: 0] -= 1 }
    if members.contains(where: { $0.value != 0 }) { return "\(title): members" }
    readers[index] = (journal.end, values)
    journal.trim(before: readers.map(\.position).min()!)
    return nil
  }
}
