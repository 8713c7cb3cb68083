/// Watchers that receive the edits of a collection (C10).
extension Members {
  /// Makes a watcher read the edits of its root; it is called when there are any.
  ///
  /// - Throws: `PathError` if the root keeps no journal of its members.
  package func addEdits(to watcher: WatcherRef) throws {
    try wiring.add(Path.everything, to: watcher, use: .editing)
    guard let root = watcher.pointee.root, !root.pointee.isJournaled else { return }
    throw PathError(
      .unsupported, path: "*", component: 1, detail: "only a collection reports its edits")
  }

  /// Gives `body` the position in the journal up to which edits were delivered to the watcher; the
  /// next call delivers later edits.
  ///
  /// Nil if the watcher reads no edits.
  package func takeEdits<Result>(
    of watcher: WatcherRef, _ body: (NodeRef, _ since: Int) -> Result
  ) -> Result? {
    guard let wire = watcher.pointee.wires.first, wire.pointee.use == .editing,
      let link = wire.pointee.top,
      let state = link.state, let node = link.pointee.slot?.pointee.node, !node.isDead
    else { return nil }
    let since = state.cursor
    state.cursor = node.kind.journalEnd(of: node)
    nodes.noteJournal(of: node)
    return body(node, since)
  }
}

extension Path {
  /// `*`: all keys of an object.
  static let everything = Path(components: [Path.Component(kind: .every, bytes: [])])
}
