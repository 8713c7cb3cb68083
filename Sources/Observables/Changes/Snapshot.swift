/// The contents of an object, to be written back.
struct Snapshot {
  let contents: TreeContents
  /// The contained objects to write, which entries do not keep alive.
  private var kept: [AnyObject] = []

  /// Makes a snapshot of contents whose entries keep their objects alive.
  init(_ contents: TreeContents) { self.contents = contents }

  /// Makes a snapshot that keeps alive only the objects that differ from other contents.
  init(_ contents: TreeContents, over other: TreeContents) {
    self.contents = contents
    let ends = TreeContents.commonEnds(contents, other)
    for value in contents.list.dropFirst(ends.head).dropLast(ends.tail) {
      if let entry = value.entry { keep(entry) }
    }
    for key in TreeContents.differingKeys(contents, other) {
      if let entry = contents.fields[key]?.entry { keep(entry) }
    }
  }

  private mutating func keep(_ entry: TreeEntry) {
    if let object = entry.object { kept.append(object) }
  }

  private func value(_ value: TreeValue) -> Any? {
    switch value {
    case .plain(let value): value
    case .object(let entry): entry.object
    }
  }

  private static func areSame(_ value: TreeValue, _ present: Any?) -> Bool {
    guard let present else { return TreeValue.areSame(value, .nothing) }
    return switch value {
    case .object(let entry): reference(to: present).map { $0 === entry.object } ?? false
    case .plain(let value): !isTreeObject(present) && value == ChangeValue(present)
    }
  }

  /// Describes why `other` cannot be written to an object with these contents; nil if it can.
  ///
  /// The reason is a value that `other` would change and that differs from these contents, or an
  /// object of `other` that is gone.
  func misfit(of object: AnyObject, with other: Snapshot) -> String? {
    let access = TreeAccess(object)
    if let array = object as? any DynamicArray {
      if other.contents.list.contains(where: \.isGone) { return "an element is gone" }
      let isSame =
        array.valueCount == contents.list.count
        && contents.list.indices.allSatisfy {
          Snapshot.areSame(contents.list[$0], array.dynamicElement(at: $0))
        }
      return isSame ? nil : "the elements of an array have changed"
    }
    if let set = object as? any DynamicSet {
      let isSame =
        set.valueCount == contents.members.count
        && contents.members.values.allSatisfy {
          set.fit($0.candidates).map(set.dynamicContains) ?? false
        }
      return isSame ? nil : "the members of a set have changed"
    }
    for key in TreeContents.differingKeys(contents, other.contents) {
      let (old, present) = (contents.fields[key], try? access.value(key))
      if old.map({ !Snapshot.areSame($0, present ?? nil) }) ?? ((present ?? nil) != nil) {
        return "'\(key)' has a different value now"
      }
      if other.contents.fields[key]?.isGone == true { return "the object of '\(key)' is gone" }
    }
    return nil
  }

  /// Writes these contents to an object that currently has the contents of `other`.
  func write(to object: AnyObject, over other: Snapshot) {
    let access = TreeAccess(object)
    if let array = object as? any DynamicArray { return write(to: array, over: other) }
    if let set = object as? any DynamicSet {
      set.dynamicAssign(contents.members.values.compactMap { set.fit($0.candidates) })
      return
    }
    for key in TreeContents.differingKeys(contents, other.contents, by: TreeValue.areAlike) {
      try? access.store(contents.fields[key].flatMap(value), key)
    }
  }

  private func write(to array: any DynamicArray, over other: Snapshot) {
    func element(_ index: Int) -> Any? {
      value(contents.list[index]).flatMap { array.fit(($0 as? ChangeValue)?.candidates ?? [$0]) }
    }
    switch edit(of: array, over: other) {
    case .insert(let at, let new)?:
      if let element = element(new) { array.dynamicInsert([element], at: at) }
    case .remove(let at, _)?: _ = array.dynamicRemove(at: at)
    case .replace(let at, _, let new)?:
      if let element = element(new) { array.dynamicReplace(at: at, with: element) }
    case nil: array.dynamicSet(contents.list.indices.compactMap(element))
    }
  }

  /// The single edit from `other` to these contents; nil if more edits are needed.
  ///
  /// It costs watchers less than setting all elements. Values can be the same without being
  /// identical: 1 and 1.0.
  private func edit(of array: any DynamicArray, over other: Snapshot) -> EditScript.Step? {
    let (old, new) = (other.contents.list, contents.list)
    guard (old + new).allSatisfy({ $0.entry != nil }) else { return nil }
    let steps = EditScript.steps(old, new, limit: 1)
    // A setter that was called before may have written to the array.
    return steps.count == 1 && other.misfit(of: array, with: other) == nil ? steps[0] : nil
  }
}
