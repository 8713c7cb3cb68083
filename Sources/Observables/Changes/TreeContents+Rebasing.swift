extension TreeContents {
  /// These contents without the writes between `early` and `late`: if a value is still the same as
  /// in `late`, it becomes the value of `early`.
  func rebased(undoing late: TreeContents, to early: TreeContents) -> TreeContents {
    var (fields, members) = (fields, members)
    for key in TreeContents.differingKeys(late, early)
    where TreeValue.areSame(fields[key], late.fields[key]) {
      fields[key] = early.fields[key]
    }
    for (member, value) in early.members where late.members[member] == nil {
      members[member] = value
    }
    for member in late.members.keys where early.members[member] == nil {
      members[member] = nil
    }
    return TreeContents(
      shape: shape, list: rebasedList(undoing: late.list, to: early.list), fields: fields,
      members: members, isTable: isTable, isSparse: isSparse)
  }

  /// The list without the edits between `early` and `late`.
  ///
  /// The edits from this list to `early` undo everything written since `early`. Elements that were
  /// inserted after `late` stay, however, and elements that were removed after `late` do not come
  /// back.
  private func rebasedList(undoing late: [TreeValue], to early: [TreeValue]) -> [TreeValue] {
    var (inserted, removed): ([TreeValue], [TreeValue]) = ([], [])
    for step in EditScript.steps(late, list) {
      switch step {
      case .insert(_, let new): inserted.append(list[new])
      case .remove(_, let old): removed.append(late[old])
      case .replace(_, let old, let new):
        removed.append(late[old])
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
    for step in EditScript.steps(list, early) {
      switch step {
      case .insert(let at, let new):
        added[at - shift, default: []].append(early[new])
        shift += 1
      case .remove(_, let old):
        former[old] = .some(nil)
        shift -= 1
      case .replace(_, let old, let new): former[old] = early[new]
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
        // The other code has replaced the element that was inserted here.
        removed.removeLast()
      } else {
        result.append(replaced)
      }
    }
    return result
  }
}

extension EditScript {
  static func steps(
    _ old: [TreeValue], _ new: [TreeValue], limit: Int = EditScript.limit
  ) -> [Step] {
    EditScript(from: old.count, to: new.count, limit: limit) {
      TreeValue.areSame(old[$0], new[$1])
    }.steps
  }
}
