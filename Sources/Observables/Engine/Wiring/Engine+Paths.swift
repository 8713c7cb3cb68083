/// Several paths of one watcher.
extension Engine {
  /// Adds paths to a watcher, from its observed object.
  ///
  /// If it throws, the watcher has the paths that it had before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  package func add(_ paths: [Path], to watcher: WatcherRef) throws {
    let name = watcher.identity
    let last = watcher.pointee.wires.last?.pointee.index ?? -1
    do {
      // A getter that a path goes through may end the watcher.
      for path in paths where self.watcher(name) != nil { try add(path, to: watcher) }
    } catch {
      guard let watcher = self.watcher(name) else { throw error }
      while let wire = watcher.pointee.wires.last, wire.pointee.index > last {
        end(wire, of: watcher)
      }
      throw error
    }
  }
}
