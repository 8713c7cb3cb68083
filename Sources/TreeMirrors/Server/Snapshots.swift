/// Writes the state of this process to the server.
///
/// A text that has begun to go is kept until the server has all of it, although the state changes.
final class Snapshots {
  private let server: MirrorServer
  private let uploads: Uploads
  private let document: MirrorDocument
  private let options: MirrorOptions
  /// The state to publish, and the newest snapshot.
  private var first: Upload?
  private var newest: (version: Int, upload: Upload)?
  private var isUnderWay = false

  init(
    of document: MirrorDocument, to server: MirrorServer, _ uploads: Uploads,
    _ options: MirrorOptions
  ) {
    (self.document, self.server, self.uploads, self.options) = (document, server, uploads, options)
  }

  /// The state that is published if the server has none.
  func firstState() -> Upload {
    let state = first ?? state()
    first = state
    return state
  }

  private func state() -> Upload {
    Upload(name: server.network.newName(), bytes: document.stateBytes())
  }

  func noteJoined() { first = nil }
  func serverWasLost() { isUnderWay = false }

  /// Writes a new snapshot if one is due.
  ///
  /// - Parameters:
  ///   - position: What the tree has.
  ///   - newest: The version of the server, and `at`, the one of its snapshot.
  func writeIfDue(_ position: StreamPosition, newest: Int, at: Int) {
    let version = position.version
    guard newest - at >= options.snapshot, version - at >= options.snapshot / 2, version > at,
      !isUnderWay
    else { return }
    isUnderWay = true
    let known = self.newest.flatMap { $0.version > at ? $0 : nil }
    let snapshot = known ?? (version, state())
    self.newest = snapshot
    uploads.run(
      .snapshot, [position.epoch.bytes, "\(snapshot.version)".bytes, "\(options.keep)".bytes],
      with: snapshot.upload
    ) { [weak self] reply in
      guard let self else { return }
      isUnderWay = false
      self.newest = nil
      if !uploads.noteFull(reply) { server.check(reply) }
    }
  }
}
