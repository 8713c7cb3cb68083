import Observables
import TestSupport

/// One step of a random program over a dictionary and a set.
enum KeyedStep {
  case assign(String, Int?)
  case merge([String: Int])
  case clear
  case add(Int), removeMember(Int), unite([Int]), intersect([Int]), subtract([Int])
  case toggle([Int])
  case flush

  static let keys = ["a", "b", "count", "d"]

  static func random(using generator: inout SeededGenerator) -> KeyedStep {
    func number(_ limit: Int) -> Int { .random(in: 0..<limit, using: &generator) }
    func some() -> [Int] { (0..<number(5)).map { _ in number(6) } }
    switch number(20) {
    case 0..<5:
      return .assign(
        keys.randomElement(using: &generator)!, number(4) > 0 ? number(3) : nil)
    case 5: return .merge(["a": number(3), "d": number(3)])
    case 6: return .clear
    case 7..<10: return .add(number(6))
    case 10..<12: return .removeMember(number(6))
    case 12: return .unite(some())
    case 13: return .intersect(some())
    case 14: return .subtract(some())
    case 15: return .toggle(some())
    default: return .flush
    }
  }
}

/// One execution, on observable collections and on collections of the standard library.
final class KeyedRun {
  private let loop = Loop()
  private let dictionary: ObservableDictionary<String, Int> = ["a": 1]
  private let set: ObservableSet<Int> = [1, 2]
  private var entries = ["a": 1]
  private var members: Set<Int> = [1, 2]
  private var knownEntries = ["a": 1]
  private var knownMembers: Set<Int> = [1, 2]
  /// The same contents, as built from edits.
  private var editedEntries = ["a": 1]
  private var editedMembers: Set<Int> = [1, 2]
  private var calls: Set<String> = []
  private var must: Set<String> = []
  private var fault: String?

  static func difference(_ program: [KeyedStep]) -> String? {
    let run = KeyedRun()
    do { try run.watch() } catch { return "\(error)" }
    for step in program + [.flush] {
      run.perform(step)
      if let fault = run.fault { return "\(fault) by \(step)" }
    }
    return nil
  }

  private func fail(_ message: String) { fault = fault ?? message }

  private func watch() throws {
    func call(_ name: String) -> () -> Void { { [unowned self] in calls.insert(name) } }
    let everyEntry = call("every entry")
    let everyMember = call("every member")
    try dictionary.observe("*", in: loop) { _ in everyEntry() }
    try dictionary.observe("count", in: loop) { [unowned self] _ in calls.insert("size") }
    try set.observe("*", in: loop) { _ in everyMember() }
    try set.observe("count", in: loop) { [unowned self] _ in calls.insert("members") }
    for key in KeyedStep.keys where key != "count" {
      let called = call(key)
      try dictionary.observe(Path(.key(key)), in: loop) { _ in called() }
    }
    for member in 0..<6 {
      let called = call("&\(member)")
      try set.observe(Path(set.key(of: member)), in: loop) { _ in called() }
    }
    try dictionary.observeEdits(in: loop) { [unowned self] _, edits in
      calls.insert("edited entries")
      for edit in edits {
        if editedEntries[edit.key] != edit.old { fail("\(edit) does not fit \(editedEntries)") }
        editedEntries[edit.key] = edit.new
      }
    }
    try set.observeEdits(in: loop) { [unowned self] _, edits in
      calls.insert("edited members")
      for edit in edits {
        if editedMembers.contains(edit.key) != (edit.old != nil) {
          fail("\(edit) does not fit \(editedMembers)")
        }
        if edit.new == nil {
          editedMembers.remove(edit.key)
        } else {
          editedMembers.insert(edit.key)
        }
      }
    }
  }

  private func perform(_ step: KeyedStep) {
    let (oldEntries, oldMembers) = (entries, members)
    switch step {
    case .assign(let key, let value):
      dictionary[key] = value
      entries[key] = value
    case .merge(let other):
      dictionary.merge(other) { $1 }
      entries.merge(other) { $1 }
    case .clear:
      dictionary.removeAll()
      entries.removeAll()
    case .add(let member):
      if set.insert(member).inserted != members.insert(member).inserted { fail("inserted") }
    case .removeMember(let member):
      if set.remove(member) != members.remove(member) { fail("removed") }
    case .unite(let others):
      set.formUnion(others)
      members.formUnion(others)
    case .intersect(let others):
      set.formIntersection(others)
      members.formIntersection(others)
    case .subtract(let others):
      set.subtract(others)
      members.subtract(others)
    case .toggle(let others):
      set.formSymmetricDifference(Set(others))
      members.formSymmetricDifference(Set(others))
    case .flush:
      flush()
      return
    }
    if Dictionary(uniqueKeysWithValues: dictionary.map { ($0.key, $0.value) }) != entries {
      fail("the dictionary is \(dictionary), not \(entries)")
    }
    if Set(set) != members || set.count != members.count {
      fail("the set is \(set), not \(members)")
    }
    for key in KeyedStep.keys where key != "count" && entries[key] != oldEntries[key] {
      must.insert(key)
    }
    if entries != oldEntries { must.insert("every entry") }
    if members != oldMembers { must.insert("every member") }
    for member in members.symmetricDifference(oldMembers) { must.insert("&\(member)") }
  }

  private func flush() {
    if entries.count != knownEntries.count { must.insert("size") }
    if members.count != knownMembers.count { must.insert("members") }
    if entries != knownEntries { must.insert("edited entries") }
    if members != knownMembers { must.insert("edited members") }
    calls = []
    loop.flush()
    if calls != must { fail("called \(calls.sorted()), not \(must.sorted())") }
    if editedEntries != entries { fail("edits make \(editedEntries), not \(entries)") }
    if editedMembers != members { fail("edits make \(editedMembers), not \(members)") }
    must = []
    (knownEntries, knownMembers) = (entries, members)
  }
}
