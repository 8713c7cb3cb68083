/// Follows an object and everything below it, for a tool that copies the tree elsewhere.
///
/// Objects are named by their entries. Tables of scripts are values.
package final class TreeFollower {
  package typealias Item = (entry: TreeEntry, contents: TreeContents)

  /// What was written since the last call of `take`.
  package struct Written {
    package var came: [Item] = []
    package var changed: [(entry: TreeEntry, old: TreeContents, new: TreeContents)] = []
    package var left: [TreeEntry] = []
  }

  private let engine: Engine
  private var watcher: Watcher?

  /// Calls `didWrite` in each flush with writes.
  ///
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  package init(
    _ model: some KeyPathObservable, in loop: Loop?, name: String,
    didWrite: @escaping () -> Void
  ) throws {
    engine = try model.engine(of: loop)
    watcher = try model.followTree(in: loop, name: name, didWrite: didWrite)
  }

  deinit { stop() }

  package func stop() {
    watcher?.stop()
    watcher = nil
  }

  /// All objects with their contents, the root first.
  package var all: [Item] {
    watcher?.shadow?.items ?? []
  }

  package func take() -> Written? {
    guard let shadow = watcher?.shadow, let taken = shadow.take() else { return nil }
    var written = Written()
    written.left = Array(taken.before.only)
    for entry in taken.after.only { written.came.append((entry, taken.after.contents(entry))) }
    for entry in taken.entries
    where !taken.before.only.contains(entry) && !taken.after.only.contains(entry) {
      let (old, new) = (taken.before.contents(entry), taken.after.contents(entry))
      if !TreeContents.areSame(old, new) { written.changed.append((entry, old, new)) }
    }
    shadow.advance(to: taken)
    return written
  }

  /// The entry of an object of the tree.
  package func entry(of object: AnyObject) -> TreeEntry? { watcher?.shadow?.entry(of: object) }

  /// Makes several writes as one operation, of an origin if one is given.
  package func batch(_ origin: RemoteOrigin? = nil, _ body: () -> Void) {
    engine.immediates.beginBatch()
    defer { engine.immediates.endBatch() }
    if let origin { engine.origins.begin(origin) }
    body()
    if origin != nil { engine.origins.end(isMade: true) }
  }
}

/// Writes to an object of a tree, whatever its class.
///
/// Each throws a sentence for a value that the object cannot have.
package struct TreeWriting {
  private let access: TreeAccess

  package init(_ object: AnyObject) { access = TreeAccess(object) }

  /// Whether a value is an object that changes go into.
  package static func isObject(_ value: Any) -> Bool { isTreeObject(value) }

  /// A reason why a value cannot be stored.
  package struct Refusal: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  private func checked<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let misfit as ChangePlan.Misfit {
      throw Refusal(description: misfit.reason)
    }
  }

  package func store(_ value: Any?, under key: DeepChange.Key) throws {
    try checked { try access.store(value, key) }
  }

  /// The object that data represents under a key, or the data itself if a value is declared there.
  package func made(of data: ChangeValue, under key: DeepChange.Key) throws -> Any {
    try checked { try access.made(of: data, key, isObject: true) }
  }

  package func value(_ key: DeepChange.Key) -> Any? { (try? access.value(key)) ?? nil }

  /// The keys under which the object has values.
  package var keys: [DeepChange.Key] {
    switch access.object {
    case let dictionary as any DynamicDictionary:
      dictionary.dynamicEntries.compactMap { $0.value == nil ? nil : DeepChange.Key($0.key) }
    case let model as any ObservableModel:
      type(of: model).properties.names.map { .name($0) }.filter { value($0) != nil }
    default: []
    }
  }

  package func setElements(_ values: [Any]) throws {
    guard let array = access.object as? any DynamicArray else {
      throw Refusal(description: "\(type(of: access.object)) has no elements")
    }
    let elements = try values.map { value in
      try checked { try array.element(for: value) }
    }
    array.dynamicSet(elements)
  }

  package func setMembers(_ members: [ChangeValue]) throws {
    guard let set = access.object as? any DynamicSet else {
      throw Refusal(description: "\(type(of: access.object)) has no members")
    }
    set.dynamicAssign(
      try members.map { member in
        guard let member = set.fit(member.candidates) else {
          throw Refusal(description: "the set has members of another type")
        }
        return member
      })
  }
}

extension KeyPathObservable {
  /// The loop that observes this object, or the newest one of this thread.
  package func loopOfMirror() throws -> Loop? { try engine(of: nil).inbox.loop }
}
