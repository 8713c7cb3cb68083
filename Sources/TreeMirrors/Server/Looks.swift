internal import Observables

/// Looks at what the server has, every two seconds.
final class Looks {
  private let server: MirrorServer
  private let loop: Loop
  private var timer: LoopTimer?
  /// Whether the answer to a look has not come: on a slow link, others may be in front of it.
  private var isUnanswered = false
  /// The version of the tree at the last look, and the number of looks since then that found
  /// another one at the server.
  private var last = (version: -1, count: 0)

  /// What the server has, and how many processes it has heard of lately.
  struct Answer {
    let epoch: String?, version: Int?
    let processes: Int
  }

  init(at server: MirrorServer, on loop: Loop) { (self.server, self.loop) = (server, loop) }

  func begin(_ body: @escaping () -> Void) { timer = timer ?? loop.every(2, body) }

  func stop() {
    timer?.stop()
    timer = nil
  }

  func serverWasLost() { last = (-1, 0) }

  /// Asks the server, unless it owes the last answer.
  func look(as writer: String, _ answered: @escaping (Answer) -> Void) {
    if isUnanswered { return }
    isUnanswered = true
    server.run(.look, [writer.bytes]) { [weak self] reply in
      guard let self else { return }
      isUnanswered = false
      switch reply {
      case .lost, .error: return
      default: break
      }
      let list = reply.list
      guard list.count == 3 else { return server.lost(MirrorServer.notRedis) }
      answered(
        Answer(epoch: list[0].text, version: list[1].integer, processes: list[2].integer ?? 1))
    }
  }

  /// Whether the tree still has the same version after three looks, though the server has another
  /// one, and sends nothing.
  ///
  /// If the stream was deleted or replaced, XREAD waits without an error.
  func isStuck(at version: Int, _ answer: Answer) -> Bool {
    let isBehind = answer.version != version && last.version == version && !server.isReceiving
    last = (version, isBehind ? last.count + 1 : 0)
    return last.count > 2
  }
}
