import Testing

@testable import Observables

/// C10: edits turn the former list into the present one.
@Suite struct JournalTests {
  private func script(_ old: String, _ new: String) -> [EditScript.Step] {
    let (old, new) = (Array(old), Array(new))
    return EditScript(from: old.count, to: new.count) { old[$0] == new[$1] }.steps
  }

  // C10
  @Test func `a script is as short as can be`() {
    #expect(script("abc", "abc") == [])
    #expect(script("", "ab") == [.insert(at: 0, new: 0), .insert(at: 1, new: 1)])
    #expect(script("abc", "axc") == [.replace(at: 1, old: 1, new: 1)])
    #expect(script("kitten", "sitting").count == 3)
    #expect(script("abcdef", "bcdef") == [.remove(at: 0, old: 0)])
  }

  @Test func `of equally short scripts the one with the lowest positions is taken`() {
    #expect(script("aa", "a") == [.remove(at: 0, old: 0)])
    #expect(script("aaa", "aaaa") == [.insert(at: 0, new: 0)])
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `random scripts are right and no longer than the edit distance`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let old = (0..<random.next() % 12).map { _ in random.next() % 4 }
    let new = (0..<random.next() % 12).map { _ in random.next() % 4 }
    let steps = EditScript(from: old.count, to: new.count) { old[$0] == new[$1] }.steps
    var list = old
    for step in steps {
      switch step {
      case .insert(let position, let index): list.insert(new[index], at: position)
      case .remove(let position, let index):
        #expect(list[position] == old[index])
        list.remove(at: position)
      case .replace(let position, let index, let other):
        #expect(list[position] == old[index])
        list[position] = new[other]
      }
    }
    #expect(list == new)
    var row = Array(0...new.count)
    for i in old.indices {
      var next = [i + 1]
      for j in new.indices {
        next.append(
          min(row[j] + (old[i] == new[j] ? 0 : 1), row[j + 1] + 1, next[j] + 1))
      }
      row = next
    }
    #expect(steps.count == row[new.count])
  }

  @Test func `beyond the limit positions are replaced`() {
    let (old, new) = (Array(0..<1000), Array((0..<990).reversed()))
    let steps = EditScript(from: old.count, to: new.count) { old[$0] == new[$1] }.steps
    #expect(steps.count <= 1000)
    #expect(steps.last == .remove(at: 990, old: 990))
  }

  @Test func `what comes back within a turn is no edit`() {
    var journal = Journal<Int>()
    journal.record(.insert(7, at: 0))
    journal.record(.remove(7, at: 0))
    #expect(!journal.hasEdits(since: 0, current: { [1, 2] }, same: ==))
    #expect(journal.edits(since: 0, current: { [1, 2] }, same: ==) == [])
  }

  @Test func `after an unread change of the whole nothing more is kept`() {
    var journal = Journal<Int>()
    for _ in 0..<1000 { journal.rearranged(from: [3, 2, 1], isPermutation: true) }
    journal.record(.insert(4, at: 3))
    #expect(journal.count == 1)
    #expect(
      journal.edits(since: 0, current: { [3, 2, 1, 4] }, same: ==) == [.insert(4, at: 3)])
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func `several readers of a random history each see it right`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var journal = Journal<Int>()
    var list = (0..<Int(random.next() % 6)).map { $0 }
    var readers = (0..<3).map { _ in (cursor: journal.end, list: list) }
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    for step in 0..<40 {
      switch below(10) {
      case 0...2:
        let edit = CollectionEdit.insert(below(5), at: below(list.count + 1))
        edit.apply(to: &list)
        journal.record(edit)
      case 3 where !list.isEmpty:
        let position = below(list.count)
        let edit = CollectionEdit.remove(list[position], at: position)
        edit.apply(to: &list)
        journal.record(edit)
      case 5 where !list.isEmpty:
        let position = below(list.count)
        let edit = CollectionEdit.replace(list[position], with: below(5), at: position)
        edit.apply(to: &list)
        journal.record(edit)
      case 6 where !list.isEmpty:
        let (from, position) = (below(list.count), below(list.count))
        let edit = CollectionEdit.move(list[from], from: from, at: position)
        edit.apply(to: &list)
        journal.record(edit)
      case 7:
        let old = list
        list.sort()
        journal.rearranged(from: old, isPermutation: true)
      case 8 where step % 3 == 0:
        let old = list
        list = (0..<below(8)).map { _ in below(5) }
        journal.rearranged(from: old, isPermutation: false)
      default:
        let index = below(readers.count)
        let (since, current) = (readers[index].cursor, list)
        let edits = journal.edits(since: since, current: { current }, same: ==)
        #expect(
          journal.hasEdits(since: since, current: { current }, same: ==) == !edits.isEmpty)
        #expect(edits.isEmpty == (readers[index].list == list))
        var mirror = readers[index].list
        let difference = CollectionDifference<Int>(edits, ofListWith: mirror.count)
        #expect(mirror.applying(difference) == list)
        var members: [Int: Int] = [:]
        for element in mirror { members[element, default: 0] += 1 }
        if journal.forEachMemberChange(since: since, { members[$0, default: 0] += $1 }) {
          for element in list { members[element, default: 0] -= 1 }
          #expect(members.values.allSatisfy { $0 == 0 })
        }
        for edit in edits { edit.apply(to: &mirror) }
        #expect(mirror == list)
        readers[index] = (journal.end, list)
        journal.trim(before: readers.map(\.cursor).min()!)
      }
    }
  }

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

  @Test func `a key that has its former value again is no edit`() {
    var journal = KeyedJournal<String, Int>()
    journal.record("a", from: 1, to: 2)
    journal.record("b", from: nil, to: 3)
    journal.record("a", from: 2, to: 1)
    #expect(
      journal.edits(since: 0, same: ==) == [KeyedEdit(key: "b", old: nil, new: 3)])
    journal.record("b", from: 3, to: nil)
    #expect(!journal.hasEdits(since: 0, same: ==))
  }
}
