/// The contents of an object, with the objects in it, to be written back.
struct Snapshot {
  private let contents: TreeContents
  /// The objects, which entries do not keep.
  private let kept: [AnyObject]

  init(_ contents: TreeContents) {
    self.contents = contents
    var kept: [AnyObject] = []
    contents.forEachObject { _, entry in if let object = entry.object { kept.append(object) } }
    self.kept = kept
  }

  private func value(_ value: TreeValue) -> Any? {
    switch value {
    case .plain(let value): value
    case .object(let entry): entry.object
    }
  }

  private static func areSame(_ value: TreeValue, _ present: Any?) -> Bool {
    guard let present else { return false }
    return switch value {
    case .object(let entry): reference(to: present).map { $0 === entry.object } ?? false
    case .plain(let value): !isTreeObject(present) && value == ChangeValue(present)
    }
  }

  /// What is not as these contents say, of that which others would change; nil where all is.
  func misfit(of object: AnyObject, with other: Snapshot) -> String? {
    let access = TreeAccess(object)
    if let array = object as? any DynamicArray {
      let isSame =
        array.valueCount == contents.list.count
        && contents.list.indices.allSatisfy {
          Snapshot.areSame(contents.list[$0], array.dynamicElement(at: $0))
        }
      return isSame ? nil : "the elements of an array are others now"
    }
    if let set = object as? any DynamicSet {
      let isSame =
        set.valueCount == contents.members.count
        && contents.members.values.allSatisfy {
          set.fit($0.candidates).map(set.dynamicContains) ?? false
        }
      return isSame ? nil : "the members of a set are others now"
    }
    for key in TreeContents.differingKeys(contents, other.contents) {
      let (old, present) = (contents.fields[key], try? access.value(key))
      if old.map({ !Snapshot.areSame($0, present ?? nil) }) ?? ((present ?? nil) != nil) {
        return "'\(key)' is another one now"
      }
    }
    return nil
  }

  /// Writes these contents to an object that has those of `other`.
  func write(to object: AnyObject, over other: Snapshot) {
    let access = TreeAccess(object)
    if let array = object as? any DynamicArray { return write(to: array, over: other) }
    if let set = object as? any DynamicSet {
      set.dynamicAssign(contents.members.values.compactMap { set.fit($0.candidates) })
      return
    }
    for key in TreeContents.differingKeys(contents, other.contents) {
      try? access.store(contents.fields[key].flatMap(value), key)
    }
  }

  /// Makes one edit, if it takes no more, or sets all elements.
  private func write(to array: any DynamicArray, over other: Snapshot) {
    func element(_ index: Int) -> Any? {
      value(contents.list[index]).flatMap { array.fit(($0 as? ChangeValue)?.candidates ?? [$0]) }
    }
    let steps = EditScript.steps(other.contents.list, contents.list, limit: 1)
    guard steps.count == 1 else {
      if !steps.isEmpty { array.dynamicSet(contents.list.indices.compactMap(element)) }
      return
    }
    switch steps[0] {
    case .insert(let at, let new):
      if let element = element(new) { array.dynamicInsert([element], at: at) }
    case .remove(let at, _): _ = array.dynamicRemove(at: at)
    case .replace(let at, _, let new):
      if let element = element(new) { array.dynamicReplace(at: at, with: element) }
    }
  }
}
