import LibC

/// A callback that a loop calls while a file descriptor is readable, or while it is writable.
///
/// Each call is a turn of the loop. The call repeats while the descriptor is ready, so the callback
/// has to read the available data or end the handler. At the end of a file or pipe, a descriptor
/// counts as readable too. The handler ends with ``stop()``; dropping it doesn't end it. It is
/// confined to the loop's thread.
public final class DescriptorHandler {
  /// The descriptor that was passed to `onReadable` or `onWritable`.
  public let descriptor: Int32
  /// False after ``stop()``, or after the descriptor was found closed.
  public private(set) var isActive = true
  /// Whether the handler keeps the loop running; in scripts, `unref` sets this to false.
  public var keepsLoopRunning = true {
    didSet { if isActive, oldValue != keepsLoopRunning { loop?.noteReference(of: self) } }
  }
  /// `POLLIN` or `POLLOUT`.
  let events: Int16
  /// The state of the stream that the descriptor belongs to.
  private let stream: (() -> DescriptorState)?
  /// Whether the handler is paused, regardless of the state of the descriptor.
  package var isPaused = false
  /// Called instead of `Loop.onError` if the descriptor is found closed.
  package var onClose: (() -> Void)?
  private weak var loop: Loop?
  private(set) var body: (() -> Void)?

  init(
    _ descriptor: Int32, _ events: Int32, stream: (() -> DescriptorState)?, _ loop: Loop,
    _ body: @escaping () -> Void
  ) {
    (self.descriptor, self.events, self.stream) = (descriptor, Int16(events), stream)
    (self.loop, self.body) = (loop, body)
  }

  /// Ends the handler: no call is made after this returns.
  ///
  /// Does nothing if the handler has ended. The descriptor stays open.
  public func stop() {
    guard isActive else { return }
    isActive = false
    (body, onClose) = (nil, nil)
    loop?.remove(self)
  }

  var state: DescriptorState { isPaused ? .unknown : stream?() ?? .unknown }

  /// The entry for `poll`.
  var polled: pollfd {
    pollfd(fd: isPaused ? -1 : descriptor, events: events, revents: 0)
  }
}

/// The state that a stream reports for its descriptor.
package enum DescriptorState {
  /// The descriptor has to be polled.
  case unknown
  /// The stream holds bytes that were read already.
  case ready
  /// The stream was closed, and another file may have its descriptor.
  case closed
}

/// Does the same as `poll`, but accepts more entries.
///
/// A descriptor may occur several times, and an entry may have no descriptor. The system accepts no
/// more entries than the process may have descriptors. If there are more, all entries for a
/// descriptor are merged.
func poll(_ polled: inout [pollfd], timeout: Int32) -> Int32 {
  let result = LibC.poll(&polled, nfds_t(polled.count), timeout)
  guard result < 0, errno == EINVAL else { return result }
  var places: [Int32: Int] = [:]
  var merged: [pollfd] = []
  for entry in polled where entry.fd >= 0 {
    if let place = places[entry.fd] {
      merged[place].events |= entry.events
    } else {
      places[entry.fd] = merged.count
      merged.append(entry)
    }
  }
  let count = LibC.poll(&merged, nfds_t(merged.count), timeout)
  let always = Int16(POLLERR | POLLHUP | POLLNVAL)
  for index in polled.indices {
    guard count > 0, let place = places[polled[index].fd] else { continue }
    polled[index].revents = merged[place].revents & (polled[index].events | always)
  }
  return count
}

/// The error when a file descriptor cannot be waited for, because it is not open.
public struct ClosedDescriptor: Error, CustomStringConvertible {
  /// The descriptor that is not open.
  public let descriptor: Int32

  /// A sentence with the descriptor.
  public var description: String { "The descriptor \(descriptor) is not open" }
}
