import LibC

/// The loops of each thread, held weakly, in order of creation.
enum CurrentLoop {
  private struct Entry {
    weak var loop: Loop?
  }
  private final class Box {
    var entries: [Entry] = []
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { box in
      // It is never nil, and not optional on macOS.
      let box: UnsafeMutableRawPointer? = box
      Unmanaged<Box>.fromOpaque(box!).release()
    }
    precondition(status == 0, "The system has no thread-local storage left")
    return key
  }()

  /// The newest loop of this thread that still exists.
  static var value: Loop? {
    guard let raw = pthread_getspecific(key) else { return nil }
    return Unmanaged<Box>.fromOpaque(raw)._withUnsafeGuaranteedRef { box in
      while let last = box.entries.last {
        if let loop = last.loop { return loop }
        box.entries.removeLast()
      }
      return nil
    }
  }

  /// The loops of this thread that still exist.
  static var all: LoopsHere {
    guard let raw = pthread_getspecific(key) else { return .none }
    return Unmanaged<Box>.fromOpaque(raw)._withUnsafeGuaranteedRef { box in
      if box.entries.count == 1 { return box.entries[0].loop.map(LoopsHere.one) ?? .none }
      return LoopsHere(box.entries.compactMap(\.loop))
    }
  }

  static func add(_ loop: Loop) {
    let box: Box
    if let raw = pthread_getspecific(key) {
      box = Unmanaged<Box>.fromOpaque(raw).takeUnretainedValue()
      box.entries.removeAll { $0.loop == nil }
    } else {
      box = Box()
      pthread_setspecific(key, Unmanaged.passRetained(box).toOpaque())
    }
    box.entries.append(Entry(loop: loop))
  }
}
