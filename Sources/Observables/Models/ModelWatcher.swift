/// The watcher of a model or a collection, which calls Swift closures.
// The properties added here are only used on the loop's thread.
final class ModelWatcher: Watcher, @unchecked Sendable {
  /// The callback, called with the observed object; an error that it throws is reported (T10).
  typealias Body = (AnyObject, ModelWatcher) throws -> Void
  /// The callback of an immediate watcher, called inside a write.
  typealias ChangeBody = (ModelWatcher, ModelChange) throws -> Void

  /// The callback.
  ///
  /// It is retained manually, so that a call needs no reference counting. It is released when the
  /// watcher has ended and no call is under way.
  @exclusivity(unchecked) private var callback: Unmanaged<Callback>?
  @exclusivity(unchecked) private var calls = 0
  @exclusivity(unchecked) private var changeBody: ChangeBody?

  init(
    _ request: ObservationCore.WatcherRequest, body: @escaping Body, changeBody: ChangeBody?
  ) {
    callback = .passRetained(Callback(body))
    self.changeBody = changeBody
    super.init(request)
  }

  deinit { callback?.release() }

  /// The observed object; nil after the watcher has ended.
  var observed: AnyObject? {
    guard let root = activeRecord?.pointee.root else { return nil }
    return root.kind.object(of: root)?.takeUnretainedValue()
  }

  /// Calls `body` with the watcher's position in the journal of its collection, and then marks all
  /// edits as read.
  ///
  /// Returns nil if the watcher has ended or reads no journal.
  func takeEdits<Edits>(_ body: (_ since: Int) -> Edits?) -> Edits? {
    guard let activeRecord else { return nil }
    return engine.members.takeEdits(of: activeRecord) { _, since in body(since) } ?? nil
  }

  /// Calls the callback; the engine keeps the object alive during the call.
  @inline(__always)
  private func call() {
    guard isActive, let callback, let root = activeRecord?.pointee.root,
      let object = root.pointee.kind._withUnsafeGuaranteedRef({ $0.object(of: root) })
    else { return }
    calls += 1
    object._withUnsafeGuaranteedRef { object in
      callback._withUnsafeGuaranteedRef { callback in
        do { try holdingObserver { try callback.body(object, self) } } catch { report(error) }
      }
    }
    calls -= 1
    if calls == 0, activeRecord == nil { releaseCallback() }
  }

  /// Calls the callback of an immediate watcher.
  private func call(_ changeBody: ChangeBody, _ change: ModelChange) {
    guard isActive else { return }
    do { try holdingObserver { try changeBody(self, change) } } catch { report(error) }
  }

  private func releaseCallback() {
    let callback = callback
    self.callback = nil
    callback?.release()
  }

  // MARK: Receiver

  override func dropCallback() {
    if calls == 0 { releaseCallback() }
    changeBody = nil
  }

  override func deliver(_ watcher: WatcherRef) {
    if let changeBody, let path = watcher.pointee.wires.first?.pointee.path.takeUnretainedValue() {
      // The call is not for a write. It is for `initial`, for `run`, or because an object in the
      // middle of the path died.
      call(
        changeBody, ModelChange(path: path, key: path.components[0].name, old: nil, new: nil))
    } else {
      call()
    }
  }

  override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    guard let changeBody else {
      call()
      return
    }
    let write =
      switch change {
      case .written(let change): Optional(ModelWrite(change))
      case .saved(let saved): (saved as? SavedWrite)?.write
      }
    call(
      changeBody,
      ModelChange(path: path, key: write?.key ?? "*", old: write?.old, new: write?.new))
  }

  override func accept(_ change: ImmediateChange, for watcher: WatcherRef) -> ImmediateChange? {
    guard isActive, let equals else { return super.accept(change, for: watcher) }
    switch change {
    case .written(let written):
      guard let values = written.observedValues else { break }
      return equals(values.old, values.new) ? nil : change
    case .saved(let saved):
      guard let write = (saved as? SavedWrite)?.write else { break }
      return equals(write.old, write.new) ? nil : change
    }
    return super.accept(change, for: watcher)
  }

  override func isEqual(_ old: Operand, _ new: Operand, for watcher: WatcherRef) -> Bool {
    isActive && (equals?(old.plain, new.plain) ?? false)
  }

  override func save(_ change: Change) -> AnyObject? { SavedWrite(ModelWrite(change)) }

  private final class Callback {
    let body: Body
    init(_ body: @escaping Body) { self.body = body }
  }
}

/// The change that an immediate watcher receives.
///
/// Coalesced watchers don't receive it: they read the latest state.
public struct ModelChange {
  /// The path on which the change lies, as it was registered.
  public let path: Path
  /// The property that was written; for a collection it is the index, key or member.
  public let key: String
  /// The value before the write; it is also nil if the write was reported without values.
  public let old: Any?
  /// The value after the write; it is also nil if the write was reported without values.
  public let new: Any?
}
