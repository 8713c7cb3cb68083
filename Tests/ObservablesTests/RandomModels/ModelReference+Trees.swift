/// What a copy or a history knows of a tree: the fields of each thing in it.
final class Follower {
  let root: Int
  var known: [Int: ModelReference.Fields]

  init(_ root: Int, _ known: [Int: ModelReference.Fields]) {
    (self.root, self.known) = (root, known)
  }
}

/// Transactions, changes of trees and histories (S8, X2, X3, X5).
extension ModelReference {
  /// A step of a history: the fields of the things that it has changed, before and after.
  struct Step {
    var changes: [(thing: Int, old: Fields, new: Fields)]
    /// The things that have left the tree with the step, or with its undo.
    var left: Set<Int>
    /// The things that came in the last flush.
    var came: Set<Int>
    /// The things that came within the step and that no step could bring back.
    var guests: Set<Int>
    /// The changes of things that came and left within the step, which are no changes of it.
    var away: [Int: (thing: Int, old: Fields, new: Fields)] = [:]
  }

  /// The fields of everything that can be reached from a thing; members of sets are values.
  func tree(_ root: Int) -> [Int: Fields] {
    var (found, work): ([Int: Fields], [Int]) = ([:], [root])
    while let number = work.popLast() {
      if found.updateValue(things[number].fields, forKey: number) != nil { continue }
      if things[number].kind == .set { continue }
      for case .thing(let next) in things[number].fields.values { work.append(next) }
    }
    return found
  }

  // MARK: Transactions

  /// S8: a failed transaction leaves no trace.
  func transaction(_ body: [Statement], _ fails: Bool) {
    let fields = things.map(\.fields)
    let lazies = things.flatMap(\.lazies.values).map { ($0, $0.state) }
    let states = watchers.map { ($0, $0.isDue, $0.base, $0.mostEdits) }
    for statement in body { perform(statement) }
    // Whether the values that it computed are still valid is unspecified.
    hasWatchedLazies = true
    if !fails { return sayState() }
    for (thing, fields) in zip(things, fields) { thing.fields = fields }
    for (property, state) in lazies { property.state = state }
    for (watcher, isDue, base, mostEdits) in states {
      (watcher.isDue, watcher.base) = (isDue, base)
      // An array that was written is compared as a whole.
      if watcher.mostEdits != mostEdits { watcher.mostEdits = nil }
    }
    sayState()
  }

  // MARK: Changes of trees

  /// X2: at the end of a flush, copies and the history receive the net changes of their trees.
  ///
  /// Returns the number of copies that have changed.
  func followTrees() -> Int {
    var count = 0
    for (number, copy) in copies.enumerated() {
      let now = tree(copy.root)
      if now == copy.known { continue }
      copy.known = now
      count += 1
      say("copy \(number): \(outline(of: copy.root))")
    }
    recordStep()
    return count
  }

  func outline(of root: Int) -> String {
    treeOutline(of: root) { [self] number in
      let fields = things[number].fields
      return switch things[number].kind {
      case .part:
        (["x", "y"] + Part.treeLinks).map { ($0, field(fields[.name($0)]!)) }
      case .array: (0..<fields.count).map { ("", field(fields[.slot($0)]!)) }
      case .marks:
        fields.values.compactMap(\.number).sorted().map { ("", .text("\($0)")) }
      default:
        fields.compactMap { key, value in
          if case .name(let name) = key { (name, field(value)) } else { nil }
        }.sorted { $0.0 < $1.0 }
      }
    }
  }

  private func field(_ value: Value) -> TreeField<Int> {
    switch value {
    case .thing(let number): .node(number)
    default: .text("\(value)")
    }
  }

  /// X3: in a separate turn, the tree applies the net changes of a copy, and the other copies
  /// follow.
  ///
  /// Nothing is written if a part that holds objects would leave the copy.
  func writeCopy(_ number: Int, _ writes: [(path: String, edit: Edit)]) {
    if copies.isEmpty { return }
    while flush() > 0 {}
    endStep()
    let copy = copies[number % copies.count]
    let before = things.map(\.fields)
    for (path, edit) in writes {
      if case .thing(let number) = follow(.thing(copy.root), Route(path).components) {
        things[number].fields = result(of: edit, on: things[number]) {
          $0 < 0 ? part($0) : copy.root
        }
      }
    }
    let after = tree(copy.root)
    let holdsObjects = copy.known.contains { number, _ in
      after[number] == nil && things[number].kind == .part
        && Part.treeLinks.contains { things[number].fields[.name($0)] != Value.none }
    }
    for (thing, fields) in zip(things, before) { thing.fields = fields }
    if holdsObjects { return }
    copy.known = after
    write(after.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    while flush() > 0 {}
    endStep()
  }

  /// Writes the fields of some things as one turn; the order of the writes is unspecified.
  private func write(_ writes: [(thing: Int, fields: Fields)]) {
    isStepping = true
    batch { for (thing, fields) in writes { become(thing, fields) } }
    isStepping = false
  }

  // MARK: Histories

  /// The changes since the last step, and the things that have left the tree.
  private func takeStep() -> Step {
    let (known, now) = (history!.tree.known, tree(history!.tree.root))
    let came = Set(now.keys.filter { known[$0] == nil })
    var step = Step(
      changes: [], left: Set(known.keys.filter { now[$0] == nil }), came: came,
      guests: came.filter { timesLeft[$0, default: 0] == 0 })
    for (number, old) in known where old != things[number].fields {
      step.changes.append((number, old, things[number].fields))
    }
    for (number, fields) in now where known[number] == nil {
      if let old = outside.removeValue(forKey: number), old != fields {
        step.changes.append((number, old, fields))
      }
    }
    for number in step.left { outside[number] = things[number].fields }
    history!.tree.known = now
    return step
  }

  /// Counts the steps with which things have left, and forgets things that no step can bring back.
  private func note(_ left: some Sequence<Int>, with step: Int) {
    for number in left {
      timesLeft[number, default: 0] += step
      if timesLeft[number]! == 0 { outside[number] = nil }
    }
  }

  private func recordStep() {
    guard history != nil else { return }
    let step = takeStep()
    if step.changes.isEmpty { return note(step.left, with: 0) }
    note(step.left, with: 1)
    for step in history!.undone { note(step.left, with: -1) }
    history!.undone = []
    guard isStepOpen, var last = history!.done.popLast() else {
      history!.done.append(step)
      isStepOpen = true
      return
    }
    // A turn is one step, even if it flushes several times.
    last.guests.formUnion(step.guests)
    for number in step.came {
      if let change = last.away.removeValue(forKey: number) { last.changes.append(change) }
    }
    note(last.left.intersection(step.left), with: -1)
    last.left.formUnion(step.left)
    for (index, change) in last.changes.enumerated() where step.came.contains(change.thing) {
      last.changes[index].new = things[change.thing].fields
    }
    for change in step.changes {
      if let index = last.changes.firstIndex(where: { $0.thing == change.thing }) {
        last.changes[index].new = change.new
      } else {
        last.changes.append(change)
      }
    }
    last.changes.removeAll { $0.old == $0.new }
    for number in step.left.intersection(last.guests) {
      last.away[number] = last.changes.first { $0.thing == number }
      last.changes.removeAll { $0.thing == number }
    }
    isStepOpen = !last.changes.isEmpty
    if isStepOpen { history!.done.append(last) } else { note(last.left, with: -1) }
  }

  /// Ends the step of the turn: later writes to things outside of the tree belong to no step.
  func endStep() {
    closeStep()
    for number in outside.keys { outside[number] = things[number].fields }
  }

  /// Ends the last step, which cannot bring back guests that have left.
  private func closeStep() {
    isStepOpen = false
    guard var last = history?.done.popLast() else { return }
    let gone = last.guests.intersection(last.left).filter { history!.tree.known[$0] == nil }
    note(gone, with: -1)
    last.left.subtract(gone)
    last.guests = []
    history!.done.append(last)
  }

  /// X5: undoes or redoes a step of the history.
  func step(back: Bool) {
    recordStep()
    closeStep()
    guard var step = back ? history?.done.popLast() : history?.undone.popLast() else {
      return say("no step")
    }
    var writes: [(thing: Int, fields: Fields)] = []
    for (number, old, new) in step.changes {
      let (from, to) = back ? (new, old) : (old, new)
      let present = things[number].fields
      let keys = Set(from.keys).union(to.keys).filter { from[$0] != to[$0] }
      let isKeyed = !things[number].isList
      if isKeyed ? keys.contains(where: { present[$0] != from[$0] }) : present != from {
        note(step.left, with: -1)
        return say("misfit")
      }
      var fields = present
      for key in keys { fields[key] = to[key] }
      writes.append((number, fields))
    }
    write(writes)
    let left = takeStep().left
    note(left.subtracting(step.left), with: 1)
    step.left.formUnion(left)
    if back { history!.undone.append(step) } else { history!.done.append(step) }
    say("step")
  }
}

/// A value in a tree, whose objects are of type `Node`.
enum TreeField<Node> { case text(String), node(Node) }

/// A tree as text; a repeated object appears as the number of its first occurrence.
func treeOutline<Node: Hashable>(
  of root: Node, _ fields: (Node) -> [(name: String, value: TreeField<Node>)]
) -> String {
  var numbers: [Node: Int] = [:]
  func text(_ node: Node) -> String {
    if let number = numbers[node] { return "#\(number)" }
    numbers[node] = numbers.count
    let parts = fields(node).map { name, value in
      switch value {
      case .text(let text): "\(name) \(text)"
      case .node(let node): "\(name) \(text(node))"
      }
    }
    return "(" + parts.joined(separator: " ") + ")"
  }
  return text(root)
}
