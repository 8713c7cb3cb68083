import Glibc

/// The loop of each thread, held weakly.
enum CurrentLoop {
  private final class Box {
    weak var loop: Loop?
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { box in
      if let box { Unmanaged<Box>.fromOpaque(box).release() }
    }
    precondition(status == 0, "The system has no thread-local storage left")
    return key
  }()

  static var value: Loop? {
    get {
      guard let raw = pthread_getspecific(key) else { return nil }
      return Unmanaged<Box>.fromOpaque(raw).takeUnretainedValue().loop
    }
    set {
      if let raw = pthread_getspecific(key) {
        Unmanaged<Box>.fromOpaque(raw).takeUnretainedValue().loop = newValue
      } else {
        let box = Box()
        box.loop = newValue
        pthread_setspecific(key, Unmanaged.passRetained(box).toOpaque())
      }
    }
  }
}
