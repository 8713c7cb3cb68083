/// When to connect again after a connection is lost, and whether to warn of it.
struct Reconnecting {
  private let delays: (shortest: Double, longest: Double)
  private var delay: Double
  /// The number of lost connections since the last success.
  private var failures = 0
  private var reported: Set<String> = []

  /// - Parameter delays: The shortest and the longest time between attempts, in seconds.
  init(_ delays: (Double, Double)) { (self.delays, delay) = (delays, delays.0) }

  /// The time until the next question to a server that has no state yet, in seconds.
  var pause: Double { delays.longest / 4 }

  mutating func noteSuccess() { self = Reconnecting(delays) }

  /// Notes a loss; returns whether to warn of it: once for each reason, and not of short breaks.
  mutating func noteFailure(_ reason: String, isShort: Bool) -> Bool {
    failures += 1
    return (failures > 2 || !isShort) && reported.insert(reason).inserted
  }

  /// The time until the next attempt, in seconds.
  ///
  /// The random number keeps processes from coming back all at once.
  mutating func nextDelay(_ random: UInt64) -> Double {
    defer { delay = min(2 * delay, delays.longest) }
    return delay * (0.5 + 0.5 * Double(random >> 11) / 0x1p53)
  }
}
