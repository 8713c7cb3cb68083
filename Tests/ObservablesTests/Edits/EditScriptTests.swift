import TestSupport
import Testing

@testable import Observables

/// Shortest scripts from one list to another (C10).
struct EditScriptTests {
  private func script(_ old: String, _ new: String) -> [EditScript.Step] {
    script(Array(old), Array(new))
  }

  private func script<Element: Equatable>(
    _ old: [Element], _ new: [Element], limit: Int = EditScript.limit
  ) -> [EditScript.Step] {
    EditScript(from: old.count, to: new.count, limit: limit) { old[$0] == new[$1] }.steps
  }

  // S1: long lists.
  @Test func `a stopped script compares nothing more`() {
    var comparisons = 0
    let script = EditScript(
      from: 100_000, to: 100_000,
      same: { old, new in
        comparisons += 1
        return old == new
      },
      unless: { comparisons == 10 })
    #expect(script.steps.isEmpty)
    #expect(comparisons == 10)
  }

  // C10
  @Test func `a script is as short as possible`() {
    #expect(script("abc", "abc") == [])
    #expect(script("", "ab") == [.insert(at: 0, new: 0), .insert(at: 1, new: 1)])
    #expect(script("abc", "axc") == [.replace(at: 1, old: 1, new: 1)])
    #expect(script("abcdef", "bcdef") == [.remove(at: 0, old: 0)])
    #expect(
      script("kitten", "sitting") == [
        .replace(at: 0, old: 0, new: 0), .replace(at: 4, old: 4, new: 4), .insert(at: 6, new: 6),
      ])
  }

  // C10
  @Test func `among equally short scripts the lowest positions win`() {
    #expect(script("aa", "a") == [.remove(at: 0, old: 0)])
    #expect(script("aaa", "aaaa") == [.insert(at: 0, new: 0)])
    #expect(script("xaab", "xab") == [.remove(at: 1, old: 1)])
  }

  // C10
  @Test(arguments: 0..<20)
  func `random scripts are shortest, and each edit comes as early as possible`(block: Int) {
    let count = Size.of(200, light: 20)
    for seed in block * count..<(block + 1) * count {
      var generator = SeededGenerator(seed: seed)
      let (old, new) = (list(using: &generator), list(using: &generator))
      let steps = script(old, new)
      #expect(steps == Reference(old, new).steps(), "seed \(seed): \(old) to \(new)")
      #expect(applying(steps, to: old, new) == new, "seed \(seed): \(old) to \(new)")
    }
  }

  // C10
  @Test func `beyond the limit different elements are replaced in place`() {
    #expect(
      script(Array("abcd"), Array("badc"), limit: 1)
        == (0..<4).map { .replace(at: $0, old: $0, new: $0) })
    let steps = script(Array(0..<1000), Array((0..<990).reversed()))
    #expect(steps.count == 1000)
    #expect(steps.last == .remove(at: 990, old: 990))
  }

  // C10
  @Test func `beyond the limit the common beginning and end stay`() {
    let old = Array(0..<2000)
    let longer = Array(0..<1000) + Array(5000..<5400) + Array(1000..<2000)
    #expect(script(old, longer) == (1000..<1400).map { .insert(at: $0, new: $0) })
    #expect(
      script(longer, old) == (1000..<1400).reversed().map { .remove(at: $0, old: $0) })
  }

  // C10
  @Test func `few edits of a long list read each element a few times`() {
    let old = Array(0..<100_000)
    var new = old
    new.remove(at: 70_000)
    new.insert(-1, at: 20_000)
    new[50_000] = -2
    var comparisons = 0
    let steps = EditScript(from: old.count, to: new.count) {
      comparisons += 1
      return old[$0] == new[$1]
    }.steps
    #expect(
      steps == [
        .insert(at: 20_000, new: 20_000), .replace(at: 50_000, old: 49_999, new: 50_000),
        .remove(at: 70_001, old: 70_000),
      ])
    #expect(comparisons < 110_000)
  }

  // C10
  @Test(arguments: 0..<10)
  func `numbers have the same script as the elements that they stand for`(block: Int) {
    let count = Size.of(200, light: 20)
    for seed in block * count..<(block + 1) * count {
      var generator = SeededGenerator(seed: seed)
      let values = Int.random(in: 1..<40, using: &generator)
      func list() -> [Int] {
        (0..<Int.random(in: 0..<20, using: &generator)).map { _ in
          Int.random(in: 0..<values, using: &generator)
        }
      }
      let (old, new, limit) = (list(), list(), Int.random(in: 0..<12, using: &generator))
      #expect(
        EditScript(from: old, to: new, limit: limit).steps == script(old, new, limit: limit),
        "seed \(seed): \(old) to \(new), limit \(limit)")
    }
  }

  // C10
  @Test func `no script is searched for if too few elements keep their order`() {
    var checks = 0
    let script = EditScript(from: Array(0..<1000), to: (0..<1000).reversed()) {
      checks += 1
      return false
    }
    #expect(script.steps.count == 1000)
    #expect(checks < 2000)
  }

  private func list(using generator: inout SeededGenerator) -> [Int] {
    (0..<Int.random(in: 0..<9, using: &generator)).map { _ in
      Int.random(in: 0..<3, using: &generator)
    }
  }

  private func applying(_ steps: [EditScript.Step], to old: [Int], _ new: [Int]) -> [Int]? {
    var list = old
    for step in steps {
      switch step {
      case .insert(let position, let index): list.insert(new[index], at: position)
      case .remove(let position, let index):
        if list.remove(at: position) != old[index] { return nil }
      case .replace(let position, let index, let other):
        if list[position] != old[index] { return nil }
        list[position] = new[other]
      }
    }
    return list
  }
}

/// A shortest script by the full table of distances.
private struct Reference {
  private let (old, new): ([Int], [Int])
  /// The distances from each pair of positions to the ends.
  private var distances: [[Int]]

  init(_ old: [Int], _ new: [Int]) {
    (self.old, self.new) = (old, new)
    distances = Array(repeating: Array(repeating: 0, count: new.count + 1), count: old.count + 1)
    for i in (0...old.count).reversed() {
      for j in (0...new.count).reversed() where i < old.count || j < new.count {
        var best = Int.max
        if i < old.count { best = min(best, distances[i + 1][j] + 1) }
        if j < new.count { best = min(best, distances[i][j + 1] + 1) }
        if i < old.count, j < new.count {
          best = min(best, distances[i + 1][j + 1] + (old[i] == new[j] ? 0 : 1))
        }
        distances[i][j] = best
      }
    }
  }

  /// Each edit as early as possible; at one position replacements come before insertions, and
  /// insertions before removals.
  func steps() -> [EditScript.Step] {
    var (i, j) = (0, 0)
    var steps: [EditScript.Step] = []
    while i < old.count || j < new.count {
      let left = distances[i][j] - 1
      let (hasOld, hasNew) = (i < old.count, j < new.count)
      if hasOld, hasNew, distances[i + 1][j + 1] == left {
        steps.append(.replace(at: j, old: i, new: j))
        (i, j) = (i + 1, j + 1)
      } else if hasNew, distances[i][j + 1] == left {
        steps.append(.insert(at: j, new: j))
        j += 1
      } else if hasOld, distances[i + 1][j] == left {
        steps.append(.remove(at: j, old: i))
        i += 1
      } else {
        (i, j) = (i + 1, j + 1)
      }
    }
    return steps
  }
}
