/// The edits of an array since the last call of its watcher (C10).
///
/// Applied in order, they turn the former elements into the current ones.
public struct ArrayEdits<Element>: RandomAccessCollection {
  private let edits: [CollectionEdit<Element>]
  private let formerCount: Int

  init(_ edits: [CollectionEdit<Element>], formerCount: Int) {
    (self.edits, self.formerCount) = (edits, formerCount)
  }

  /// The first position, which is 0.
  public var startIndex: Int { 0 }
  /// The number of edits.
  public var endIndex: Int { edits.count }
  /// The edit at a position; the edits are in order of application.
  public subscript(position: Int) -> CollectionEdit<Element> { edits[position] }

  /// The edits in the form of the standard library: all removals, then all insertions.
  ///
  /// - Complexity: O(n · edits).
  public var difference: CollectionDifference<Element> {
    CollectionDifference(edits, ofListWith: formerCount)
  }

  /// Turns a copy of the former elements into a copy of the current ones.
  ///
  /// - Precondition: `elements` has the former number of elements.
  /// - Complexity: O(n · edits).
  public func apply(to elements: inout [Element]) {
    for edit in edits { edit.apply(to: &elements) }
  }
}

extension ObservableArray {
  /// Calls `callback` at the end of each turn in which the array changed, with its edits since the
  /// last call (C10).
  ///
  /// The callback runs on the loop's thread, at most once per turn. Elements that were inserted and
  /// removed again within a turn are not delivered. If a turn leaves the array as it was, there is
  /// no call. ``WatcherOptions/initial`` delivers all elements as insertions. Errors that the
  /// callback throws are reported to ``Loop/onError`` (T10). The watcher ends with
  /// ``Watcher/stop()``, or when the array is gone.
  ///
  /// - Throws: ``PathError``, as for any registration.
  /// - Complexity: O(1). In each turn, O(edits) for insertions only or removals only, otherwise O(n
  ///   + n · edits).
  @discardableResult
  public func observeEdits(
    in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (ObservableArray, ArrayEdits<Element>) throws -> Void
  ) throws -> Watcher {
    var isFirst = options.initial
    return try register(
      in: loop, options, [], file, line,
      { observed, watcher in
        let array = unsafeDowncast(observed, to: ObservableArray.self)
        let edits = array.takeEdits(of: watcher, all: isFirst)
        isFirst = false
        try callback(array, edits)
      }
    ) { engine, record in try engine.members.addEdits(to: record) }
  }

  private func takeEdits(of watcher: ModelWatcher, all isFirst: Bool) -> ArrayEdits<Element> {
    let edits =
      watcher.takeEdits { since in
        journal?.edits(since: since, current: { storage }, same: traits.same)
      } ?? []
    if isFirst {
      let all = storage.enumerated().map { CollectionEdit.insert($0.element, at: $0.offset) }
      return ArrayEdits(all, formerCount: 0)
    }
    let growth = edits.reduce(0) { growth, edit in
      switch edit {
      case .insert: growth + 1
      case .remove: growth - 1
      default: growth
      }
    }
    return ArrayEdits(edits, formerCount: storage.count - growth)
  }
}
