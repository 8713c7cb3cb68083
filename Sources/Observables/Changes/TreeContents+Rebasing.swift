extension TreeContents {
  /// These contents without what was written between two others: where they are still as in `from`,
  /// they get what is in `to`.
  func rebased(from: TreeContents, to: TreeContents) -> TreeContents {
    var result = self
    for key in Set(from.fields.keys).union(to.fields.keys) {
      let (late, early) = (from.fields[key], to.fields[key])
      if !TreeValue.areSame(late, early), TreeValue.areSame(fields[key], late) {
        result.fields[key] = early
      }
    }
    for (member, value) in to.members where from.members[member] == nil {
      result.members[member] = value
    }
    for member in from.members.keys where to.members[member] == nil {
      result.members[member] = nil
    }
    result.list = rebasedList(from: from.list, to: to.list)
    return result
  }

  private func rebasedList(from: [TreeValue], to: [TreeValue]) -> [TreeValue] {
    // What others have put in and taken out since.
    var (inserted, removed): ([TreeValue], [TreeValue]) = ([], [])
    for step in EditScript.steps(from, list) {
      switch step {
      case .insert(_, let new): inserted.append(list[new])
      case .remove(_, let old): removed.append(from[old])
      case .replace(_, let old, let new):
        removed.append(from[old])
        inserted.append(list[new])
      }
    }
    func take(_ value: TreeValue, _ values: inout [TreeValue]) -> Bool {
      guard let index = values.firstIndex(where: { TreeValue.areSame($0, value) }) else {
        return false
      }
      values.remove(at: index)
      return true
    }
    var added: [Int: [TreeValue]] = [:]
    var former: [Int: TreeValue?] = [:]
    var shift = 0
    for step in EditScript.steps(list, to) {
      switch step {
      case .insert(let at, let new):
        added[at - shift, default: []].append(to[new])
        shift += 1
      case .remove(_, let old):
        former[old] = .some(nil)
        shift -= 1
      case .replace(_, let old, let new): former[old] = to[new]
      }
    }
    var result: [TreeValue] = []
    for index in 0...list.count {
      result += (added[index] ?? []).filter { !take($0, &removed) }
      if index == list.count { break }
      guard let replaced = former[index] else {
        result.append(list[index])
        continue
      }
      let stays = take(list[index], &inserted)
      if stays { result.append(list[index]) }
      guard let replaced, !take(replaced, &removed) else { continue }
      if stays, !removed.isEmpty {
        // The others have replaced what was put here.
        removed.removeLast()
      } else {
        result.append(replaced)
      }
    }
    return result
  }
}

extension EditScript {
  fileprivate static func steps(_ old: [TreeValue], _ new: [TreeValue]) -> [Step] {
    EditScript(from: old.count, to: new.count) { TreeValue.areSame(old[$0], new[$1]) }.steps
  }
}
