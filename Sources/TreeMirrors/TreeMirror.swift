import LibC
public import Observables

/// Keeps a model or collection, and everything below it, equal to the trees of other processes,
/// through a server that speaks the protocol of Redis (A1–A10).
///
/// ```swift
/// let mirror = try TreeMirror(of: fleet, named: "fleet", at: "redis://127.0.0.1:6379")
/// fleet.robots["r1"]?.battery = 80
/// try await mirror.synced()
/// ```
///
/// A turn's changes are one batch. The server puts the batches of all processes into one order, in
/// which each process applies them, each as one turn. Batches that wait for the server are part of
/// the tree already; they are applied again behind those that came first. The first process
/// publishes its tree; later ones take on what is there, and keep the objects that both have.
///
/// Objects are named by their identity, so a change of an element finds it wherever it is now. New
/// objects are made by `init(from:)` of the class that the property or the collection declares.
/// Tables of scripts are values: scripts mirror their tables with `obs.mirror`. Scripts and Swift
/// programs can mirror the same tree, where collections of one are collections of the other.
///
/// Use it on the loop's thread, where everything is called back in separate turns. It keeps the
/// model alive, and the loop running, until ``stop()``. Keep a reference: releasing the mirror ends
/// it, too.
public final class TreeMirror: ObservableModel {
  /// The observable properties: `state`, `pending`, `version`, `peers` and `failure`.
  public static let properties = ModelProperties(for: TreeMirror.self) {
    Property("state", get: { $0.state.rawValue })
    Property("pending", get: { $0.pending })
    Property("version", get: { $0.version })
    Property("peers", get: { $0.peers })
    Property("failure", get: { $0.failure })
  }
  /// The record of the watchers of the mirror itself.
  public let observation = ModelObservation()

  /// Where the mirror stands.
  public private(set) var state = MirrorState.connecting {
    didSet { observation.didSet(0, from: oldValue.rawValue, to: state.rawValue) }
  }
  /// The number of own batches that the server has not acknowledged: what a crash would lose.
  public private(set) var pending = 0 {
    didSet { observation.didSet(1, from: oldValue, to: pending) }
  }
  /// The number of batches, of all processes, that the tree has.
  public private(set) var version = 0 {
    didSet { observation.didSet(2, from: oldValue, to: version) }
  }
  /// The number of other processes that were heard of in the last seconds.
  public private(set) var peers = 0 {
    didSet { observation.didSet(3, from: oldValue, to: peers) }
  }
  /// Why the mirror has failed; nil otherwise.
  public private(set) var failure: String? {
    didSet { observation.didSet(4, from: oldValue, to: failure) }
  }

  /// Called with own changes that did not fit into what others have made of the tree, and were left
  /// out (A4); by default, each is a warning.
  public var onRejected: (([RejectedChange]) -> Void)?
  /// Called with errors that have no caller; by default, the loop reports them.
  public var onError: ((MirrorError) -> Void)?
  /// Called with a sentence for the reader of a log; by default, it goes to the standard error.
  public var onWarning: ((String) -> Void)?

  let tree: ObjectTree
  private let loop: Loop
  private var waiting: [CheckedContinuation<Void, any Error>] = []

  /// How a tree is mirrored.
  public struct Options: Sendable {
    /// Whether this process may write; otherwise writes are taken back, and reported.
    public var writes = true
    /// The number of batches that stay in the stream behind the snapshot.
    public var keep = 10_000
    /// After how many batches there is a new snapshot.
    public var snapshot = 1000
    /// The property by which elements of lists are the same, when the tree takes on what another
    /// process has published; by default, their positions.
    public var key: String?
    /// Whether a batch is given back if others have come first.
    public var check = false
    /// The most bytes that the server may send as the snapshot, or as a batch; by default 64 MB.
    ///
    /// An answer with several batches may have four times as many. The mirror fails before it sends
    /// larger changes of a turn. The limit is at least 1,024 bytes.
    public var limit = 64 << 20
    /// The path of a file that keeps the batches that the server has not acknowledged.
    public var journal: String?

    /// The defaults.
    public init() {}
  }

  /// Takes on the tree, and begins to connect.
  ///
  /// - Parameters:
  ///   - model: the root.
  ///   - name: the name of the tree on the server, of letters, digits and `_ . : / -`.
  ///   - url: `redis://user:password@host:port/database`, `rediss:` for TLS, or `unix:` with the
  ///     path of a socket.
  ///   - options: how the tree is mirrored.
  ///   - loop: by default, the loop of the model.
  /// - Throws: ``MirrorError`` for a bad name or address, a value that a mirror does not carry, and
  ///   if the library hiredis is not installed; `PathError` if another loop observes one of the
  ///   objects. A server that is not there is no error: it is tried again and again.
  /// - Complexity: O(objects below).
  public convenience init(
    of model: some KeyPathObservable, named name: String, at url: String,
    _ options: Options = Options(), in loop: Loop? = nil
  ) throws {
    try self.init(of: model, named: name, at: url, options, MirrorOptions(), in: loop)
  }

  /// Does the same as the public initializer; `inner` has the options that programs do not set.
  init(
    of model: some KeyPathObservable, named name: String, at url: String, _ options: Options,
    _ inner: MirrorOptions, in loop: Loop?
  ) throws {
    var inner = inner
    guard MirrorName.isValid(name.utf8) else {
      throw MirrorError(
        "a mirror has a name of 1 to 200 letters, digits and any of _ . : / -, not '\(name)'")
    }
    guard let loop = try loop ?? model.loopOfMirror() else {
      throw MirrorError("a mirror needs a loop: none was made on this thread")
    }
    self.loop = loop
    tree = try ObjectTree(model, in: loop, name: name)
    inner.writes = options.writes
    (inner.keep, inner.snapshot) = (max(0, options.keep), max(1, options.snapshot))
    inner.key = options.key.map { Array($0.utf8) }
    (inner.check, inner.journal) = (options.check, options.journal)
    inner.limit = min(max(1024, options.limit), 1 << 40)
    do {
      tree.session = try MirrorSession(of: tree, named: name, at: url, inner, on: loop)
      tree.onStatus = { [unowned self] in update() }
      tree.onRejected = { [unowned self] changes in
        if let onRejected { return onRejected(changes) }
        for change in changes {
          let path = change.path.map(\.description).joined(separator: ".")
          tree.onWarning("the change of '\(path)' did not fit any more, and was dropped")
        }
      }
      tree.onError = { [unowned self] error in
        if let onError { onError(error) } else { self.loop.report(error) }
      }
      tree.onWarning = { [unowned self] text in
        if let onWarning { return onWarning(text) }
        TreeMirror.write(text)
      }
      try tree.begin()
    } catch {
      tree.stop()
      throw error
    }
  }

  deinit {
    // The closures refer to this object, which is being destroyed.
    tree.onStatus = {}
    tree.onRejected = { _ in }
    tree.onError = { _ in }
    tree.onWarning = TreeMirror.write
    tree.session?.stop()
    tree.stop()
  }

  /// Ends the mirror; the tree stays as it is.
  ///
  /// Does nothing if it has ended.
  public func stop() {
    if state == .stopped { return }
    tree.collect()
    tree.session.stop()
    tree.stop()
  }

  /// Waits until the server has everything that was written before.
  ///
  /// - Throws: ``MirrorError`` if the mirror fails or ends before.
  public func synced(isolation: isolated (any Actor)? = #isolation) async throws {
    tree.collect()
    update()
    if isDone { return }
    if let problem { throw problem }
    try await withCheckedThrowingContinuation { waiting.append($0) }
  }

  /// Adds a number to a property of an object of the tree, or to a value of a dictionary.
  ///
  /// The value changes at once. Other processes add the same number to their values, so all
  /// additions count, in any order (A4). If the same turn also assigns to the key, the value is
  /// sent instead. Call this on the thread of the mirror's loop.
  ///
  /// - Throws: ``MirrorError`` if there is no number under the key, or the sum cannot be stored.
  public func add(_ amount: Int, to key: String, of object: some KeyPathObservable) throws {
    try tree.add(.integer(Int64(amount)), to: .name(key), of: object as AnyObject)
  }

  /// Adds a number as ``add(_:to:of:)-(Int,_,_)`` does.
  ///
  /// - Throws: ``MirrorError`` if there is no number under the key, or the sum cannot be stored.
  public func add(_ amount: Double, to key: String, of object: some KeyPathObservable) throws {
    try tree.add(.number(amount), to: .name(key), of: object as AnyObject)
  }

  private static func write(_ warning: String) {
    var line = "warning: \(warning.printable)\n"
    _ = line.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }

  private var isDone: Bool { pending == 0 && state == .live }

  private var problem: MirrorError? {
    switch state {
    case .failed: MirrorError(failure ?? "the mirror has failed")
    case .stopped: MirrorError("the mirror was stopped")
    default: nil
    }
  }

  private func update() {
    guard let session = tree.session else { return }
    if state != session.state { state = session.state }
    if pending != session.pending { pending = session.pending }
    if version != session.version { version = session.version }
    if peers != session.peers { peers = session.peers }
    if failure != session.failure { failure = session.failure }
    guard isDone || problem != nil else { return }
    let waiting = waiting
    self.waiting = []
    for continuation in waiting {
      if let problem { continuation.resume(throwing: problem) } else { continuation.resume() }
    }
  }
}

/// An own change that did not fit any more, and was left out (A4).
public struct RejectedChange {
  /// The keys from the root to the change.
  public let path: [DeepChange.Key]
  /// What the change was to do.
  public let kind: DeepChange.Kind
  /// The values before and after, as far as the change has them.
  public let old: Any?, new: Any?
  /// What is there now.
  public let now: Any?
}
