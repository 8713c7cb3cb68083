import Glibc

/// A callback that a loop makes while a file descriptor can be read, or while it can be written.
///
/// Each call is a turn of the loop. It is made again and again while the descriptor is ready: the
/// callback reads what is there, or ends the handler. At the end of a file or pipe a descriptor can
/// be read, too. Ends with ``stop()``; dropping it ends nothing. Confined to the loop's thread.
public final class DescriptorHandler {
  /// The descriptor that was passed to `onReadable` or `onWritable`.
  public let descriptor: Int32
  /// False after ``stop()``, or when the descriptor was found closed.
  public private(set) var isActive = true
  /// Whether the loop waits for it (`unref` of scripts sets it to false).
  public var keepsLoopRunning = true {
    didSet { if isActive, oldValue != keepsLoopRunning { loop?.noteReference(of: self) } }
  }
  /// `POLLIN` or `POLLOUT`.
  let events: Int16
  /// What is known of the stream that the descriptor belongs to.
  private let stream: (() -> DescriptorState)?
  /// Whether it waits, until this is false again, whatever becomes of the descriptor.
  package var isPaused = false
  /// Called when the descriptor was found closed, instead of `Loop.onError`.
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

  /// No call is made after this returns.
  ///
  /// Does nothing when the handler has ended. The descriptor stays open.
  public func stop() {
    guard isActive else { return }
    isActive = false
    (body, onClose) = (nil, nil)
    loop?.remove(self)
  }

  var state: DescriptorState { isPaused ? .unknown : stream?() ?? .unknown }

  /// What the system is asked for.
  var polled: pollfd {
    pollfd(fd: isPaused ? -1 : descriptor, events: events, revents: 0)
  }
}

/// What the stream of a descriptor says of itself.
package enum DescriptorState {
  /// The descriptor has to be asked.
  case unknown
  /// The stream holds bytes that were read already.
  case ready
  /// The stream was closed; another file may have its descriptor.
  case closed
}

/// Waits for descriptors, of which each may be wanted several times, and some be none; as `poll`
/// otherwise.
///
/// The system takes no more entries than the process may have descriptors: where they are more, an
/// entry stands for all of its descriptor.
func poll(_ polled: inout [pollfd], timeout: Int32) -> Int32 {
  let result = Glibc.poll(&polled, nfds_t(polled.count), timeout)
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
  let count = Glibc.poll(&merged, nfds_t(merged.count), timeout)
  let always = Int16(POLLERR | POLLHUP | POLLNVAL)
  for index in polled.indices {
    guard count > 0, let place = places[polled[index].fd] else { continue }
    polled[index].revents = merged[place].revents & (polled[index].events | always)
  }
  return count
}

/// A file descriptor cannot be waited for: it is not open.
public struct ClosedDescriptor: Error, CustomStringConvertible {
  /// The descriptor that is not open.
  public let descriptor: Int32

  /// A sentence with the descriptor.
  public var description: String { "The descriptor \(descriptor) is not open" }
}
